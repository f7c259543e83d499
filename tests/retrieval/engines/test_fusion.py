import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.registry import Fusion


def fused(*rankings, k=60.0, depth=10):
    systems = tuple("abcdefgh"[: max(2, len(rankings))])
    positions, scores = Fusion(systems, k).fuse([np.array(one, dtype=np.int32) for one in rankings], depth)
    return list(zip(positions.tolist(), scores.tolist(), strict=True))


def test_ranks_count_by_their_reciprocal():
    assert fused([7, 3], [3, 9], k=1.0) == [(3, 1 / 3 + 1 / 2), (7, 1 / 2), (9, 1 / 3)]


def test_ties_are_in_descending_position():
    assert [position for position, _ in fused([1, 5], [8, 2])] == [8, 1, 5, 2]


def test_results_below_the_depth_do_not_count():
    assert fused([1, 2, 3], [4, 2, 3], depth=1) == [(4, 1 / 61)]


def test_nothing_fused_with_nothing_is_nothing():
    assert fused([], []) == []


def slowly(rankings, k, depth):
    scores = {}
    for ranking in rankings:
        for rank, position in enumerate(ranking[:depth], start=1):
            scores[position] = scores.get(position, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda row: (row[1], row[0]), reverse=True)[:depth]


rankings = st.lists(st.lists(st.integers(0, 30), unique=True, max_size=25), min_size=2, max_size=5)


@given(rankings=rankings, k=st.floats(0, 100), depth=st.integers(1, 30))
def test_fusion_is_that_of_a_slow_reference(rankings, k, depth):
    assert fused(*rankings, k=k, depth=depth) == slowly(rankings, k, depth)


def test_the_order_in_which_systems_are_named_does_not_matter():
    assert Fusion(("b", "a")) == Fusion(("a", "b"))
    assert Fusion(("b", "a")).identity()["systems"] == ["a", "b"]


@pytest.mark.parametrize(
    ("systems", "k", "sentence"),
    [
        (("a",), 60.0, "A fusion needs at least two different systems."),
        (("a", "a", "b"), 60.0, "A fusion needs at least two different systems."),
        (("a", "b"), -1.0, "k must be a number from 0 to 10000, not -1."),
        (("a", "b"), float("nan"), "k must be a number from 0 to 10000, not nan."),
    ],
)
def test_a_wrong_fusion_is_refused(systems, k, sentence):
    with pytest.raises(BadParameters) as refused:
        Fusion(systems, k)

    assert str(refused.value) == sentence
