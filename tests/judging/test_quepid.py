"""Judgements from Quepid: books with their judges, cases with the ratings of nobody."""

import io
import json

import pytest
from django.core.management import call_command

from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.enums import ImportState
from apps.judging.formats.recognition import opener_of, recognise
from apps.judging.models import Adjudication, Judgement
from apps.queries.models import Query
from tests.factories import make_project
from tests.judging.factories import make_snapshot
from tests.judging.test_table_import import form_of, send, upload
from tests.queries.factories import make_query

BOOK_CSV = (
    "query,docid,Mara Quill,jun@example.org\n"
    "key rotation,b00000,3,2\n"
    "key rotation,b00001,0,\n"
    '" -5 degrees",b00002,,1.0\n'
)
BOOK = {
    "name": "Handbook",
    "show_rank": False,
    "support_implicit_judgements": False,
    "scorer": {"name": "nDCG", "code": 'var ratings = ["ratings"];'},
    "query_doc_pairs": [
        {
            "query_text": "key rotation",
            "doc_id": "b00000",
            "position": 1,
            "document_fields": '{"title":"Backups"}',
            "judgements": [
                {"rating": 3.0, "unrateable": False, "user_email": "mara@example.org", "explanation": "says how often"},
                {"rating": 2.0, "unrateable": None, "user_email": "jun@example.org", "explanation": None},
            ],
        },
        {
            "query_text": "key rotation",
            "doc_id": "b00001",
            "position": 2,
            "document_fields": "{}",
            "judgements": [
                {"rating": 0.0, "unrateable": False, "judge_later": False},
                {"rating": None, "unrateable": True, "user_email": "jun@example.org"},
                {"rating": None, "unrateable": False, "judge_later": True, "user_email": "mara@example.org"},
            ],
        },
        {"query_text": "who may open", "doc_id": "b00002", "position": 1, "judgements": []},
    ],
}
CASE = {
    "case_name": "Handbook",
    "owner_email": "mara@example.org",
    "scorer": {"name": "AP"},
    "queries": [
        {"query_text": "key rotation", "options": None, "ratings": {"b00000": "3", "b00001": 0}},
        {"query_text": "who may open", "information_need": "roles", "ratings": {}},
    ],
    "try": {"name": "Try 1"},
}
RATINGS = {"queries": [{"query": "key rotation", "ratings": {"b00000": 3}}]}
RRE = {
    "id_field": "id",
    "index": "Handbook",
    "queries": [{"placeholders": {"$query": "key rotation"}, "relevant_documents": {"0": ["b00001"], "3": ["b00000"]}}],
}


def source(content: str | dict, name: str = "export") -> TableFile:
    text = content if isinstance(content, str) else json.dumps(content)
    return TableFile(name, io.BytesIO(text.encode()))


def table(content: str | dict):
    return opener_of("quepid")(source(content), ErrorList())


def rows(content: str | dict) -> list[list[str]]:
    return [cells for _, cells in table(content).rows]


@pytest.mark.parametrize("content", [BOOK_CSV, BOOK, CASE, RATINGS, RRE, json.dumps(BOOK, indent=2)])
def test_its_exports_are_recognised(content):
    assert recognise(source(content)) == "quepid"


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("query,docid,rater 1,rater 2,final\na,b,1,2,1\n", "table"),
        ("query,docid,rating\na,b,1\n", "table"),
        ('{"query_id": "Q1", "block_id": "b", "grade": 1}\n', "jsonl"),
    ],
)
def test_other_files_are_not(text, format):
    assert recognise(source(text)) == format


def test_a_book_has_each_judgement_with_its_judge():
    book = table(BOOK)

    assert book.known == {
        "query": "query", "docid": "passage", "position": "rank", "rating": "grade", "judge": "person",
        "explanation": "note",
    }  # fmt: skip
    assert list(book.rows) == [
        (1, ["key rotation", "b00000", "1", "3", "mara@example.org", "says how often"]),
        (1, ["key rotation", "b00000", "1", "2", "jun@example.org", ""]),
        (2, ["key rotation", "b00001", "2", "0", "Unknown", ""]),
    ]
    assert book.notes == ["2 judgements are marked as not rateable or to judge later, and no grade."]


def test_the_csv_of_a_book_has_a_column_for_each_judge():
    book = table(BOOK_CSV)

    assert book.known == {"query": "query", "docid": "passage", "Mara Quill": "rated", "jun@example.org": "rated"}
    assert rows(BOOK_CSV)[2] == [" -5 degrees", "b00002", "", "1.0"]


@pytest.mark.parametrize("content", [CASE, RATINGS, RRE])
def test_the_ratings_of_a_case_are_read_in_each_of_its_forms(content):
    assert ["key rotation", "b00000", "3"] in rows(content)


def test_a_query_without_ratings_is_a_query():
    assert rows(CASE)[-1] == ["who may open", "", ""]


def test_a_mistake_names_the_pair_and_the_field():
    errors = ErrorList()
    first, last = {"query_text": "a", "judgements": []}, {"query_text": "a", "doc_id": "b", "judgements": "none"}
    broken = {"query_doc_pairs": [first, *BOOK["query_doc_pairs"], last]}

    found = opener_of("quepid")(source(broken), errors)

    assert len(list(found.rows)) == 3
    assert [(error.line, error.field, error.message) for error in errors] == [
        (1, "doc_id", "is missing"),
        (5, "judgements", "is a list of judgements"),
    ]


@pytest.fixture
def snapshot(db):
    project = make_project()
    make_query(project, outside_id="Q1", text="Key rotation")
    return make_snapshot(project)


def grades() -> list[tuple]:
    fields = ("entry__query__outside_id", "entry__version__block__outside_id", "annotator__name", "grade")
    return sorted(Judgement.objects.values_list(*fields))


def test_the_page_imports_a_book_with_its_judges_as_placeholders(client, snapshot):
    item = upload(client, snapshot, json.dumps(BOOK).encode(), "book_1.json")

    assert item.state == ImportState.READY
    assert item.plan["table"]["how"] == "a book of Quepid"
    titles = [message["title"] for message in item.plan["table"]["messages"]]
    assert "2 judgements are marked as not rateable or to judge later, and no grade." in titles
    send(client, item, "import-columns", form_of(item, **{"import": "1"}))

    assert item.state == ImportState.APPLIED
    assert grades() == [
        ("Q1", "b00000", "jun@example.org", 2),
        ("Q1", "b00000", "mara@example.org", 3),
        ("Q1", "b00001", "Unknown", 0),
    ]
    assert Judgement.objects.filter(note="says how often").get().annotator.is_placeholder
    assert not Adjudication.objects.exists()


def test_the_command_imports_a_book_as_csv(capsys, snapshot, tmp_path):
    path = tmp_path / "book.csv"
    path.write_text(BOOK_CSV)
    project = snapshot.corpus.project

    call_command("import_judgements", str(path), project=project.slug, snapshot=snapshot.reference)

    assert "4 judgements" in capsys.readouterr().out
    assert ("Q1", "b00000", "Mara Quill", 3) in grades()
    assert Query.objects.filter(text="-5 degrees").exists()
