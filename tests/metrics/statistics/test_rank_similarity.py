"""How alike two rankings are, against other implementations and against every way to go on."""

import itertools
import math

import numpy as np
import pytest

from apps.metrics.columns import Ranked
from apps.metrics.statistics.rank_similarity import rank_overlaps, tau_ap, tau_aps


def ranked(*lists):
    """One ranking of letters for each query."""
    query = np.repeat(np.arange(len(lists)), [len(one) for one in lists])
    block = np.array([ord(letter) for one in lists for letter in one], dtype=np.int64)
    return Ranked(query, block, -np.arange(len(block), dtype=np.float64))


def overlap(first, second, p):
    return [float(ends[0]) for ends in rank_overlaps(ranked(first), ranked(second), 1, p)]


@pytest.mark.parametrize(
    ("first", "second", "p", "theirs"),
    [
        ("abcdefg", "bacdhij", 0.9, 0.6394345714285714),
        ("abcdefg", "bacdhij", 0.5, 0.4818452380952381),
        ("abcde", "abcde", 0.9, 1.0),
        ("abc", "xyz", 0.9, 0.0),
        ("abcdefghij", "cab", 0.9, 0.855),
        ("abcdefghij", "cab", 0.5, 0.375),
        ("abcdz", "edcbafg", 0.9, 0.606555),
    ],
)
def test_the_extrapolated_overlap_equals_that_of_the_rbo_package(first, second, p, theirs):
    """Version 0.1.3; lists of one length and of two."""
    assert overlap(first, second, p)[0] == pytest.approx(theirs, abs=1e-12)
    assert overlap(second, first, p)[0] == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second"), [("abcdefg", "bacdhij"), ("abc", "xyz"), ("abcdefghij", "cab"), ("a", "")]
)
def test_its_ends_are_reached_by_rankings_that_go_on_apart_or_alike(first, second):
    p, far = 0.5, 60

    def whole(one, other):
        shares = (len(set(one[:depth]) & set(other[:depth])) / depth for depth in range(1, far + 1))
        return math.fsum((1 - p) * p**at * share for at, share in enumerate(shares))

    def going_on(one, first_of_rest, start):
        return [*one, *first_of_rest, *range(start, start + far)][:far]

    apart = whole(going_on(first, "", 0), going_on(second, "", 1000))
    alike = whole(
        going_on(first, [letter for letter in second if letter not in first], 0),
        going_on(second, [letter for letter in first if letter not in second], 0),
    )

    assert overlap(first, second, p)[1:] == pytest.approx([apart, alike], abs=1e-12)


def test_every_query_has_the_overlap_it_has_alone_and_none_without_results():
    firsts, seconds = ["abc", "", "abcdef", "q", ""], ["bcd", "xy", "fa", "q", ""]

    together = rank_overlaps(ranked(*firsts), ranked(*seconds), 5)

    alone = [overlap(first, second, 0.9) for first, second in zip(firsts, seconds, strict=True)]
    np.testing.assert_allclose(np.array(together).T, np.array(alone), atol=1e-12)
    assert [bool(np.isnan(value)) for value in together.value] == [False, False, False, False, True]


X = [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992]
Y = [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988]
X2 = [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38]
Y2 = [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644]
X3 = [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445]
Y3 = [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25]


@pytest.mark.parametrize(
    ("before", "after", "plain", "tied"), [(X, Y, 0.8333, 0.7321), (X2, Y2, 0.2880, 0.297), (X3, Y3, -0.668, -0.7047)]
)
def test_tau_ap_equals_that_of_its_authors_with_ties_and_without(before, after, plain, tied):
    """Figures of the R package ircor, to the four digits that its tests have; ties by rounding to one decimal."""
    before, after = np.array(before), np.array(after)

    assert tau_ap(before, after) == pytest.approx(plain, abs=5e-5)
    assert tau_ap(np.round(before, 1), np.round(after, 1)) == pytest.approx(tied, abs=5e-5)


def test_tau_ap_is_that_of_the_definition_and_counts_the_top_more():
    """Without ties: the mean over the places but the first of the share above that belongs there, taken both ways."""
    order = [5.0, 4.0, 3.0, 2.0, 1.0]

    def one_way(reference, other):
        ranked_runs = sorted(range(5), key=lambda run: -other[run])
        shares = [
            sum(reference[above] > reference[run] for above in ranked_runs[:at]) / at
            for at, run in enumerate(ranked_runs)
            if at
        ]
        return 2 * sum(shares) / 4 - 1

    every = np.array(list(itertools.permutations(order)))
    found = tau_aps(np.array([order]), every)

    wanted = [(one_way(order, other) + one_way(other, order)) / 2 for other in every.tolist()]
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    top, bottom = np.array([4.0, 5.0, 3.0, 2.0, 1.0]), np.array([5.0, 4.0, 3.0, 1.0, 2.0])
    assert tau_ap(np.array(order), top) == pytest.approx(0.5)
    assert tau_ap(np.array(order), bottom) == pytest.approx(0.875)


def test_an_order_of_ties_alone_has_no_tau_ap():
    assert tau_ap(np.ones(3), np.array([1.0, 2.0, 3.0])) is None
    assert tau_ap(np.ones(1), np.ones(1)) is None
