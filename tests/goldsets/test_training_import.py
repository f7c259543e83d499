"""Bringing in a training manifest: its three forms, the preview, the page, the command, and undoing it."""

import gzip
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from apps.accounts.enums import Role
from apps.common.files.faults import ErrorList, as_line
from apps.common.files.tabular import TableFile
from apps.config.commandline import main
from apps.corpus.models import Import
from apps.goldsets.core.splits import words_digest
from apps.goldsets.core.training import Entry
from apps.goldsets.enums import EntryKind, VersionState
from apps.goldsets.formats import training
from apps.goldsets.formats.training import read_entries, recognise
from apps.goldsets.models import TrainingManifest
from tests.factories import lead_of, make_member, make_project
from tests.goldsets.factories import make_bench, make_version
from tests.queries.factories import make_query

HASH = "ab" * 32


def read(text: str, *, format: str = "auto", ids: str = "question") -> tuple[dict[Entry, int], list[str]]:
    errors = ErrorList()
    source = TableFile("f", io.BytesIO(text.encode()))
    return read_entries(source, errors, format=format, ids=ids), [as_line(error) for error in errors]


def values(text: str, **options: str) -> list[tuple[str, str]]:
    entries, errors = read(text, **options)
    assert errors == []
    return [(entry.kind, entry.value) for entry in entries]


def test_a_list_has_ids_and_hashes_also_as_sha256sum_prints_them():
    listed = f"Q001\n\n {HASH.upper()} \n{'cd' * 32}  -\n"

    assert values(listed) == [("question", "Q001"), ("text", HASH), ("text", "cd" * 32)]
    assert values("sec 4\n", ids="block") == [("block", "sec 4")]
    assert values("d1\n", ids="document") == [("document", "d1")]


def test_json_lines_name_one_thing_or_several():
    lines = '{"query_id": "Q1", "block_id": "b1"}\n{"triple_id": "T-0001", "document_id": "d"}\n'
    lines += f'{{"sha256": "{HASH}"}}\n'

    assert values(lines) == [
        ("question", "Q1"), ("block", "b1"), ("question", "T-0001"), ("document", "d"), ("text", HASH),
    ]  # fmt: skip


def test_of_a_text_only_the_hash_of_its_words_is_kept():
    assert values('{"text": "How often are Keys rotated?"}') == [("text", words_digest("how often are keys rotated"))]


def test_csv_has_the_same_names_and_empty_cells_count_for_nothing():
    assert values("query_id,block_id\nQ1,\n,b1\n") == [("question", "Q1"), ("block", "b1")]


def test_an_entry_counts_once_with_the_number_of_its_lines():
    assert read("Q1\nQ2\nQ1\n")[0] == {Entry(EntryKind.QUESTION, "Q1"): 2, Entry(EntryKind.QUESTION, "Q2"): 1}


@pytest.mark.parametrize(
    ("text", "format"),
    [('{"query_id": "Q1"}', "jsonl"), ("sha256\nx", "csv"), ("Q1\nQ2", "lines"), ("\ufeffquery_id\nQ1", "csv")],
)
def test_the_form_is_recognised(text, format):
    assert recognise(TableFile("f", io.BytesIO(text.encode()))) == format


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("keys rotated", "f, line 1, query_id: 'keys rotated': an id has no blanks; to list a text, hash it with"),
        ('{"sha256": "abc"}', "f, line 1, sha256: 'abc': must be 64 hexadecimal digits, as karat hash-texts and"),
        ('{"query": "Q1"}', "f, line 1, query: 'Q1': unknown field; known are block_id, document_id, query_id,"),
        ("{}", "f, line 1, query_id: the line names nothing; give one of query_id, triple_id, block_id, document_id,"),
        ('{"query_id": 5}', "f, line 1, query_id: '5': must be text"),
        ('{"text": "?!"}', "f, line 1, text: '?!': the text has no words"),
        ("query_id,topic\nQ1,x", "f, line 1, topic: unknown column; known are query_id, triple_id, block_id,"),
        ("", "f: the file is empty; write an id or a text hash on each line"),
    ],
)
def test_a_bad_line_is_named_with_field_and_value(text, fault):
    _, errors = read(text)

    assert [error[: len(fault)] for error in errors] == [fault]


def test_a_file_with_too_many_entries_is_refused(monkeypatch):
    monkeypatch.setattr(training, "MOST_ENTRIES", 2)

    assert "more than 2 entries; split it" in read("Q1\nQ2\nQ3\n")[1][0]


# On the page


def upload(client, project, text: str | bytes, name: str = "Ranker of May", **form) -> Import:
    data = text.encode() if isinstance(text, str) else text
    file = SimpleUploadedFile("trained.txt", data)
    client.force_login(lead_of(project))
    client.post(
        reverse("corpus:import-new", args=[project.slug, "training"]),
        {"file": file, "name": name, "format": "auto", "ids": "question", **form},
    )
    return Import.objects.latest("pk")


def confirm(client, item: Import) -> Import:
    client.post(reverse("corpus:import-confirm", args=[item.project.slug, item.pk]))
    item.refresh_from_db()
    return item


@pytest.mark.django_db
def test_the_preview_says_what_matches_and_what_is_in_test(client):
    bench = make_bench(queries=4, triples=0)
    version = make_version(VersionState.RELEASED, bench, test_share=0.5)
    test, dev = (version.queries.filter(split=side).first() for side in ("test", "dev"))

    item = upload(client, bench.project, f"{test.outside_id}\n{words_digest(dev.text)}\nelsewhere\nelsewhere\n")

    assert item.plan["notes"] == [
        "2 ids of questions, 1 text hash.",
        "1 line repeats an entry; each entry counts once.",
        "2 queries and Q&As of this project are in it. The next draft puts each of them into dev, unless a version has"
        " it in test.",
        f"This one is in test of a version, and blocks the next freeze until it is retired: {test.outside_id}.",
    ]
    assert [(each["change"], each["id"], each["title"]) for each in item.plan["samples"]] == [
        ("in test", test.outside_id, "Known by its id, in test of Handbook v1"),
        ("goes to dev", dev.outside_id, "Known by its words"),
    ]
    assert not TrainingManifest.objects.exists()
    page = client.get(reverse("corpus:import", args=[bench.project.slug, item.pk])).content.decode()
    assert "Import 3 entries" in page


@pytest.mark.django_db
def test_a_manifest_is_imported_from_the_page_listed_and_retired_with_its_import(client, project):
    item = confirm(client, upload(client, project, gzip.compress(b"Q1\nQ2\n")))

    manifest = TrainingManifest.objects.get()
    assert (item.state, manifest.name, manifest.file, manifest.size) == ("applied", "Ranker of May", "trained.txt", 2)
    assert "Ranker of May" in client.get(reverse("goldsets:training", args=[project.slug])).content.decode()

    client.post(reverse("corpus:import-undo", args=[project.slug, item.pk]))

    item.refresh_from_db()
    manifest.refresh_from_db()
    assert None not in (item.undone_at, manifest.retired_at)


@pytest.mark.django_db
def test_one_bad_line_keeps_the_whole_file_out_and_is_named(client):
    item = upload(client, make_project(), "Q1\nnot an id\n")

    assert item.state == "faulty"
    assert [(error["file"], error["line"], error["value"]) for error in item.plan["errors"]] == [
        ("trained.txt", 2, "not an id")
    ]
    assert not TrainingManifest.objects.exists()


@pytest.mark.django_db
def test_the_same_list_again_changes_nothing_and_says_so(client, project):
    confirm(client, upload(client, project, "Q1\nQ2\n"))

    item = upload(client, project, "Q2\nQ1\n", name="Another")

    assert item.plan["changes_nothing"]
    assert item.plan["notes"][0] == "“Ranker of May” lists exactly the same and is in use."
    confirm(client, item)
    assert TrainingManifest.objects.count() == 1


@pytest.mark.django_db
def test_a_name_in_use_is_refused_by_the_form(client, project):
    confirm(client, upload(client, project, "Q1\n"))

    answer = client.post(
        reverse("corpus:import-new", args=[project.slug, "training"]),
        {"pasted": "Q2", "name": " Ranker  of May", "format": "auto", "ids": "question"},
    )

    assert answer.status_code == 400
    assert "There is a training manifest called “Ranker of May” already" in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.REVIEWER, Role.VIEWER])
def test_only_leads_bring_one_in(client, role, project):
    client.force_login(make_member(project, role))

    assert client.get(reverse("corpus:import-new", args=[project.slug, "training"])).status_code == 403


# By the command


@pytest.mark.django_db
def test_karat_import_training_says_what_it_did_and_what_matches(capsys, tmp_path, project):
    make_query(project, outside_id="Q1")
    path = tmp_path / "trained.txt"
    path.write_text("Q1\nQ9\n")

    call_command("import_training", str(path), project=project.slug, name="Ranker of May")

    assert capsys.readouterr().out.splitlines() == [
        "Imported, the training manifests of this project: 2 entries: 2 new, 0 unchanged.",
        "2 ids of questions.",
        "1 query or Q&A of this project is in it. The next draft puts it into dev, unless a version has it in test.",
    ]
    assert TrainingManifest.objects.get().file == "trained.txt"


@pytest.mark.django_db
def test_karat_import_training_names_a_bad_line_and_imports_nothing(tmp_path):
    path = tmp_path / "trained.jsonl"
    path.write_text('{"query_id": "Q1"}\n{"sha256": "abc"}\n')

    with pytest.raises(CommandError) as refused:
        call_command("import_training", str(path), project=make_project().slug, name="Ranker")

    assert "trained.jsonl" in str(refused.value)
    assert "2" in str(refused.value)
    assert "must be 64 hexadecimal digits" in str(refused.value)
    assert not TrainingManifest.objects.exists()


# karat hash-texts


def test_karat_hash_texts_prints_what_a_manifest_matches(capsys, tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text("How often are Keys rotated?\n?!\nWho opens the café\n")

    assert main(["hash-texts", str(path)]) == 0

    assert capsys.readouterr().out.split() == [
        words_digest("how often are keys rotated"),
        words_digest("who opens the CAFE"),
    ]


@pytest.mark.parametrize(("name", "text"), [("q.csv", "id,text\n1,One two\n"), ("q.jsonl", '{"text": "One two"}\n')])
def test_karat_hash_texts_takes_a_column_or_a_field(capsys, tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)

    assert main(["hash-texts", str(path), "--field", "text"]) == 0
    assert capsys.readouterr().out.split() == [words_digest("one two")]


def test_karat_hash_texts_says_what_cannot_be_read(capsys, tmp_path):
    table, text = tmp_path / "q.csv", tmp_path / "q.txt"
    table.write_text("id\n1\n")
    text.write_bytes(b"one\n\xff\n")

    for asked in ([str(table), "--field", "text"], [str(text)], [str(tmp_path / "missing")]):
        assert main(["hash-texts", *asked]) == 2
    told = capsys.readouterr().err
    assert "this column is missing" in told
    assert "q.txt, line 2: is not UTF-8" in told
