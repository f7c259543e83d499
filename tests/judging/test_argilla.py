"""Judgements from Argilla: the responses of people to records, in each form in which a dataset is saved."""

import json

import pytest
from django.core.management import call_command

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import open_source
from apps.corpus.enums import ImportState
from apps.judging.formats.recognition import opener_of, recognise
from apps.judging.models import Judgement
from tests.factories import make_project
from tests.judging.archives import parquet_of, zipped
from tests.judging.factories import make_snapshot
from tests.judging.test_table_import import form_of, send, upload
from tests.queries.factories import make_query

ANA, BEN = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"


def record(query: str, doc_id: str, passage: str, **responses: list[dict]) -> dict:
    return {
        "id": "r1",
        "fields": {"query": query, "passage": passage},
        "metadata": {"doc_id": doc_id},
        "suggestions": {"relevance": {"value": "Not", "score": None, "agent": "model"}},
        "responses": responses,
        "vectors": {},
        "status": "completed",
        "_server_id": None,
    }


def answer(value, user: str, **more) -> dict:
    return {"value": value, "user_id": user} | more


SAVED = [
    record("key rotation", "b00000", "Keys are rotated.", relevance=[answer("Relevant", ANA), answer("Partly", BEN)]),
    record("who may open", "b00001", "Doors are shut.", relevance=[answer("Not", ANA)]),
]
FOLDER = {
    "rel/records.json": json.dumps(SAVED).encode(),
    "rel/.argilla/settings.json": b"{}",
    "rel/.argilla/dataset.json": b"{}",
}
FLAT = {
    "id": "r1", "status": "completed", "_server_id": None, "query": "key rotation", "passage": "Keys are rotated.",
    "doc_id": "b00000", "relevance.responses": ["Relevant", "Partly", "Not"],
    "relevance.responses.users": [ANA, BEN, "u3"],
    "relevance.responses.status": ["submitted", "submitted", "draft"], "relevance.suggestion": "Not",
    "relevance.suggestion.score": None, "relevance.suggestion.agent": "model",
}  # fmt: skip
OLD = {
    "query": "key rotation", "passage": "Keys are rotated.", "external_id": None, "metadata": "{}",
    "relevance": [answer(3, ANA, status="submitted"), answer(1, BEN, status="discarded")],
    "relevance-suggestion": 0,
}  # fmt: skip


def table(tmp_path, content: bytes, errors: ErrorList | None = None, *, name: str = "export"):
    path = tmp_path / name
    path.write_bytes(content)
    with open_source(path) as source:
        assert recognise(source) == "argilla"
        found = opener_of("argilla")(source, ErrorList() if errors is None else errors)
        return found._replace(rows=list(found.rows))


def responses(found) -> list[tuple[str, str]]:
    places = [found.headings.index(name) for name in ("annotator", "relevance")]
    return [tuple(cells[place] for place in places) for _, cells in found.rows]


@pytest.mark.parametrize("content", [zipped(FOLDER), json.dumps(SAVED).encode()])
def test_a_saved_dataset_has_a_row_for_each_person(tmp_path, content):
    found = table(tmp_path, content)

    assert responses(found) == [(ANA, "Relevant"), (BEN, "Partly"), (ANA, "Not")]
    assert {heading: role for heading, role in found.known.items() if role} == {
        "annotator": "person", "query": "query", "doc_id": "passage", "relevance": "grade",
    }  # fmt: skip
    assert not {"suggestions", "vectors"} & set(found.headings)


@pytest.mark.parametrize("content", [parquet_of([FLAT]), json.dumps(FLAT).encode() + b"\n"])
def test_a_dataset_for_hugging_face_is_read_without_drafts(tmp_path, content):
    found = table(tmp_path, content)

    assert responses(found) == [(ANA, "Relevant"), (BEN, "Partly")]
    assert found.notes == ["1 response is a draft or discarded and stays out."]
    assert not any("suggestion" in heading for heading in found.headings)


def test_a_dataset_of_an_older_version_is_read(tmp_path):
    path = tmp_path / "old.jsonl"
    path.write_bytes(json.dumps(OLD).encode() + b"\n")
    with open_source(path) as source:
        found = opener_of("argilla")(source, ErrorList())
        found = found._replace(rows=list(found.rows))

    assert responses(found) == [(ANA, "3")]
    assert found.known["relevance"] == "grade"


def test_a_rating_is_the_grade_where_another_question_has_words(tmp_path):
    both = record("a", "b00000", "Keys.", stars=[answer(4, ANA)], why=[answer("says how often", ANA)])

    found = table(tmp_path, json.dumps([both]).encode())

    assert found.known["stars"] == "grade"
    assert found.rows[0][1][found.headings.index("why")] == "says how often"


def test_a_question_with_the_name_of_a_field_is_told_apart(tmp_path):
    asked = record("a", "b00000", "Keys.") | {"responses": {"query": [answer("Relevant", ANA)]}}

    found = table(tmp_path, json.dumps([asked]).encode())

    assert "query (response)" in found.headings


def test_a_mistake_names_record_and_question(tmp_path):
    errors = ErrorList()
    broken = [record("a", "b", "c", relevance=[7]), *SAVED]

    table(tmp_path, json.dumps(broken).encode(), errors)

    assert [(error.line, error.field) for error in errors] == [(1, "responses.relevance")]


def test_users_that_do_not_fit_the_responses_are_a_mistake(tmp_path):
    errors = ErrorList()

    table(tmp_path, json.dumps(FLAT | {"relevance.responses.users": [ANA]}).encode() + b"\n", errors)

    assert [error.field for error in errors] == ["relevance.responses.users"]


def test_arrow_files_are_refused_with_what_to_do(tmp_path):
    with pytest.raises(InputError, match="Arrow files are not read; save the dataset with to_disk"):
        table(tmp_path, zipped({"rel/data-00000-of-00001.arrow": b"ARROW1", "rel/state.json": b"{}"}))


@pytest.mark.django_db
def test_the_page_imports_a_saved_dataset(client):
    project = make_project()
    make_query(project, outside_id="Q1", text="Key rotation")
    item = upload(client, make_snapshot(project), zipped(FOLDER), "rel.zip")

    assert item.state == ImportState.READY
    send(client, item, "import-columns", form_of(item, **{"import": "1"}))
    found = Judgement.objects.values_list("entry__version__block__outside_id", "annotator__name", "grade")
    assert sorted(found) == [("b00000", ANA, 3), ("b00000", BEN, 1), ("b00001", ANA, 0)]


@pytest.mark.django_db
def test_the_command_imports_the_folder_of_a_dataset(tmp_path, capsys):
    project = make_project()
    make_query(project, outside_id="Q1", text="Key rotation")
    snapshot = make_snapshot(project)
    (tmp_path / "rel").mkdir()
    (tmp_path / "rel" / "records.json").write_bytes(FOLDER["rel/records.json"])
    grades = "Relevant=3,Partly=1,Not=0"

    call_command(
        "import_judgements", str(tmp_path / "rel"), project=project.slug, snapshot=snapshot.reference, grades=grades
    )

    assert "3 judgements" in capsys.readouterr().out
    assert Judgement.objects.count() == 3
