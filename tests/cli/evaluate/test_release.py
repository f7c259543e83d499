import hashlib
import json
from dataclasses import replace

import pytest

from apps.cli.evaluate.released import read_release
from apps.common.errors import InputError
from apps.goldsets.formats.content import FrozenQuery, GradeRow, SliceRow
from apps.goldsets.formats.folder import manifest_bytes, zip_folder
from apps.goldsets.formats.verification import NotAnExport
from apps.goldsets.formats.zipping import checksums
from apps.metrics.vocabulary import Vocabulary
from tests.cli.evaluate.releases import CONTENT, write_release
from tests.goldsets.content import ListContent


def rewrite(folder, name, data: bytes) -> None:
    """Put other bytes into a file, its digest into the manifest, and the manifest's into the checksums."""
    (folder / name).write_bytes(data)
    manifest = json.loads((folder / "manifest.json").read_text())
    entry = next(entry for entry in manifest["files"] if entry["path"] == name)
    entry |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    written = manifest_bytes(manifest)
    (folder / "manifest.json").write_bytes(written)
    (folder / "SHA256SUMS").write_bytes(checksums(manifest, written))


def test_dev_is_read_unless_another_split_is_chosen(release_folder):
    dev, test, every = (read_release(release_folder, split) for split in (None, "test", ""))

    assert (dev.name, dev.digest, dev.split) == ("Doors v2", "d" * 64, "dev")
    assert [query.query_id for query in dev.queries] == ["Q1", "Q2", "Q3"]
    assert [query.query_id for query in test.queries] == ["Q9"]
    assert (every.split, len(every.queries), len(every.grades)) == ("", 4, 7)


@pytest.mark.parametrize("form", ["jsonl", "csv", "beir"])
def test_every_form_with_words_gives_the_same_queries_and_grades(tmp_path, form):
    found = read_release(write_release(tmp_path / form, form))
    wanted = read_release(write_release(tmp_path / "all", "all"))

    assert [(q.query_id, q.text, q.split) for q in found.queries] == [
        (q.query_id, q.text, q.split) for q in wanted.queries
    ]
    assert sorted(found.grades) == sorted(wanted.grades)


def test_a_zip_is_read_like_its_folder(release_folder, tmp_path):
    with (tmp_path / "doors.zip").open("wb") as stream:
        zip_folder(release_folder, stream)

    assert read_release(tmp_path / "doors.zip") == read_release(release_folder)


def test_strata_come_with_the_queries(release_folder):
    assert [query.fields["domain"] for query in read_release(release_folder).queries] == ["keys", "walls", "walls"]


def test_grades_become_columns_in_the_order_of_the_queries(release_folder):
    blocks = Vocabulary()
    judged = read_release(release_folder).judged(blocks)

    assert judged.queries == ("Q1", "Q2", "Q3")
    assert judged.grade.tolist() == [3, 1, 1, 2, 1, 3]
    assert list(blocks) == [b"a", b"d", b"b", b"c"]


def test_a_cell_that_a_spreadsheet_would_run_comes_back_as_it_was(tmp_path):
    content = ListContent(
        query_rows=[FrozenQuery("Q1", "=1+1", split="dev")],
        grade_rows=[GradeRow("Q1", "-b", 1, "dev", query_text="=1+1")],
    )
    found = read_release(write_release(tmp_path / "cells", "csv", content=content))

    assert (found.queries[0].text, found.grades[0].block_id) == ("=1+1", "-b")


def test_a_changed_release_is_refused_with_the_file(release_folder):
    with (release_folder / "jsonl/judgements.jsonl").open("a") as stream:
        stream.write("{}\n")

    with pytest.raises(NotAnExport, match=r"changed since it was exported\. jsonl"):
        read_release(release_folder)


def test_a_form_without_the_words_of_the_queries_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(NotAnExport, match="karat export --format jsonl"):
        read_release(write_release(tmp_path / "trec", "trec"))


def test_a_split_that_is_not_there_is_refused_with_those_that_are(release_folder):
    with pytest.raises(NotAnExport, match="contains no train split"):
        read_release(release_folder, "train")


def test_a_release_without_grades_is_refused(tmp_path):
    folder = write_release(tmp_path / "empty", content=ListContent(query_rows=[FrozenQuery("Q1", "key")]))

    with pytest.raises(NotAnExport, match="contains neither grades nor Q&As"):
        read_release(folder)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"{", "judgements.jsonl, line 1: is not a JSON object."),
        (b'{"query_id": "Q1", "grade": 1}', "judgements.jsonl, line 1, block_id: is missing."),
        (b'{"query_id": "Q1", "block_id": "a", "grade": "high"}', "line 1, grade: 'high' is not a whole number."),
    ],
)
def test_a_fault_is_named_with_file_line_and_field(release_folder, line, sentence):
    rewrite(release_folder, "jsonl/judgements.jsonl", line + b"\n")

    with pytest.raises(InputError) as caught:
        read_release(release_folder)
    assert str(caught.value).endswith(sentence)


def sliced(tmp_path, **slices: list[str]):
    rows = [
        SliceRow(name.replace("_", "-"), "rotating" if "Q" in name else name, tuple((one, ()) for one in ids))
        for name, ids in slices.items()
    ]
    tmp_path.mkdir(exist_ok=True)
    return write_release(tmp_path / "sliced", content=replace(CONTENT, slice_rows=rows))


def test_a_slice_has_its_queries_and_their_grades_alone(tmp_path):
    release = read_release(sliced(tmp_path, canary=["Q3", "Q1"]))

    part = release.in_slice("canary")

    assert [query.query_id for query in part.queries] == ["Q1", "Q3"]
    assert {row.query_id for row in part.grades} == {"Q1", "Q3"}
    assert (part.slice, release.slice) == ("canary", "")


def test_the_rotating_slice_is_that_of_the_newest_quarter(tmp_path):
    release = read_release(sliced(tmp_path, **{"2026_Q3": ["Q1"], "2026_Q4": ["Q2"]}))

    assert release.in_slice("rotating").queries == release.in_slice("2026-Q4").queries
    assert [query.query_id for query in release.in_slice("2026-Q3").queries] == ["Q1"]


def test_an_unknown_slice_is_refused_with_those_there_are(tmp_path):
    release = read_release(sliced(tmp_path, canary=["Q1"]))

    with pytest.raises(NotAnExport, match=r"Doors v2 has no slice called challenge\. It has: canary\."):
        release.in_slice("challenge")
    with pytest.raises(NotAnExport, match="No question of the canary slice of Doors v2 is in this split"):
        read_release(sliced(tmp_path / "more", canary=["Q1"]), "test").in_slice("canary")
