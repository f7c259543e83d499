import csv
import gzip
import io
import json
import subprocess
import sys
import zipfile
from contextlib import suppress
from datetime import date, datetime, time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from apps.common.errors import InputError
from apps.common.files.anytable import Table, letters_of, open_table, separator_of
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.common.files.workbooks import PROGRAM
from tests.common.workbooks import saved, workbook


def table_in(data: bytes, name: str = "searches", **options) -> tuple[Table, list, ErrorList]:
    errors = ErrorList()
    table = open_table(TableFile(name, io.BytesIO(data)), errors, **options)
    return table, list(table.rows), errors


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", "^"])
def test_any_separator_is_recognised(separator):
    text = f'query{separator}"grade, as given"\nkey rotation{separator}2\n"one{separator} two"{separator}3\n'

    table, rows, errors = table_in(text.encode())

    assert table.headings == ["query", "grade, as given"]
    assert rows == [(2, ["key rotation", "2"]), (3, [f"one{separator} two", "3"])]
    assert not errors


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("query;note\nhow, when, why;a, b\nwhere, then;c\n", (";", '"')),
        ("'query','note'\n'how, when','a'\n'where','b'\n", (",", "'")),
        ("it's,one\nit isn't,two\n", (",", '"')),
    ],
)
def test_separator_and_quote_are_those_that_divide_the_rows_alike(text, found):
    assert separator_of(text) == found


READ = {
    "one column": (b"query\nkey rotation\nhow, when\n", ["query"], {2: ["key rotation"], 3: ["how, when"]}),
    "a carriage return inside a cell": (
        b'query,grade\n"key\rrotation",1\n',
        ["query", "grade"],
        {2: ["key\rrotation", "1"]},
    ),
    "gzip": (gzip.compress(b"query;grade\na;1\n"), ["query", "grade"], {2: ["a", "1"]}),
    "titles above the headings": (
        b"Searches of March\n\nquery,grade,notes\n\na,1,\n\nb,2,fine\n",
        ["query", "grade", "notes"],
        {5: ["a", "1", ""], 7: ["b", "2", "fine"]},
    ),
    "commas in a note, which are no headings": (
        b"query,grade,notes\nkeys,2,\nsites,1,old, slow, wrong\nplans,0,\n",
        ["query", "grade", "notes"],
        {2: ["keys", "2", ""], 3: "the row has 5 cells, there are 3 headings", 4: ["plans", "0", ""]},
    ),
    "empty and doubled headings": (
        b"query,,note,note,\na,b,c,d,\n",
        ["query", "unnamed B", "note", "note D"],
        {2: list("abcd")},
    ),
    "rows of other widths": (
        b"a,b\n1,2,3\n4\n5,6,\n",
        ["a", "b"],
        {2: "the row has 3 cells, there are 2 headings", 3: ["4", ""], 4: ["5", "6"]},
    ),
    "a cell that is too long": (
        b"a,b\n" + b"x" * 100_001 + b",1\ny,2\n",
        ["a", "b"],
        {2: "the cell is longer than 100,000 characters", 3: ["y", "2"]},
    ),
}
"""By case: the bytes, the headings, and for each number of a row its cells or what is wrong with it."""


@pytest.mark.parametrize(("data", "headings", "lines"), READ.values(), ids=READ)
def test_a_table_is_read_with_the_numbers_of_its_rows_and_its_mistakes(data, headings, lines):
    table, rows, errors = table_in(data)

    assert table.headings == headings
    assert dict(rows) | {error.line: error.message for error in errors} == lines


@pytest.mark.parametrize(
    ("encoding", "text", "said"),
    [
        ("utf-8", "Frage;Note\nSchlüssel;1\n", "a table separated by semicolons"),
        ("utf-8-sig", "Frage;Note\nSchlüssel;1\n", "a table separated by semicolons"),
        ("cp1252", "Frage;Note\nSchlüssel;1\nPreis in €;2\n", "a table separated by semicolons, read as Windows-1252"),
        ("utf-16", "Frage\tNote\nSchlüssel\t1\n", "a table separated by tabs, read as UTF-16"),
        ("utf-16-le", "Frage\tNote\nSchlüssel\t1\n", "a table separated by tabs, read as UTF-16"),
        ("cp1251", "запрос;оценка\nкак сменить ключ;хорошо\nгде документ;плохо\n", "read as Windows-1251"),
        ("cp1250", "dotaz;známka\njak změnit klíč;dobře\nžluťoučký kůň příliš;2\n", "read as Windows-1250"),
        ("shift_jis", "質問;評価\n鍵の交換方法;良い\nファイルの場所;悪い\n", "read as Shift JIS"),
    ],
)
def test_the_encoding_is_recognised_and_named(encoding, text, said):
    table, rows, _ = table_in(text.encode(encoding))

    assert said in table.how
    assert [table.headings, *(cells for _, cells in rows)] == [
        line.split(";" if ";" in text else "\t") for line in text.splitlines()
    ]


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_lines_that_end_in_a_carriage_return_alone_are_lines(encoding, packed):
    text = 'Frage;Note\rSchlüssel;1\r"zwei\rZeilen";2\r'

    table, rows, errors = table_in(packed(text.encode(encoding)))

    assert table.headings == ["Frage", "Note"]
    assert rows == [(2, ["Schlüssel", "1"]), (3, ["zwei\nZeilen", "2"])]
    assert not errors


def test_a_large_table_whose_lines_end_in_a_carriage_return_alone_is_read_to_its_end():
    data = b"query,grade\r" + b"key rotation,1\r" * 50_000

    _, rows, _ = table_in(data)

    assert (len(rows), rows[-1]) == (50_000, (50_001, ["key rotation", "1"]))


def test_a_gzip_bomb_of_carriage_returns_is_refused():
    bomb = gzip.compress(b"query,grade\r" + (b"0" * 999 + b"\r") * 60_000)

    with pytest.raises(InputError, match="more than 200 times its size"):
        table_in(bomb)


def test_a_letter_beyond_ascii_far_down_is_noticed():
    data = b"query,grade\n" + b"key rotation,1\n" * 50_000 + "Schlüssel,2\n".encode("cp1252")

    table, rows, _ = table_in(data)

    assert table.how == "a table separated by commas, read as Windows-1252"
    assert rows[-1] == (50_002, ["Schlüssel", "2"])


@pytest.mark.parametrize("data", [b"", b"\n\n", b" , ,\n", b"%PDF-1.7 and more", b"PK\x03\x04 not a workbook"])
def test_what_is_no_table_is_refused_in_a_sentence(data):
    with pytest.raises(InputError):
        table_in(data)


def test_the_cells_of_a_workbook_are_read_as_a_person_reads_them():
    rows = [
        ["query", "grade", "share", "checked", "at", "hour", "open"],
        ["key rotation", 5, 0.25, date(2026, 11, 3), datetime(2026, 11, 3, 10, 5), time(9, 30), True],
    ]

    table, read, _ = table_in(workbook({"Ratings": rows}))

    assert table.how == "a workbook"
    assert read == [(2, ["key rotation", "5", "0.25", "2026-11-03", "2026-11-03 10:05:00", "09:30:00", "TRUE"])]


def test_a_sheet_is_chosen_by_name_and_hidden_ones_are_not_offered():
    data = workbook({"Cover": [], "March": [["q"], ["a"]], "April": [["q"], ["b"]], "Old": [["q"], ["c"]]}, ["Old"])

    table, rows, _ = table_in(data)
    assert (table.sheet, table.sheets, rows) == ("March", ["Cover", "March", "April"], [(2, ["a"])])
    assert table_in(data, sheet="April")[1] == [(2, ["b"])]
    with pytest.raises(InputError, match="no visible sheet of this name"):
        table_in(data, sheet="Old")


def test_rows_of_a_workbook_keep_their_numbers():
    book = Workbook()
    book.active["B3"], book.active["C3"] = "query", "grade"
    book.active["B5"], book.active["C5"] = "a", 1

    table, rows, _ = table_in(saved(book))

    assert (table.line, table.headings, rows) == (3, ["query", "grade"], [(5, ["a", "1"])])


def test_a_sheet_that_reaches_too_far_or_repeats_a_long_text_is_refused_and_the_server_goes_on():
    far, long = Workbook(), Workbook()
    far.active["A1"], far.active["XFD1048576"] = "query", "far away"
    long.active.append(["x" * 32_000] * 1_000)

    for book in (far, long):
        with pytest.raises(InputError, match="too much memory"):
            table_in(saved(book))


def test_a_damaged_workbook_is_refused():
    data = workbook({"Ratings": [["query"], ["a"]]})
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("[Content_Types].xml", "<nothing/>")

    for damaged in (data[:-200], packed.getvalue(), b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)):
        with pytest.raises(InputError, match="damaged"):
            table_in(damaged, "searches.xlsx")


def test_a_workbook_is_read_where_the_system_knows_no_limits():
    program = "import sys, runpy; sys.modules['resource'] = None; runpy.run_path(sys.argv.pop(1), run_name='__main__')"
    data = workbook({"Ratings": [["query"], ["a"]]})

    done = subprocess.run([sys.executable, "-c", program, str(PROGRAM)], input=data, capture_output=True, check=True)

    assert done.stdout.splitlines() == [b'{"sheets":["Ratings"],"sheet":"Ratings"}', b'[1,"query"]', b'[2,"a"]']


def test_a_workbook_may_be_left_half_read():
    rows = [["query"], *[[f"search {number}"] for number in range(5_000)]]
    table = open_table(TableFile("f", io.BytesIO(workbook({"Ratings": rows}))), ErrorList())

    assert next(table.rows) == (2, ["search 0"])
    del table


def test_columns_have_the_letters_of_a_spreadsheet():
    assert [letters_of(place) for place in (0, 25, 26, 51, 52, 701, 702)] == ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]


cells = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0", exclude_categories=("Cs",)), max_size=12)


@given(
    rows=st.lists(st.tuples(*[st.from_regex(r"[a-z,;|\t]{1,9}", fullmatch=True)] * 3), min_size=1, max_size=6),
    separator=st.sampled_from([",", ";", "\t", "|"]),
)
@settings(deadline=None)
def test_a_table_with_all_cells_quoted_comes_back_as_it_was(rows, separator):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([["one", "two", "three"], *rows])

    assert [cells for _, cells in table_in(out.getvalue().encode())[1]] == [
        list(row) for row in rows if any(map(str.strip, row))
    ]


@given(data=st.binary(max_size=300) | st.text(max_size=100).map(lambda text: text.encode("utf-16")))
@settings(deadline=None)
def test_any_bytes_are_a_table_or_a_sentence(data):
    with suppress(InputError):
        table, rows, _ = table_in(data)
        assert all(len(cells) == len(table.headings) for _, cells in rows)


@pytest.mark.parametrize(
    ("record", "headings"),
    [
        ({"": "D1", "b": "x"}, ["unnamed field", "b"]),
        ({"a b": "1", "a": {"b": "2"}}, ["a b", "b"]),
        ({"a b": "1", "a": {"b": "2"}, "b": "3"}, ["a b", "a b 2", "b"]),
    ],
)
def test_every_field_of_json_has_a_heading_of_its_own(record, headings):
    source = TableFile("f", io.BytesIO(json.dumps([record]).encode()))

    assert sorted(open_table(source, ErrorList()).headings) == sorted(headings)


@pytest.mark.parametrize("content", [b"[{}]", b"[{}, {}]", b'[{"a": {}}]'])
def test_json_without_any_field_is_a_table_without_columns(content):
    table = open_table(TableFile("f", io.BytesIO(content)), ErrorList())

    assert not table.headings
    assert all(cells == [] for _, cells in table.rows)
