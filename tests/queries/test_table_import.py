"""Queries from a spreadsheet: what each column is, ids that are missing or nearly fit."""

import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from apps.audit.models import Event
from apps.common.files.tabular import TableFile
from apps.corpus.enums import ImportState
from apps.corpus.models import Import
from apps.queries.execution.table_import import QueryTable, read_query_table
from apps.queries.formats import recognise
from apps.queries.models import Query
from tests.common.workbooks import workbook
from tests.factories import AT, lead_of, make_project
from tests.queries.factories import make_query, make_source

pytestmark = pytest.mark.django_db

SEARCHES = (
    "Search;Level;Topics;Where from\n"
    "key rotation;easy;keys, policy;Search log\n"
    "who opens the archive;hard;;Interviews\n"
    "Key  rotation;easy;;\n"
    ";easy;;\n"
    "how long are mails kept;tricky;;Search log\n"
)


@pytest.fixture
def project():
    project = make_project()
    make_source(project, name="Search log")
    return project


def read(project, data: str | bytes, **table) -> QueryTable:
    source = TableFile("searches.csv", io.BytesIO(data.encode() if isinstance(data, str) else data))
    return read_query_table(source, project=project, options={"table": table} if table else {})


def titles(table: QueryTable, state: str = "") -> list[str]:
    return [message.title for message in table.view.messages if not state or message.state == state]


def test_a_table_with_its_own_headings_is_read(project):
    table = read(project, SEARCHES)

    assert list(table.view.choice.columns.values()) == ["text", "difficulty", "tags", ""]
    assert [(row.query_id, row.text, row.difficulty, row.tags) for row in table.rows] == [
        ("Q001", "key rotation", "easy", ("keys", "policy")),
        ("Q002", "who opens the archive", "hard", ()),
        ("Q003", "how long are mails kept", None, ()),
    ]
    assert table.view.button == "Import 3 queries"
    assert titles(table) == [
        "1 row without a query stays out.",
        "1 row repeats a query and counts once.",
        "1 difficulty is not easy, standard, medium or hard; it is left out.",
        "3 new queries get the ids Q001 to Q003.",
    ]


def test_sources_are_found_by_name(project):
    columns = {"Search": "text", "Level": "", "Topics": "", "Where from": "source"}

    table = read(project, SEARCHES, columns=columns)

    assert [row.source for row in table.rows] == ["search-log", None, "search-log"]
    assert titles(table, "warn") == ["1 source is not one of this project; it is left out."]


def test_ids_that_nearly_fit_are_matched_by_one_answer(project):
    make_query(project, outside_id="Q01", text="key rotation")
    make_query(project, outside_id="Q02", text="who opens the archive")
    text = "id\tquery\nQ1\tkey rotation\nQ2\twho opens the archive\n"

    table = read(project, text)
    assert [row.query_id for row in table.rows] == ["Q1", "Q2"]
    assert titles(table, "warn") == ["2 ids nearly match queries that are here."]

    choice = table.view.choice.as_json() | {"answers": ["fit-ids"]}
    assert [row.query_id for row in read(project, text, **choice).rows] == ["Q01", "Q02"]


def test_without_a_column_of_queries_there_is_nothing_to_import(project):
    table = read(project, "number,amount\n1,2\n3,4\n")

    assert (table.rows, table.view.refusals) == ([], ["Choose the column of the queries."])


@pytest.mark.parametrize(
    ("data", "format"),
    [
        (b'{"query_id": "Q1", "text": "a"}\n', "jsonl"),
        (b'{"_id": "Q1", "text": "a"}\n', "beir"),
        (b"<top>\n<num> 1\n", "trec"),
        (b".I 1\n.W\na\n", "smart"),
        (b"query_id,text,metadata.x\nQ1,a,b\n", "csv"),
        (b"query_id;text\nQ1;a\n", "table"),
        (b"key rotation\nwho opens the archive\n", "lines"),
        (b"Query\nkey rotation\nwho opens the archive\n", "table"),
        (SEARCHES.encode("utf-16"), "table"),
    ],
)
def test_the_format_is_recognised(data, format):
    assert recognise(TableFile("f", io.BytesIO(data))) == format


def test_pasted_lines_with_an_id_are_no_table():
    source = TableFile("pasted.txt", io.BytesIO(b"Q1\ta\nQ2\tb\n"))

    assert recognise(source, is_pasted=True) == "lines"
    assert recognise(source) == "table"


def test_a_workbook_of_thirty_searches_is_imported_through_the_page(client, project):
    client.force_login(lead_of(project))
    rows = [["Suchanfrage", "Thema"], *([f"Suche Nummer {number}", "Test"] for number in range(30))]
    form = {"file": SimpleUploadedFile("suchen.xlsx", workbook({"Suchen": rows})), "format": "auto", "ids": "file"}
    client.post(reverse("corpus:import-new", args=[project.slug, "queries"]), form)
    item = Import.objects.get()

    page = client.get(reverse("corpus:import", args=[project.slug, item.pk])).text
    assert "Import 30 queries" in page
    sent = {"column-0": "text", "column-1": "domain", "remember": "1"}
    client.post(reverse("corpus:import-columns", args=[project.slug, item.pk]), sent)
    client.post(reverse("corpus:import-columns", args=[project.slug, item.pk]), sent | {"import": "1"})

    item.refresh_from_db()
    assert item.state == ImportState.APPLIED
    assert Query.objects.filter(project=project, domain="Test").count() == 30


def test_the_command_imports_a_table_by_itself(capsys, project, tmp_path):
    path = tmp_path / "searches.csv"
    path.write_bytes("Search;Level\nSchlüssel wechseln;easy\n".encode("cp1252"))

    call_command("import_queries", path, project=project.slug)

    assert Query.objects.get().text == "Schlüssel wechseln"
    assert "1 query: 1 new" in capsys.readouterr().out


def test_rows_with_mistakes_are_left_out_by_one_button(client, project):
    query = make_query(project, outside_id="Q1", text="key rotation")
    Query.objects.filter(pk=query.pk).update(locked_at=AT)
    client.force_login(lead_of(project))
    data = b"qid;query\nQ1;keys of doors\nQ2;who opens the archive\n"
    form = {"file": SimpleUploadedFile("searches.csv", data), "format": "auto", "ids": "file"}
    page = client.post(reverse("corpus:import-new", args=[project.slug, "queries"]), form, follow=True)
    item = Import.objects.get()
    assert "1 row has a mistake." in page.text

    page = client.post(reverse("corpus:import-fix", args=[project.slug, item.pk]), {"fix": "leave-faulty"}, follow=True)

    item.refresh_from_db()
    assert item.state == ImportState.READY
    assert item.plan["counts"] == {"new": 1, "changed": 0, "unchanged": 0}
    assert "Rows with mistakes stay out." in page.text


def test_the_stratum_of_a_query_is_its_kind_by_which_a_split_is_balanced(project):
    table = read(project, "query;stratum\nkey rotation;head\nwho opens the archive;tail\n")

    assert list(table.view.choice.columns.values()) == ["text", "query_type"]
    assert [row.query_type for row in table.rows] == ["head", "tail"]


NAMED = "query;source\nkey rotation;Search log\nwho opens;Interview\nhow long;Interview\nwhere;Desk calls\nwhat;日誌\n"


def test_sources_that_are_not_here_are_created_by_a_button_and_their_kinds_are_told(client, project):
    client.force_login(lead_of(project))
    client.post(
        reverse("corpus:import-new", args=[project.slug, "queries"]),
        {"file": SimpleUploadedFile("named.csv", NAMED.encode()), "format": "auto", "ids": "file"},
    )
    item = Import.objects.get()
    first = [message for message in item.plan["table"]["messages"] if "source" in message["title"]]

    assert [message["title"] for message in first] == [
        "2 sources are not sources of this project; they are left out.",
        "1 source has a name without a Latin letter or a digit; it is left out.",
    ]
    assert (first[0]["button"], first[0]["examples"]) == (
        "Create these 2 sources",
        ["Desk calls: 1 row", "Interview: 2 rows"],
    )
    client.post(reverse("corpus:import-fix", args=[project.slug, item.pk]), {"fix": first[0]["fix"]})
    assert not project.sources.exclude(name="Search log").exists()
    client.post(reverse("corpus:import-confirm", args=[project.slug, item.pk]))
    item.refresh_from_db()

    assert item.state == ImportState.APPLIED
    made = {(source.name, source.slug, source.kind) for source in project.sources.exclude(name="Search log")}
    assert made == {("Desk calls", "desk-calls", "query_log"), ("Interview", "interview", "interview")}
    assert list(Query.objects.order_by("outside_id").values_list("source__name", flat=True)) == [
        "Search log", "Interview", "Interview", "Desk calls", None,
    ]  # fmt: skip
    assert Event.objects.filter(project=project, action="source.created").count() == 3


def test_a_file_in_karats_own_columns_has_the_same_button_and_creates_nothing_beside_another_mistake(client, project):
    client.force_login(lead_of(project))
    columns = "query_id,text,source,difficulty\n"

    def upload(rows):
        client.post(
            reverse("corpus:import-new", args=[project.slug, "queries"]),
            {"file": SimpleUploadedFile("own.csv", (columns + rows).encode()), "format": "auto", "ids": "file"},
        )
        return Import.objects.latest("pk")

    def fix(item):
        client.post(reverse("corpus:import-fix", args=[project.slug, item.pk]), {"fix": "make-sources"})
        item.refresh_from_db()
        return item

    item = upload("Q1,key rotation,search-log,\nQ2,who opens the archive,Desk calls,\n")
    assert item.state == ImportState.FAULTY
    page = client.get(reverse("corpus:import", args=[project.slug, item.pk])).text
    assert "These are no sources of this project: Desk calls." in page
    assert fix(item).state == ImportState.READY
    client.post(reverse("corpus:import-confirm", args=[project.slug, item.pk]))
    assert Query.objects.get(outside_id="Q2").source.slug == "desk-calls"

    faulty = fix(upload("Q3,what else,Nowhere,\nQ4,why,Nowhere,tricky\n"))
    assert faulty.state == ImportState.FAULTY
    assert not project.sources.filter(slug="nowhere").exists()


def test_rows_that_are_not_read_are_said_for_what_they_are(project):
    """Excel leaves rows of separators below a table; so are marks between joined tables, and the headings again."""
    table = read(project, "query;level\nkey rotation;easy\n;\nquery;level\n---;---\nwho opens;hard\n;\n ; \n")

    assert [row.text for row in table.rows] == ["key rotation", "who opens"]
    assert [(message.title, message.examples) for message in table.view.messages] == [
        ("3 rows are blank, and are not read.", ["line 3", "line 7", "line 8"]),
        ("1 row repeats the headings, and is not read.", ["line 4"]),
        ("1 row only draws a line, and is not read.", ["line 5"]),
        ("2 new queries get the ids Q001 to Q002.", ()),
    ]
