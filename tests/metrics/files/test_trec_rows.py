import contextlib
import gzip
import io
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.common.errors import InputError
from apps.metrics.files.trec_batches import read_run_parts
from apps.metrics.files.trec_rows import QrelRow, TrecRunRow, parse_qrels, parse_run, read_qrel_rows, read_run_rows
from tests.walks import often

FOUR = " where there must be four: query, iteration, block, grade."
SIX = " where there must be six: query, Q0, block, rank, score, tag."


def qrels(text: str | bytes) -> list[QrelRow]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(parse_qrels(data.split(b"\n"), "q.txt"))


def run(text: str | bytes) -> list[TrecRunRow]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(parse_run(data.split(b"\n"), "r.txt"))


def refused(read, text) -> InputError:
    with pytest.raises(InputError) as caught:
        read(text)
    return caught.value


def refusal(read, text) -> str:
    return str(refused(read, text))


@pytest.mark.parametrize(
    ("read", "text", "rows"),
    [
        (qrels, "Q1 0 B7 2\nQ1 0 B8 -1\n", [QrelRow("Q1", "B7", 2), QrelRow("Q1", "B8", -1)]),
        (qrels, "Q1 0 B7 2\r\nQ2 0 B7 1\r\n", [QrelRow("Q1", "B7", 2), QrelRow("Q2", "B7", 1)]),
        (qrels, "Ä 0 a\u00a0b 1\n", [QrelRow("Ä", "a\u00a0b", 1)]),
        (run, "Q1\tQ0\tB7\t1\t 3.5e1\tbm25\n", [TrecRunRow("Q1", "B7", 1, 35.0, "bm25")]),
    ],
)
def test_a_line_becomes_a_row(read, text, rows):
    assert read(text) == rows


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Q1 0 B7", "line 1, line: 3 fields" + FOUR),
        ("Q1", "line 1, line: 1 field" + FOUR),
        ("Q1 0 B7 0.5", "line 1, grade: '0.5' is not a whole number; grades are whole, such as 0, 1, 2 or 3."),
        ("Q1 0 B7 1_0", "line 1, grade: '1_0' is not a number."),
        ("Q1 0 B7 ³", "line 1, grade: '³' is not a number."),
        ("Q1 0 B\x007 1", "line 1, block: 'B�7' contains a NUL byte."),
        (b"Q1 0 B\xff 1\n", "line 1, block: 'B�' is not UTF-8 text."),
        ("# a comment\n\nQ1 0 B#7 1\nQ1 0 B8 x\n", "line 4, grade: 'x' is not a number."),
    ],
)
def test_a_bad_qrels_line_is_refused_in_words(line, said):
    assert refusal(qrels, line) == "q.txt, " + said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Q1 Q0 B7 1 2.0", "line 1, line: 5 fields" + SIX),
        ("q1 Q0 doc 1 9.5 t\nq1 Q0 doc 2 1 8.5 t\n", "line 2, line: 7 fields" + SIX),
        ("Q1 Q0 B7 first 2.0 t", "line 1, rank: 'first' is not a whole number."),
        ("Q1 Q0 B7 1 abc t", "line 1, score: 'abc' is not a number."),
        ("Q1 Q0 B7 1 nan t", "line 1, score: 'nan' is not a finite number."),
        ("Q1 Q0 B7 1 -inf t", "line 1, score: '-inf' is not a finite number."),
        ("Q1 Q0 B7 1 1e999 t", "line 1, score: '1e999' is too large to be a finite number."),
        ("Q1 Q0 B7 1 1_000 t", "line 1, score: '1_000' is not a number."),
        (
            "Q1 Q0 B7 1 2 t\nQ2 Q0 B7 1 2 t\nQ1 Q0 B7 3 1 t\n",
            "line 3, block: 'B7' appears twice for query 'Q1', first in line 1.",
        ),
    ],
)
def test_a_bad_run_line_is_refused_in_words(line, said):
    assert refusal(run, line) == "r.txt, " + said


@pytest.mark.parametrize("read", [qrels, run])
@pytest.mark.parametrize("start", ["", "# a comment\r", "\r"])
def test_a_file_whose_lines_end_in_cr_alone_is_refused_by_its_line(read, start):
    row = "Q1 0 B7 2\r" if read is qrels else "Q1 Q0 B7 1 2 t\r"

    error = refused(read, start + row * 3)

    assert (error.line, error.field) == (1, "line end")
    assert error.message.startswith("the line contains a carriage return (CR).")


def test_a_cr_in_one_line_of_many_is_named():
    assert refused(qrels, "Q1 0 B7 2\r\nQ1 0 B8 2\rQ1 0 B9 1\nQ2 0 B7 1\n").line == 2


def test_an_error_carries_its_parts():
    with pytest.raises(InputError) as caught:
        run("Q1 Q0 B7 1 abc t")

    error = caught.value
    assert (error.file, error.line, error.field, error.value) == ("r.txt", 1, "score", "abc")


PACKED = gzip.compress(b"Q1 0 B7 2\n" * 1000)


@pytest.mark.parametrize(
    ("data", "queries"),
    [
        (b"", []),
        (gzip.compress(b"Q1 0 B7 2\n"), ["Q1"]),  # known by its bytes, not by its name
        (b"\xef\xbb\xbfQ1 0 B7 2\nQ2 0 B7 1", ["Q1", "Q2"]),
    ],
    ids=["empty", "packed", "mark"],
)
def test_a_file_is_read_empty_packed_or_with_a_byte_order_mark(tmp_path, data, queries):
    path = tmp_path / "qrels.txt"
    path.write_bytes(data)

    assert [row.query_id for row in read_qrel_rows(path)] == queries


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "qrels.txt: cannot be read: No such file or directory."),
        (PACKED[:-12], "cannot be read"),
        (PACKED[:20] + bytes(10) + PACKED[30:], "cannot be read"),
        ("Q1 0 B7 2\n".encode("utf-16") + b"x", ": the file is damaged: it begins as UTF-16 and does not go on so."),
        (b"Q1 0 B7 2\n" + b"x" * 3_000_000, ", line 2, line: longer than 64 KiB."),
        (b"Q1 0 B7 2\n" + b"x" * 3_000_000 + b"\n", ", line 2, line: longer than 64 KiB."),
    ],
    ids=["missing", "cut off", "damaged", "UTF-16", "long last line", "long line"],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, data, said):
    path = tmp_path / "qrels.txt"
    if data is not None:
        path.write_bytes(data)

    assert said in refusal(lambda p: list(read_qrel_rows(p)), path)


def test_a_dash_reads_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"Q1 0 B7 2")))

    assert list(read_qrel_rows("-")) == [QrelRow("Q1", "B7", 2)]


@given(st.binary(max_size=300), st.sampled_from([qrels, run]))
def test_any_bytes_give_rows_or_a_refusal(data, read):
    with contextlib.suppress(InputError):
        assert all(row.query_id and row.block_id for row in read(data))


def parts(path) -> list[tuple[str, str, float]]:
    return [
        (query.decode(), block.decode(), score)
        for part in read_run_parts(path)
        for query, block, score in zip(
            np.repeat(np.array(list(part.queries), dtype=object), part.lengths),
            part.blocks,
            part.scores.tolist(),
            strict=True,
        )
    ]


@pytest.mark.parametrize("read", [lambda path: list(read_run_rows(path)), parts])
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"Q1 Q0 a 1 1.0\nQ1 Q0 b 2 1.0 t u\n", "line 1, line: 5 fields"),  # five and seven make twelve
        (
            b"\xef\xbb\xbfQ1 Q0 a 1 2 t\n\xef\xbb\xbfQ2 Q0 a 1 2 t\n",
            "line 2, query: '�Q2' begins with a byte order mark",
        ),
        (
            b"".join(b"Q%d Q0 B7 1 2 t\r" % number for number in range(20_000)),  # and not: too long a line
            "the line contains a carriage return (CR)",
        ),
    ],
    ids=["fields", "mark", "ends"],
)
def test_both_readers_refuse_what_could_be_misread(tmp_path, read, data, said):
    path = tmp_path / "run.txt"
    path.write_bytes(data)

    assert said in refusal(read, path)


field = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\x0b\x0c\x00\ufeff"), min_size=1, max_size=4
)
line = st.tuples(field, st.sampled_from(["Q0", "0"]), field, st.integers(0, 9), st.floats(-9, 9), st.sampled_from("ab"))


@given(st.lists(line, max_size=30, unique_by=lambda row: (row[0], row[2])), st.sampled_from(["\n", "\r\n"]))
def test_many_rows_at_a_time_are_the_rows_one_by_one(tmp_path_factory, lines, ending):
    path = tmp_path_factory.mktemp("run") / "run.txt"
    path.write_bytes("".join(" ".join(map(str, row)) + ending for row in lines).encode())

    assert parts(path) == [(row.query_id, row.block_id, row.score) for row in read_run_rows(path)]


@pytest.mark.parametrize(
    "bad",
    [
        "Q1 Q0 b 2 abc t",
        "Q1 Q0 b 2 nan t",
        "Q1 Q0 b 2 1_0 t",
        "Q1 Q0 b two 1.0 t",
        "Q1 Q0 b 2 1.0",
        "Q1 Q0 b\x00 2 1.0 t",
    ],
)
def test_a_bad_row_among_many_is_named_by_its_line(tmp_path, bad):
    path = tmp_path / "run.txt"
    good = "".join(f"Q{n} Q0 a {n} 1.0 t\n" for n in range(100_000))
    path.write_text(good + bad + "\nQ2 Q0 b 1 1.0 t more\n")

    with pytest.raises(InputError) as caught:
        parts(path)

    assert caught.value.line == 100_001


ENDS = st.sampled_from(
    [b"\n", b"\r\n", b"\r", b"\r\r\n", b"\n\r", b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\xe2\x80\xa8", b" "]
)
word = st.sampled_from([b"Q1", b"Q2", b"0", b"1", b"2", b"8.5", b"t", b"B\xc2\xa07", b"#x"])


@pytest.mark.slow
@given(st.lists(st.tuples(st.lists(word, min_size=3, max_size=8), ENDS), max_size=8), st.sampled_from([4, 6]))
@settings(max_examples=often(25, 300))
def test_lines_of_any_ends_and_widths_are_read_as_written_or_refused(lines, width):
    """Nothing between: each newline ends a line, a line has exactly as many fields as its form, or all is refused."""
    data = b"".join(b" ".join(fields) + end for fields, end in lines)
    whole = [line.strip(b"\r ") for line in data.split(b"\n")]
    wanted = [line.split() for line in whole if line.strip() and not line.strip().startswith(b"#")]
    read = qrels if width == 4 else run
    rows = None
    with contextlib.suppress(InputError):
        rows = read(data)
    if rows is None:
        return
    assert not any(b"\r" in line for line in whole)
    assert all(len(fields) == width for fields in wanted)
    assert [(row.query_id.encode(), row.block_id.encode()) for row in rows] == [(row[0], row[2]) for row in wanted]


def test_blank_and_comment_lines_are_read_many_at_a_time_too(tmp_path):
    path = tmp_path / "run.txt"
    path.write_bytes(b"\xef\xbb\xbf# made by hand\n\nQ1 Q0 a 1 1.0 t\nQ1 Q0 b 2 0.5 t")

    assert parts(path) == [("Q1", "a", 1.0), ("Q1", "b", 0.5)]
