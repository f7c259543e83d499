import gzip
import io
import json
import tracemalloc

import pytest

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import Caps, TableFile, open_source, read_csv, read_jsonl, read_lines


def source(data: bytes, **caps) -> TableFile:
    return TableFile("f.txt", io.BytesIO(data), Caps(**caps))


def csv_rows(data: bytes, errors=None, required=("a",), **options):
    return list(read_csv(source(data), errors if errors is not None else ErrorList(), required=required, **options))


class Endless(io.RawIOBase):
    """One line that never ends, made as it is read."""

    def __init__(self, piece: bytes, times: int) -> None:
        self.data, self.left = piece, times

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, *_):
        return 0

    def readinto(self, buffer):
        if not self.left:
            return 0
        self.left -= 1
        size = min(len(buffer), len(self.data))
        buffer[:size] = self.data[:size]
        return size


def test_lines_are_numbered_from_one_without_mark_or_endings():
    assert list(read_lines(source(b"\xef\xbb\xbfone\r\n\ntwo"))) == [(1, "one"), (2, ""), (3, "two")]


def test_a_line_that_is_not_utf8_is_named():
    with pytest.raises(InputError) as caught:
        list(read_lines(source("gut\nsch\xf6n\n".encode("latin-1"))))

    assert caught.value.line == 2
    assert "byte 4 (0xf6) is not UTF-8" in caught.value.message


@pytest.mark.parametrize("data", [b"a\rb\rc\r", b"a,b\r1,2\r"])
def test_lines_that_end_in_cr_alone_are_refused_with_their_line(data):
    readers = [
        lambda: list(read_lines(source(b"x\n" + data))),
        lambda: list(read_csv(source(b"a,b\n" + data), ErrorList(), required=["a"])),
    ]

    for read in readers:
        with pytest.raises(InputError, match="a carriage return") as caught:
            read()

        assert (caught.value.line, caught.value.field) == (2, "line end")


def test_where_no_line_ends_in_lf_cr_ends_lines():
    assert list(read_lines(source(b"one\rtwo\r\rthree"))) == [(1, "one"), (2, "two"), (3, ""), (4, "three")]
    rows = read_csv(source(b'a,b\r1,2\r"x\ry",z\r'), ErrorList(), required=["a"])
    assert list(rows) == [(2, {"a": "1", "b": "2"}), (3, {"a": "x\ny", "b": "z"})]


def test_one_endless_line_is_refused_with_flat_memory():
    endless = io.BufferedReader(Endless(b"x" * 65536, 16_000))
    tracemalloc.start()
    with pytest.raises(InputError, match="longer than 5,000,000 bytes"):
        list(read_lines(TableFile("f", endless)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 20_000_000


def test_gzip_is_recognised_by_its_bytes(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(gzip.compress(b"one\ntwo\n"))

    with open_source(path) as opened:
        assert [text for _, text in read_lines(opened)] == ["one", "two"]


UNREADABLE = {
    "UTF-16": "a".encode("utf-16"),
    "NUL": b"a\0b\n",
    "more than 200 times its size": gzip.compress((b"0" * 999 + b"\n") * 60_000),
    "damaged or cut off": gzip.compress(json.dumps(list(range(5000))).encode())[:-20],
}


@pytest.mark.parametrize(("words", "data"), UNREADABLE.items(), ids=UNREADABLE)
def test_what_cannot_be_read_to_its_end_is_refused_in_words(words, data):
    with pytest.raises(InputError, match=words):
        list(read_lines(source(data)))


def test_a_missing_file_is_refused_in_words(tmp_path):
    with pytest.raises(InputError, match="cannot be opened"), open_source(tmp_path / "none.csv"):
        pass


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b'a,b\n1,"two\nlines"\n\n3,4\n', [(2, {"a": "1", "b": "two\nlines"}), (5, {"a": "3", "b": "4"})]),
        (b'a,b\r\n"x\ry",2\r\n', [(2, {"a": "x\ry", "b": "2"})]),
        (b"a\n'=1+1\n", [(2, {"a": "=1+1"})]),
    ],
    ids=["first line of each record", "a carriage return in quotes is text", "made safe on export"],
)
def test_csv_gives_records_with_their_lines(data, rows):
    assert csv_rows(data) == rows


def test_all_missing_columns_are_named_at_once_with_the_heading_of_the_file():
    errors = ErrorList()
    source = TableFile("f.csv", io.BytesIO(b"id,body\n1,2\n"))

    with pytest.raises(InputError) as caught:
        list(read_csv(source, errors, required=["block_id", "document_id", "text"]))

    assert caught.value.field == "block_id, document_id, text"
    assert caught.value.message == "these columns are missing; the file has id, body"


NAMES = ("block_id", "block", "docno")


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_several_names_is_read_under_the_one_it_has(name):
    source = TableFile("f.csv", io.BytesIO(f"{name},g\nb1,2\n".encode()))

    assert list(read_csv(source, ErrorList(), required=[NAMES, "g"])) == [(2, {name: "b1", "g": "2"})]


@pytest.mark.parametrize(
    ("heading", "field", "message"),
    [
        ("id,g", "block_id", "this column is missing; looked for block_id, block, docno; the file has id, g"),
        ("docno,block,g", "docno", "block and docno mean the same; keep one of them"),
    ],
)
def test_a_column_of_several_names_is_there_once(heading, field, message):
    source = TableFile("f.csv", io.BytesIO(f"{heading}\n1,2,3\n".encode()))

    with pytest.raises(InputError) as caught:
        list(read_csv(source, ErrorList(), required=[NAMES, "g"]))

    assert (caught.value.field, caught.value.message) == (field, message)


def test_a_row_of_another_width_is_listed_and_reading_goes_on():
    errors = ErrorList()

    rows = csv_rows(b"a,b\n1\n2,3\n", errors)

    assert rows == [(3, {"a": "2", "b": "3"})]
    assert [(error.line, error.message) for error in errors] == [(2, "the row has 1 cells, the header has 2")]


@pytest.mark.parametrize(
    ("data", "field", "message"),
    [
        (b"", "", "the file is empty"),
        (b"b\n1\n", "a", "this column is missing"),
        (b"a,a\n1,2\n", "a", "two columns have this name"),
        (b"a,zz\n1,2\n", "zz", "unknown column"),
        (",".join(f"c{n}" for n in range(1001)).encode(), "", "more than 1,000 columns"),
    ],
)
def test_a_bad_header_is_refused(data, field, message):
    with pytest.raises(InputError, match=message) as caught:
        csv_rows(data, known=["a", "b"])

    assert caught.value.field == field


def test_a_quote_that_is_never_closed_is_refused_where_it_opens_and_so_is_text_after_one():
    data = b'a\n1\n"' + b"x\n" * 2000

    with pytest.raises(InputError) as caught:
        list(read_csv(source(data, line_bytes=500), ErrorList(), required=["a"]))

    assert caught.value.line == 3
    with pytest.raises(InputError, match="quoting is broken"):
        csv_rows(b'a\n"one" more\n')


def test_jsonl_gives_objects_with_their_lines():
    assert list(read_jsonl(source(b'{"a": 1}\n\n{"a": 2}\n'), ErrorList())) == [(1, {"a": 1}), (3, {"a": 2})]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": ', "not JSON"),
        ("[1]", "must be one JSON object"),
        ('{"a": 1, "a": 2}', "'a' appears twice"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": 1e999}', "1e999 is too large"),
        ('{"a": "\\u0000"}', "NUL"),
        ('{"a": "\\ud800"}', "surrogate"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested deeper than 64"),
    ],
)
def test_a_bad_json_line_is_listed_and_reading_goes_on(line, message):
    errors = ErrorList()

    rows = list(read_jsonl(source(line.encode() + b'\n{"b": 1}\n'), errors))

    assert rows == [(2, {"b": 1})]
    assert message in next(iter(errors)).message


def test_brackets_inside_strings_are_not_nesting():
    line = json.dumps({"a": "[" * 500, "b": "\\u0000"}).encode()

    assert len(list(read_jsonl(source(line), ErrorList()))) == 1
