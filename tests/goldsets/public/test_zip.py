"""The zip of a public release: no internal word in any byte, the same bytes, verified, and a score from it alone."""

import hashlib
import importlib.util
import io
import json
import re
import runpy
import shlex
import subprocess
import sys
import zipfile
from copy import deepcopy
from pathlib import Path

import jsonschema
import pytest
from django.conf import settings
from django.db import connection

from apps.accounts.models import Project, User
from apps.cli.evaluate.released import read_release
from apps.common.database import triggers
from apps.goldsets.enums import PublicState
from apps.goldsets.execution.publishing import stored_zip
from apps.goldsets.formats.content import FrozenQuery
from apps.goldsets.formats.folder import manifest_bytes
from apps.goldsets.formats.jsonl import query_entry
from apps.goldsets.formats.public.files import BUNDLED
from apps.goldsets.formats.verification import OTHER_ZIP, verify
from apps.goldsets.formats.zipping import checksums, write_zip
from apps.goldsets.models import GoldSet
from apps.queries.models import Query, Source
from tests.factories import AT
from tests.goldsets.factories import make_bench, make_source, permit
from tests.goldsets.public.factories import (
    ORDER,
    make_public_release,
    make_publishable,
    prepare,
    prepare_again,
    revoke_all,
)
from tests.goldsets.test_verification import found
from tests.review.factories import make_accepted
from tests.triples.factories import TEXTS

pytestmark = pytest.mark.django_db

WORD = "Zephyrine"


def unpacked(release, folder: Path) -> Path:
    path = folder / "handbook-v1-public.zip"
    with stored_zip(release) as stream:
        path.write_bytes(stream.read())
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder / "handbook-v1-public")
    return path


@pytest.fixture(scope="module")
def _released(_publishable):
    return make_public_release(PublicState.RELEASED, deepcopy(_publishable[1]))


@pytest.fixture
def release(db, _released):
    """The version of this package, which is out."""
    return deepcopy(_released)


def with_the_word_everywhere():
    """A version with an internal word in every place that it can be written to: texts, ids, names, notes, settings."""
    texts = {**TEXTS, "secret": f"The plan is called {WORD}.", f"{WORD.lower()}-plan": "It has a second part."}
    bench = make_bench(queries=5, triples=2, texts=texts, note=f"Looks like {WORD}")
    project, snapshot = bench.project, bench.snapshot
    project.policies = {**project.policies, "internal_words": WORD.lower()}
    project.save()
    make_accepted(project, snapshot=snapshot, question=f"Who leads {WORD}?")
    make_accepted(project, snapshot=snapshot, answer=f"At most eight hours, says {WORD}.")
    make_accepted(project, snapshot=snapshot, key="secret", evidence=WORD, answer="A name.")
    closed = make_source(project, f"{WORD} interviews")
    permit(closed, owner=f"{WORD} Ltd", evidence=f"{WORD} contract", licence=WORD)
    GoldSet.objects.create(
        project=project, slug=WORD.lower(), name=WORD, description=WORD, created_by=bench.lead, created_at=AT
    )
    connection.check_constraints()
    statements = triggers.drop_all(connection)
    _plant(bench)
    connection.check_constraints()
    triggers.restore_all(connection, statements)
    return make_publishable(bench, gold_set=GoldSet.objects.get(slug=WORD.lower()), note=f"About {WORD}")


def _plant(bench) -> None:
    Source.objects.filter(pk=bench.source.pk).update(name=f"{WORD} log", slug=f"{WORD.lower()}-log")
    for person in User.objects.filter(memberships__project=bench.project):
        person.name = f"{person.name} {WORD}"
        person.save()
    words = {"label": WORD, "intent": WORD, "description": f"{WORD}s", "domain": WORD, "query_type": WORD}
    kept = {"group_key": WORD, "tags": [WORD], "metadata": {WORD: WORD}}
    first, second, third = Query.objects.filter(project=bench.project).order_by("pk")[:3]
    Query.objects.filter(pk=first.pk).update(**words, **kept)
    Query.objects.filter(pk=second.pk).update(text=f"How is {WORD} going?")
    Query.objects.filter(pk=third.pk).update(outside_id=f"Q-{WORD}")
    bench.project.triples.update(domain=WORD)
    bench.round.guideline.__class__.objects.filter(pk=bench.round.guideline_id).update(markdown=f"Think of {WORD}.")


def test_an_internal_word_is_in_no_public_byte(tmp_path):
    release = prepare(with_the_word_everywhere())
    path = unpacked(release, tmp_path)

    assert release.report["forbidden"] is None
    assert release.report["emptied"]["domain"] == 3
    stays = {(stay.kind, stay.reason) for stay in release.stays.all()}
    assert {("queries", "word"), ("triples", "word"), ("triples", "passage"), ("passages", "word")} <= stays
    files = [one for one in (tmp_path / "handbook-v1-public").rglob("*") if one.is_file()]
    assert len(files) > 10
    for file in [path, *files]:
        assert WORD.lower().encode() not in file.read_bytes().lower(), file
        assert WORD.lower() not in str(file.relative_to(tmp_path)).lower()


def test_no_person_is_named_in_any_public_byte(release, tmp_path):
    path = unpacked(release, tmp_path)
    people = User.objects.filter(memberships__project=release.version.gold_set.project)
    contents = b"".join(file.read_bytes() for file in (tmp_path / "handbook-v1-public/jsonl").iterdir())

    for name, email in people.values_list("name", "email"):
        assert name.encode() not in contents
        assert email.encode() not in path.read_bytes()


def test_a_word_in_the_title_or_the_card_stops_the_signature():
    bench = make_bench()
    project = bench.project
    Project.objects.filter(pk=project.pk).update(policies={**project.policies, "internal_words": WORD})
    version = make_publishable(bench)
    titled = prepare(version, ORDER.__class__(f"{WORD} set", "", "CC0-1.0", ("dev", "test")))

    assert titled.report["forbidden"] == ["README.md", WORD.lower()]
    card = ORDER.__class__("Handbook", "", "CC0-1.0", ("dev", "test"), {"about": f"From {WORD}."})
    again = prepare_again(titled, card)

    assert again.report["forbidden"] == ["DATA_CARD.md", WORD.lower()]


def test_the_bytes_are_the_same_at_every_build():
    release = make_public_release(PublicState.PREPARED)
    with stored_zip(release) as first, stored_zip(prepare_again(release)) as second:
        assert first.read() == second.read()


def test_the_released_bytes_stay_when_everything_else_changes(bench, release):
    with stored_zip(release) as stream:
        before = stream.read()
    revoke_all(bench)
    User.objects.filter(memberships__project=bench.project).update(name="Somebody Else")

    with stored_zip(release) as stream:
        assert stream.read() == before


def test_verification_holds_and_finds_a_changed_byte(release, tmp_path):
    path = unpacked(release, tmp_path)
    folder = tmp_path / "handbook-v1-public"

    assert verify(path).faults == []
    assert verify(folder).faults == []
    file = folder / "jsonl/judgements.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"grade":', b'"grade" :', 1))
    assert not verify(folder).is_intact


@pytest.mark.slow
def test_one_changed_byte_anywhere_in_the_zip_is_found(release, tmp_path):
    """A byte of each file, and many of the whole, which also meet the heads of files and the directory."""
    path = unpacked(release, tmp_path)
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        starts = [entry.header_offset for entry in archive.infolist()]
        inside = [data.index(archive.read(name)) for name in archive.namelist()]
    places = {*starts, *inside, *range(0, len(data), len(data) // 400), *range(len(data) - 60, len(data))}

    unseen = []
    for place in sorted(places):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        if not found(path):
            unseen.append(place)

    assert unseen == []


def packed_again(path: Path, files: dict[str, bytes]) -> Path:
    """The zip with these files, in the form that Karat writes."""
    with path.open("wb") as stream:
        write_zip([(name, len(data)) for name, data in files.items()], lambda name: io.BytesIO(files[name]), stream)
    return path


def test_another_a_renamed_and_a_lost_file_in_the_zip_and_bytes_behind_it_are_named(release, tmp_path):
    path = unpacked(release, tmp_path)
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    card = files.pop("DATA_CARD.md")

    assert packed_again(path, {**files, "DATA_CARD.md": card}).read_bytes() == data
    assert verify(packed_again(path, files)).faults == ["DATA_CARD.md is missing."]
    assert verify(packed_again(path, {**files, "CARD.md": card})).faults == [
        "DATA_CARD.md is missing.",
        "CARD.md is not in the manifest.",
    ]
    more = {**files, "DATA_CARD.md": card, "jsonl/people.jsonl": b"{}\n"}
    assert verify(packed_again(path, more)).faults == ["jsonl/people.jsonl is not in the manifest."]
    path.write_bytes(data + b"\n")
    assert verify(path).faults == [OTHER_ZIP]


def test_the_digests_find_a_manifest_that_was_changed_along_with_its_files(release, tmp_path):
    unpacked(release, tmp_path)
    folder = tmp_path / "handbook-v1-public"
    file, manifest = folder / "jsonl/judgements.jsonl", json.loads((folder / "manifest.json").read_bytes())
    file.write_bytes(file.read_bytes().replace(b"dev", b"tst", 1))
    for entry in manifest["files"]:
        if entry["path"] == "jsonl/judgements.jsonl":
            entry["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
            entry["bytes"] = file.stat().st_size
    data = manifest_bytes(manifest)
    (folder / "manifest.json").write_bytes(data)
    (folder / "SHA256SUMS").write_bytes(checksums(manifest, data))

    assert verify(folder).faults == ["The items are not those that were frozen under the digest in the manifest."]


def test_every_line_fits_the_schema_in_the_zip(release, tmp_path):
    unpacked(release, tmp_path)
    folder = tmp_path / "handbook-v1-public"

    for schema in (folder / "schema").iterdir():
        validator = jsonschema.Draft202012Validator(json.loads(schema.read_text()))
        lines = (folder / "jsonl" / schema.name.replace(".schema.json", ".jsonl")).read_text().splitlines()
        assert lines
        for line in lines:
            assert list(validator.iter_errors(json.loads(line))) == [], schema.name


def test_a_query_of_which_everything_is_known_fits_the_schema_too():
    context = {"expertise": "layperson", "answer_format": "number", "asked_on": "2026-03-01"}
    known = context | {
        "facets": ({"id": "a", "words": "keys"},),
        "unanswerable": {"basis": "deep", "missed_at_most": None},
    }
    schema = json.loads((BUNDLED / "queries.schema.json").read_text())

    line = query_entry(FrozenQuery("Q1", "keys", split="dev", **known))

    assert schema["properties"].keys() == line.keys(), "and the schema names nothing else"
    assert list(jsonschema.Draft202012Validator(schema).iter_errors({**line, "facets": list(line["facets"])})) == []


def readme_of(path: Path) -> list[str]:
    return zipfile.ZipFile(path).read("README.md").decode().splitlines()


def typed(lines: list[str]) -> list[list[str]]:
    """The commands between backquotes, as words."""
    spans = [span for line in lines for span in line.split("`")[1::2]]
    return [shlex.split(span) for span in spans if " " in span and not span.startswith("--")]


IMPORTED = {"numpy": ["numpy", "numpy.libs"], "scipy": ["scipy", "scipy.libs"], "pyyaml": ["yaml", "_yaml"]}


def fetch_packages(words: list[str]) -> None:
    """What `pip install --require-hashes` of this line does, without the network: links to what it names."""
    target, requirements = (Path(words[words.index(option) + 1]) for option in ("--target", "-r"))
    blocks = re.split(r"\n(?=\S)", requirements.read_text().strip())
    assert all("--hash=sha256:" in block for block in blocks)
    target.mkdir()
    for name in sorted({block.partition("==")[0] for block in blocks}):
        for folder in IMPORTED.get(name, [name]):
            there = Path(importlib.util.find_spec("numpy").origin).parent.parent / folder
            if there.exists():
                (target / folder).symlink_to(there)


def follow(path: Path) -> list[list[str]]:
    """Type every command of the README in the folder of the zip, where Python has no package of its own."""
    commands = typed(readme_of(path))
    for program, *words in commands:
        assert program == "python3"
        if words[:3] == ["-m", "pip", "install"]:
            fetch_packages(words)
        else:
            done = subprocess.run([sys.executable, "-I", "-S", *words], cwd=path.parent, capture_output=True, text=True)
            assert done.returncode == 0, (words, done.stderr)
            print(done.stdout)
    return commands


def client(path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-I", "-S", str(path.parent / path.stem / "client/karat.pyz"), *words]
    return subprocess.run(program, cwd=path.parent, capture_output=True, text=True)


def test_the_client_in_the_zip_needs_nothing_to_verify_and_names_what_scoring_lacks(release, tmp_path):
    path = unpacked(release, tmp_path)
    manifest = json.loads(zipfile.ZipFile(path).read("manifest.json"))

    assert {"client/karat.pyz", "client/requirements.txt"} <= {entry["path"] for entry in manifest["files"]}
    assert client(path, "--version").stdout == f"karat {settings.VERSION}\n"
    assert client(path, "verify", path.name).returncode == 0
    lacking = client(path, "eval", path.name, "--run", "none.trec")
    assert (lacking.returncode, lacking.stdout) == (2, "")
    assert lacking.stderr.startswith("karat eval: the Python package ")
    assert "README says how" in lacking.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bench", "inputs", "has_grades", "has_triples"),
    [
        ({"triples": 2}, {}, True, True),
        ({"triples": 2}, {"rounds": []}, False, True),
        ({"triples": 0}, {}, True, False),
    ],
    ids=["grades and Q&As", "Q&As alone", "grades alone"],
)
def test_the_ten_lines_of_the_readme_lead_to_a_score(
    tmp_path, monkeypatch, capsys, bench, inputs, has_grades, has_triples
):
    release = make_public_release(PublicState.RELEASED, make_publishable(make_bench(**bench), **inputs))
    path = tmp_path / "handbook-v1-public.zip"
    with stored_zip(release) as stream:
        path.write_bytes(stream.read())

    monkeypatch.chdir(tmp_path)
    commands = follow(path)

    out, report = capsys.readouterr().out, (tmp_path / "report.html").read_text()
    assert len([line for line in readme_of(path) if line[:1].isdigit()]) == 10
    assert len(commands) == (9 if has_triples else 7)
    assert not any("--program" in words for words in commands), "a process for each question"
    assert ("nDCG@10" in report) == has_grades
    assert ("Success@5" in report) == has_triples
    assert ("hit rule evidence" in out) == has_triples
    assert "Cite the release as in its CITATION.cff" in out
    assert (tmp_path / "example.trec").exists()
    assert (tmp_path / "misses.jsonl").exists()


def test_the_example_cuts_its_own_passages_with_document_and_text(release, tmp_path):
    unpacked(release, tmp_path)
    example, out = tmp_path / "handbook-v1-public/example/search.py", tmp_path / "own.jsonl"

    subprocess.run([sys.executable, str(example), "--own-passages", str(out)], check=True)

    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert all(set(row) >= {"qid", "rank", "text", "document_id"} for row in rows)
    assert not any("id" in row for row in rows)


def test_the_example_answers_every_question_in_one_process(release, tmp_path):
    path = unpacked(release, tmp_path)
    example, out = tmp_path / "handbook-v1-public/example/search.py", tmp_path / "run.trec"

    subprocess.run([sys.executable, str(example), str(out)], check=True)

    asked = {query.query_id: query.text for query in read_release(path).asked}
    assert runpy.run_path(str(example))["questions"]() == asked
    answered = {line.split()[0] for line in out.read_text().splitlines()}
    assert answered == asked.keys() - {"T-0001"}, "a question without a word of the corpus has no line"


def test_every_question_of_both_splits_is_asked(tmp_path):
    """Nothing in a public release is sealed, so that nothing is left out unasked."""
    bench = make_bench(queries=6, triples=2)
    path = unpacked(make_public_release(PublicState.RELEASED, make_publishable(bench, test_share=0.5)), tmp_path)
    counts = json.loads(zipfile.ZipFile(path).read("manifest.json"))["splits"]

    release = read_release(path)

    assert all(sum(counted.values()) for counted in counts.values())
    assert len(release.triples) == sum(counted["triples"] for counted in counts.values())
    assert len(release.queries) == sum(counted["queries"] for counted in counts.values())
