"""What people open in Excel, as it is or saved there again, comes back as what went out: ids, grades and notes."""

import csv
import io
import re

import openpyxl
import pytest

from apps.common.files.csvsafe import restore_cell
from apps.common.files.tabular import TableFile
from apps.corpus.selectors.import_kinds import FileToImport, kind_named
from apps.goldsets.enums import VersionState
from apps.goldsets.execution import exporting
from apps.judging.imports.judgements import named_choice
from apps.judging.models import Judgement
from tests.factories import AT, make_project
from tests.goldsets.factories import Bench, make_source, make_version
from tests.retrieval.factories import make_queries
from tests.triples.factories import make_snapshot

pytestmark = pytest.mark.django_db

QUERIES = {
    "007": "Öffnung der Kasse\nam Montag",
    "1-2": "10,5 %",
    "3E5": "=1+1",
    "=x": "true",
    "123456789012345678": "'tis “quoted”, <b>bold</b> & _x0041_",
}
BLOCKS = {"0012": "Kasse", "1.2": "Preise", "MAR1": "Hütte", "2026-11-30": "Tag", "-5": "Grad"}
NOTES = ["", "ja, „gut“; und\nin zwei Zeilen", "007", "'007", "=HYPERLINK(A1)"]
NAMES = ["csv/judgements.csv", "xlsx/judgements.xlsx", "relevance/judgements.csv", "notes/judgements.csv"]
NAMES += ["notes/judgements.xlsx"]
OPTIONS = {"format": "auto", "columns": "", "grades": "", "name": "", "skip_unknown": False}


def written(rows, **form) -> bytes:
    out = io.StringIO()
    csv.writer(out, **form).writerows(rows)
    return out.getvalue().encode()


def imported(bench: Bench, name: str, data: bytes, person: str):
    source = TableFile(name.split("/")[-1], io.BytesIO(data))
    options = OPTIONS | {"snapshot": str(bench.snapshot.pk), "person": person}
    plan = kind_named("judgements").apply(
        FileToImport(bench.project, source, options | named_choice(options)), actor=bench.lead, at=AT
    )
    assert not plan.errors
    return bench.project.rounds.latest("pk")


def graded(round_) -> set[tuple]:
    rows = Judgement.objects.filter(round=round_)
    return set(rows.values_list("entry__query__outside_id", "entry__version__block__outside_id", "grade", "note"))


@pytest.fixture(scope="module")
def bench(module_rows):
    """One person's grades and notes of each block for each query, all of them hard for a spreadsheet."""
    project = make_project()
    snapshot = make_snapshot(project, {key: f"{words} {key}" for key, words in BLOCKS.items()})
    make_queries(project, QUERIES)
    bench = Bench(project, snapshot, None, None, make_source(project))
    project.queries.update(source=bench.source)
    pairs = [(query, block) for query in QUERIES for block in BLOCKS]
    rows = [(*map(quoted, pair), str(n % 4), quoted(NOTES[n % len(NOTES)])) for n, pair in enumerate(pairs)]
    data = written([("query_id", "doc_id", "grade", "notes"), *rows])
    bench.round = imported(bench, "first.csv", data, "Ada")
    return bench


def quoted(text: str) -> str:
    """So that the import takes nothing from it."""
    return text if restore_cell(text) == text else f"'{text}"


@pytest.fixture(scope="module")
def files(bench, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    version = make_version(VersionState.RELEASED, bench)
    exporting.write(version, folder, formats=["csv", "xlsx", "relevance", "notes"])
    return {name: (folder / name).read_bytes() for name in NAMES}


def test_what_is_hard_for_a_spreadsheet_is_what_was_graded(bench):
    assert {note for *_, note in graded(bench.round)} == set(NOTES)
    assert len(graded(bench.round)) == len(QUERIES) * len(BLOCKS)


# A stand-in for Excel, by what it is known to do on opening and saving


def shown_in_excel(cell: str) -> str:
    """What Excel makes of a cell of CSV, as it would save it."""
    number = cell.strip()
    if re.fullmatch(r"[0-9]+", number):
        return number.lstrip("0") or "0" if len(number.lstrip("0")) < 12 else f"{int(number):.5E}"
    if re.fullmatch(r"[0-9]*[.,]?[0-9]+[eE][+-]?[0-9]+", number):
        return f"{float(number.replace(',', '.')):.2E}"
    if re.fullmatch(r"[0-9]{1,4}[-/.][0-9]{1,2}([-/.][0-9]{1,4})?|(jan|mar|sep)[a-z]*[ -]?[0-9]{1,2}", number.lower()):
        return "01.Mrz"
    if number.lower() in {"true", "wahr"}:
        return "WAHR"
    return "#NAME?" if cell.startswith(("=", "+", "-")) else cell


def opened_in_excel(data: bytes) -> list[list[str]]:
    """The cells that a double click shows, in a country with decimal commas."""
    text = data.decode("utf-8-sig") if data.startswith(b"\xef\xbb\xbf") else data.decode("cp1252", errors="replace")
    return [list(map(shown_in_excel, row)) for row in csv.reader(io.StringIO(text, newline=""))]


def saved_in_excel(data: bytes) -> bytes:
    return written(opened_in_excel(data), delimiter=";").decode().encode("cp1252")


def saved_by_openpyxl(data: bytes) -> bytes:
    book = openpyxl.load_workbook(io.BytesIO(data))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_the_stand_in_harms_what_is_not_kept():
    rows = [["007", "10E5", "1-2", "123456789012", "=x", "Ö"]]
    assert opened_in_excel(written(rows)) == [["7", "1.00E+06", "01.Mrz", "1.23457E+11", "#NAME?", "Ã–"]]


FOR_PROGRAMS = "csv/judgements.csv"
"""A version's own file, of which it keeps the bytes; the workbook beside it is the one for spreadsheets."""


@pytest.mark.parametrize("name", ["relevance/judgements.csv", "notes/judgements.csv"])
def test_a_csv_opens_by_a_double_click_with_all_that_is_in_it(files, name):
    heading, *rows = opened_in_excel(files[name])

    assert len(rows) == len(QUERIES) * len(BLOCKS)
    cells = [dict(zip(heading, map(restore_cell, row), strict=True)) for row in rows]
    assert {(row["query_id"], row["query_text"]) for row in cells} == set(QUERIES.items())
    assert {row["doc_id"] for row in cells} == set(BLOCKS)


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".xlsx")])
def test_a_workbook_has_headings_that_stay_and_ids_as_text(files, name):
    sheet = openpyxl.load_workbook(io.BytesIO(files[name])).active
    heading, *rows = sheet.iter_rows()

    assert sheet.freeze_panes == "A2"
    assert [cell.font.bold for cell in heading] == [True] * len(heading)
    kinds = {cell.value: {row[place].data_type for row in rows} for place, cell in enumerate(heading)}
    assert (kinds["query_id"], kinds["doc_id"], kinds["grade"]) == ({"s"}, {"s"}, {"n"})
    assert {(row[0].value, row[2].value) for row in rows} == {(query, block) for query in QUERIES for block in BLOCKS}
    assert {row[0].number_format for row in rows} == {"@"}


SAVED = {
    "as it is": lambda name, data: data,
    "saved again": lambda name, data: (saved_by_openpyxl if name.endswith(".xlsx") else saved_in_excel)(data),
}


@pytest.mark.parametrize(
    ("name", "saved"), [(name, way) for name in NAMES for way in SAVED if (name, way) != (FOR_PROGRAMS, "saved again")]
)
def test_grades_and_notes_come_back(bench, files, name, saved, db):
    before = graded(bench.round)

    after = graded(imported(bench, name, SAVED[saved](name, files[name]), "Bob"))

    assert {row[:3] for row in after} == {row[:3] for row in before}
    if name.startswith("notes/"):
        assert after == before
