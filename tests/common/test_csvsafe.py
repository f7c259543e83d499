import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.files.csvsafe import csv_lines, restore_cell, safe_cell, text_cell, workbook_cell

SIGNS = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "＝1", "＋1", "－1", "＠x"]
DANGEROUS = [*SIGNS, "  =1", "'=1", "''-1"]


@pytest.mark.parametrize("cell", DANGEROUS)
def test_a_dangerous_cell_begins_with_an_apostrophe(cell):
    assert safe_cell(cell) == "'" + cell


@pytest.mark.parametrize("cell", ["", "plain", "'quoted'", "a=b", "1-2", "e-mail", "3 - 4"])
def test_a_harmless_cell_is_left_alone(cell):
    assert safe_cell(cell) == cell


NUMBERS = ["007", "00", "1.0", "1,5", "3E5", "10e-5", "123456789012", "1-2", "1/2", "2026-11-30", "12:30", "3 PM"]
NUMBERS += ["5 %", "(5)", " 7", "MAR1", "Sept 2", "5. Mai 2026", "May 5, 2026", "TRUE", "falsch", "'007", "''1-2"]


@pytest.mark.parametrize("cell", NUMBERS)
def test_what_a_spreadsheet_would_show_otherwise_is_kept_as_text_in_what_people_download(cell):
    assert text_cell(cell) == "'" + cell
    assert restore_cell("'" + cell) == cell


@pytest.mark.parametrize("cell", ["7", "0", "12345678901", "may", "Mars", "janus2", "3p", "Q01", "sec-4.2", "1 dog"])
def test_what_it_would_show_as_it_is_is_left_alone(cell):
    assert text_cell(cell) == safe_cell(cell) == cell


def test_output_of_the_command_line_keeps_ids_as_they_are():
    assert safe_cell("007") == "007"


CELLS = st.text() | st.text(alphabet="'=+-@＝＋－＠\t\r\n a") | st.text(alphabet="'0123e.,-/: mayTRUE")


@pytest.mark.parametrize("written", [safe_cell, text_cell, workbook_cell])
@given(cell=CELLS)
def test_written_then_restored_is_the_identity(written, cell):
    assert restore_cell(written(cell)) == cell


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=4))
def test_a_download_begins_with_a_mark_and_is_read_as_its_cells(rows):
    text = "".join(csv_lines([["query", "text"], *rows]))

    assert text.startswith("\ufeffquery,text\n")
    read = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True))
    assert [list(map(restore_cell, row)) for row in read] == [["query", "text"], *rows]


def test_numbers_of_a_download_are_numbers():
    assert "".join(csv_lines([["value"], [-0.5], [None], [7]])) == '\ufeffvalue\n-0.5\n""\n7\n'


def test_everything_else_that_people_download_is_written_the_same_way():
    apps = Path(__file__).parents[2] / "apps"
    others = ["accounts/core/addresses.py", "cli/arguments.py", "common/files/csvsafe.py"]
    """Names in one header of a mail, and what commands print."""

    writing = [path for path in apps.rglob("*.py") if "csv.writer(" in path.read_text()]
    assert sorted(path.relative_to(apps).as_posix() for path in writing) == others


@given(st.text(alphabet="'=+-@＝＋－＠\t\r\n a"))
def test_no_exported_cell_begins_with_a_formula_sign(cell):
    written = safe_cell(cell)

    assert not written.lstrip().startswith(tuple("=+-@＝＋－＠"))
    assert not written.startswith(("\t", "\r", "\n"))
