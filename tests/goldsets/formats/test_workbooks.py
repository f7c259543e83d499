"""Tables as workbooks: what Excel can hold, what it cannot, and the same bytes each time."""

import io
import zipfile

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.files.csvsafe import restore_cell
from apps.common.files.tabular import TableFile
from apps.common.files.workbooks import read_sheet
from apps.goldsets.formats import workbooks as written_workbooks
from apps.goldsets.formats.content import Unwritable
from apps.goldsets.formats.workbooks import LONGEST_TEXT, workbooks
from tests.goldsets.content import written

COLUMNS = {"id": 16, "notes": 50, "grade": 16}
LETTERS = st.characters(exclude_categories=["Cs", "Cc", "Cn"], include_characters="\t\n\r")
TEXTS = st.text(LETTERS, min_size=1) | st.sampled_from(["_x000D_", "_x0041_x0042_", "a_x005F_", "'=x", "''007"])


def rows_in(data: bytes) -> list[list[str]]:
    return [row for _, row in read_sheet(TableFile("a.xlsx", io.BytesIO(data))).rows]


@given(TEXTS)
def test_every_text_comes_back_as_it_was(text):
    (data,) = written(workbooks("a", COLUMNS, [("007", text, 3)])).values()

    assert [restore_cell(cell) for cell in rows_in(data)[1]] == ["007", text, "3"]


def test_the_same_rows_are_the_same_bytes_with_fixed_times_and_nothing_packed():
    one, two = (written(workbooks("a", COLUMNS, [("007", "ö\nx", 3)])) for _ in range(2))

    assert one == two
    entries = zipfile.ZipFile(io.BytesIO(one["a.xlsx"])).infolist()
    assert {(entry.date_time, entry.compress_type) for entry in entries} == {
        ((1980, 1, 1, 0, 0, 0), zipfile.ZIP_STORED)
    }


def test_an_empty_table_has_its_headings():
    (data,) = written(workbooks("a", COLUMNS, [])).values()

    assert rows_in(data) == [["id", "notes", "grade"]]


def test_a_reader_of_another_make_finds_texts_numbers_and_empty_cells():
    (data,) = written(workbooks("a", COLUMNS, [("1-2", "=1+1\n&", 3), ("3E5", "", None)])).values()

    sheet = openpyxl.load_workbook(io.BytesIO(data))["judgements"]
    assert [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)] == [
        ["1-2", "=1+1\n&", 3],
        ["3E5", None, None],
    ]
    assert sheet["B2"].data_type == "s"
    assert sheet["B2"].alignment.wrap_text


def test_more_rows_than_a_sheet_has_go_on_in_another_workbook(monkeypatch):
    monkeypatch.setattr(written_workbooks, "MOST_ROWS", 2)

    files = written(workbooks("a", COLUMNS, [(f"{n}", "", n) for n in range(5)]))

    assert list(files) == ["a.xlsx", "a-2.xlsx", "a-3.xlsx"]
    assert [row[0] for data in files.values() for row in rows_in(data)[1:]] == list("01234")


def test_a_text_that_no_cell_can_have_is_refused_with_a_way_out():
    with pytest.raises(Unwritable, match=r"longer than the 32,767 characters.* Export CSV, JSONL or Parquet"):
        written(workbooks("a", COLUMNS, [("1", "x" * (LONGEST_TEXT + 1), 0)]))


def test_signs_that_xml_cannot_have_are_left_out():
    (data,) = written(workbooks("a", COLUMNS, [("1", "a\x00b\x0ec\ufffe", 0)])).values()

    assert rows_in(data)[1] == ["1", "abc", "0"]
