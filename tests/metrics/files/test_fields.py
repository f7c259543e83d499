import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.metrics.files.packed_fields import plain_fields
from apps.metrics.files.trec_batches import read_qrels_parts
from apps.metrics.files.trec_rows import read_qrel_rows

ID = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\x0b\x0c\x00\ufeff"), min_size=1, max_size=30
)


def numbers(*texts: str) -> list[float] | None:
    found = plain_fields("".join(f"{text} x\n" for text in texts).encode(), 2).column(0).numbers()
    return None if found is None else found.tolist()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_a_number_is_the_double_nearest_to_what_is_written(values):
    plain = [repr(value) for value in values if len(repr(value)) <= 24] or ["0"]

    assert numbers(*plain) == [float(text) for text in plain]


@pytest.mark.parametrize("bad", ["nan", "inf", "1_0", "0x1p3", "1-2", "1.2.3", "e5", "-", ".", "1e999", "1" * 25])
def test_what_is_not_plainly_a_number_is_left_to_the_reader_of_lines(bad):
    assert numbers("1.5", bad, "2") is None


@given(st.lists(st.tuples(ID, ID), min_size=1, max_size=20))
def test_ids_come_out_as_they_went_in(rows):
    rows = [row for row in rows if not row[0].startswith("#") and min("".join(row).encode()) > 32] or [("a", "b")]

    fields = plain_fields("".join(f"{a} {b}\n" for a, b in rows).encode(), 2)

    assert list(fields.column(0).ids()) == [a.encode() for a, _ in rows]
    assert list(fields.column(1).ids()) == [b.encode() for _, b in rows]


def test_stretches_show_where_a_value_changes():
    fields = plain_fields(b"Q1 a\nQ1 b\nQ10 c\nQ1 d", 2)

    values, lengths = fields.column(0).stretches()

    assert (list(values), lengths.tolist()) == ([b"Q1", b"Q10", b"Q1"], [2, 1, 1])


@pytest.mark.parametrize(
    "chunk",
    [b"a  b\n", b" a b\n", b"a b \n", b"a b\n\n", b"# b\n", b"a\nb c d\n", b"a \x1cb\n", b"\xff b\n", b"a\x00 b\n"],
)
def test_lines_that_are_not_plain_are_left_to_the_reader_of_lines(chunk):
    assert plain_fields(chunk, 2) is None


def test_windows_line_ends_and_tabs_are_plain():
    assert list(plain_fields(b"a\tb\r\nc d\r\n", 2).column(1).ids()) == [b"b", b"d"]


@pytest.mark.parametrize(("text", "whole"), [("12", 12), ("123456789", None), ("-1", None), ("1.0", None)])
def test_whole_numbers_are_digits_alone(text, whole):
    found = plain_fields(f"{text} x\n".encode(), 2).column(0).wholes()

    assert (found if found is None else found.tolist()) == (None if whole is None else [whole])


@given(
    st.lists(st.tuples(ID, ID, st.integers(-3, 9)), max_size=30, unique_by=lambda row: row[:2]),
    st.sampled_from([" ", "\t", "  "]),
)
def test_many_judgements_at_a_time_are_the_judgements_one_by_one(tmp_path_factory, rows, gap):
    path = tmp_path_factory.mktemp("qrels") / "qrels.txt"
    path.write_bytes("".join(f"{q}{gap}0 {b} {grade}\n" for q, b, grade in rows).encode())

    found = [
        (query.decode(), block.decode(), grade)
        for part in read_qrels_parts(path)
        for query, block, grade in zip(
            np.repeat(np.array(list(part.queries), dtype=object), part.lengths),
            part.blocks,
            part.grades.tolist(),
            strict=True,
        )
    ]

    assert found == [(row.query_id, row.block_id, row.grade) for row in read_qrel_rows(path)]


def test_minus_zero_keeps_its_sign():
    assert math.copysign(1, numbers("-0.0")[0]) == -1


def test_an_id_far_longer_than_all_others_does_not_widen_the_column():
    long = "x" * 5_000

    column = plain_fields(f"{long} a\nb c\n".encode(), 2).column(0)

    assert list(column.ids()) == [long.encode(), b"b"]
    assert column.ids().words.shape == (2, 2)
