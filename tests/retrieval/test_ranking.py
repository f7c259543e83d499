import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.core import ranking

entries = st.dictionaries(st.integers(0, 2**31 - 1), st.floats(allow_nan=False, allow_infinity=False), max_size=30)


@given(entries)
def test_a_ranking_comes_back_as_it_was_packed(found):
    positions, scores = (
        np.array(list(found), dtype=np.int64),
        np.array(list(found.values()), dtype=np.float64),
    )
    order = ranking.in_order(positions, scores)

    packed = ranking.pack(positions[order], scores[order])

    again = ranking.unpack(packed)
    assert len(packed) == 12 * len(found)
    assert again[0].tolist() == positions[order].tolist()
    assert again[1].tobytes() == scores[order].tobytes()


def test_the_bytes_are_little_endian_positions_then_scores():
    assert ranking.pack([2, 1], [0.5, 0.5]).hex() == "0200000001000000" + "000000000000e03f" * 2


def test_an_empty_ranking_is_zero_bytes():
    assert ranking.pack([], []) == b""
    assert [column.tolist() for column in ranking.unpack(b"")] == [[], []]


@pytest.mark.parametrize(
    ("positions", "scores"),
    [
        ([1, 2], [0.1, 0.2]),
        ([1, 2], [0.2, 0.2]),
        ([2, 2], [0.2, 0.2]),
        ([2, 1, 2], [0.3, 0.2, 0.1]),
        ([1], [0.2, 0.1]),
        ([1], [float("nan")]),
        ([1], [float("inf")]),
    ],
)
def test_an_invalid_ranking_is_rejected(positions, scores):
    with pytest.raises(ValueError):
        ranking.pack(positions, scores)


def test_cut_off_bytes_are_refused():
    with pytest.raises(ValueError, match="not a whole number of entries"):
        ranking.unpack(b"\0" * 13)


def test_order_is_by_score_then_position_both_descending():
    assert ranking.in_order([5, 9, 7, 1], [0.5, 0.5, 0.9, 0.1]).tolist() == [2, 1, 0, 3]
