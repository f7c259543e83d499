"""Logs as other programs write them, and values that no log should have."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.corpus.models import Import
from apps.querylogs.core.columns import Search, reader, time_of
from apps.querylogs.imports import LogImportForm
from apps.querylogs.models import MaskedName
from tests.factories import AT, lead_of, make_project
from tests.querylogs.factories import as_csv, draw, searches, upload

pytestmark = pytest.mark.django_db


def read(**cells: str) -> Search:
    return reader(list(cells))(list(cells.values()))


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("1,234", 1234),
        ("1.234", 1234),
        ("12,00", 12),
        ("12.0", 12),
        ("-5", 1),
        ("", 1),
        ("many", 1),
        ("9" * 400, 10**9),
    ],
)
def test_counts_are_read_as_people_write_them_and_are_never_too_large(written, number):
    assert read(text="key", count=written).times == number


@pytest.mark.parametrize(
    ("written", "number"), [("0 hits", 0), ("55 hits", 55), ("10000+ hits", 10000), ("[]", 0), ("", -1)]
)
def test_results_are_read_as_search_engines_write_them(written, number):
    assert read(text="key", results=written).results == number


@pytest.mark.parametrize("written", ["-", "null", "(not set)", "Anonymous", " "])
def test_a_person_whom_the_log_does_not_know_is_nobody(written):
    assert read(text="key", person=written).person == ""


@pytest.mark.parametrize(
    "written",
    [
        "2026-08-04 09:12:00.123456 UTC", "2026-08-04 09:12:00,000", "08/04/2026 09:12:00 AM", "1785834720",
        "1785834720000", "1785834720000000", "1785834720000000000", "Tue, 04 Aug 2026 09:12:00 GMT",
        "[04/Aug/2026:09:12:00 +0000]",
    ],
)  # fmt: skip
def test_times_are_read_in_the_forms_of_servers_and_databases(written):
    assert time_of(written) == 1785834720


@pytest.mark.parametrize(
    "written", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1899-12-30", "9" * 5000]
)
def test_a_time_that_no_search_can_have_is_none(written):
    assert time_of(written) is None


HEADED = {
    "Zeitpunkt;Benutzer;Suchbegriff;Treffer;Klicks": {"Benutzer": "person", "Suchbegriff": "text"},
    "Search Term;Total Unique Searches;Results Page Views / Search": {"Results Page Views / Search": ""},
}


@pytest.mark.parametrize("headings", HEADED)
def test_columns_of_usual_exports_are_known(headings):
    names = headings.split(";")
    row = ["key" if name in {"Suchbegriff", "Search Term"} else "1" for name in names]
    item = upload(make_project(), as_csv([row, row], names))
    columns = item.plan["table"]["choice"]["columns"]
    assert HEADED[headings].items() <= columns.items()


def ubi(number: int) -> list[dict]:
    queries = [
        {"query_id": f"a{n}", "client_id": f"c{n % 9}", "user_query": "key rotation", "object_id_field": "id"}
        for n in range(number)
    ]
    events = [
        {"query_id": f"a{n}", "client_id": f"c{n % 9}", "action_name": name, "user_query": "key rotation",
         "event_attributes": {"object": {"object_id": "b2"}}}
        for n in range(number) for name in ("impression", "click")
    ]  # fmt: skip
    return queries + events


def test_events_after_hundreds_of_queries_are_joined_and_count_as_no_searches():
    log = draw(upload(make_project(), "\n".join(map(json.dumps, ubi(300))).encode(), name="ubi.jsonl"))

    offered = log.offered.get()
    assert (offered.searches, offered.clicks, log.figures["left_out"]["empty"]) == (300, 9, 0)


def test_a_field_that_few_objects_have_is_no_heading_nor_is_a_name_of_the_list():
    project = make_project()
    MaskedName.objects.create(project=project, name="Acme", created_by=lead_of(project), created_at=AT)
    rows = [{"q": "key", "uid": f"u{n}", "Acme": "1", "by": {f"Person {n}": "1"}} for n in range(200)]

    item = upload(project, "\n".join(map(json.dumps, rows)).encode(), name="log.jsonl")

    assert list(item.plan["table"]["choice"]["columns"]) == ["q", "uid"]


def test_a_team_of_few_is_not_taken_for_robots():
    rows = [[f"key {n % 20}", f"u{n // 20 % 6}"] for n in range(6_000)]
    item = upload(make_project(), as_csv(rows, ["q", "uid"]))
    assert item.plan["log"]["left_out"]["robots"] == 0


def test_json_of_which_nothing_can_be_read_says_so():
    item = upload(make_project(), b'{"q": "a\\u0000b"}\n{"q": "secret', name="log.jsonl")
    assert item.plan["errors"][0]["message"] == "No line of the file is a JSON object that can be read."
    assert "secret" not in json.dumps(Import.objects.get(pk=item.pk).plan)


def test_a_drawn_import_says_how_many_searches_its_file_had():
    item = upload(make_project(), as_csv(searches(300)))
    draw(item)
    item.refresh_from_db()
    assert item.result["rows"] == 300


def test_the_name_of_the_file_is_masked_too():
    file = SimpleUploadedFile("log of anna@example.com.csv.gz", b"q,uid\nkey,u1\n")
    form = LogImportForm({"people": 5, "wanted": 20, "plan": "balanced"}, {"file": file}, project=make_project())

    assert form.is_valid(), form.errors
    assert form.cleaned_data["file"].name == "log of [e-mail].csv.gz"
