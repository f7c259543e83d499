"""Leaving one system out, worked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.metrics.columns import Judged, Ranked
from apps.metrics.measures.registry import measure_run, parse_measures
from apps.metrics.statistics.intervals import difference_interval
from apps.reports.core.bias import (
    BY_CHANCE,
    SEVERAL,
    UNKNOWN,
    Finds,
    LeftOutSystem,
    SystemMeans,
    change_intervals,
    kendall_tau,
    means_of,
    moves,
    ranks,
    sole_finders,
    verdict,
    without,
)
from tests.reports.test_negatives import ints

ALPHA, BETA = 1, 2
P2 = parse_measures("P@2")


def means_under(judgements, measures, run, ids):
    return [means_of(measure_run(measures, judged, run, ids)) for judged in judgements]


def judged(*rows):
    """Grades of one or more queries: (query, block, grade) rows."""
    columns = ints(*rows).reshape(-1, 3) if rows else np.empty((0, 3), dtype=np.int64)
    names = tuple(f"Q{n}" for n in range(int(columns[:, 0].max(initial=-1)) + 1))
    return Judged(names, *(columns[:, n].copy() for n in range(3)))


def finds(*rows):
    columns = ints(*rows).reshape(-1, 3)
    return Finds(*(columns[:, n].copy() for n in range(3)))


def ranked(*blocks):
    """One query's ranking, best first."""
    return Ranked(ints(*[0] * len(blocks)), ints(*blocks), -np.arange(len(blocks), dtype=np.float64))


def test_a_pair_belongs_to_the_one_system_that_brought_it_in():
    grades = judged((0, 10, 1), (0, 11, 0), (0, 12, 2), (0, 13, 1), (0, 14, 1))
    found = finds((0, 10, ALPHA), (0, 10, ALPHA), (0, 11, ALPHA), (0, 11, BETA), (0, 12, BETA), (0, 14, ALPHA))
    chance = Finds(*(np.append(column, value) for column, value in zip(found, (0, 14, BY_CHANCE), strict=True)))

    assert sole_finders(grades, chance).tolist() == [ALPHA, SEVERAL, BETA, UNKNOWN, SEVERAL]


def test_nothing_is_known_where_no_pool_wrote_anything_down():
    nobody = Finds(*(np.empty(0, dtype=np.int64) for _ in range(3)))

    assert sole_finders(judged((0, 1, 1), (0, 2, 0)), nobody).tolist() == [UNKNOWN, UNKNOWN]


def test_leaving_a_system_out_by_hand():
    """Alpha ranks 10, 11, Beta 11, 12; 10 and 11 are relevant, 10 was brought in by Alpha alone.

    P@2 with all grades: Alpha 1, Beta ½. Without Alpha's own grade both have ½: Alpha loses ½ and its lead.
    """
    grades = judged((0, 10, 1), (0, 11, 1), (0, 12, 0))
    sole = sole_finders(grades, finds((0, 10, ALPHA), (0, 11, ALPHA), (0, 11, BETA), (0, 12, BETA)))
    grounds = [grades, without(grades, sole == ALPHA), without(grades, sole == BETA)]

    alpha = means_under(grounds, P2, ranked(10, 11), range(20))
    beta = means_under(grounds, P2, ranked(11, 12), range(20))

    assert alpha == [[1.0], [0.5], [1.0]]
    assert beta == [[0.5], [0.5], [0.5]]
    runs = [SystemMeans("alpha-1", ALPHA, alpha[0]), SystemMeans("beta-1", BETA, beta[0])]
    out = [
        LeftOutSystem(ALPHA, "Alpha", 1, 1, [alpha[1], beta[1]]),
        LeftOutSystem(BETA, "Beta", 1, 0, [alpha[2], beta[2]]),
    ]
    first, second = moves(runs, out, 0)
    assert (first.change, first.rank_before, first.rank_after, first.others_most) == (-0.5, 1, 1, 0.0)
    assert (second.change, second.rank_before, second.rank_after) == (0.0, 2, 2)
    assert verdict([first, second], "P@2") == (
        "No run changes its rank when its own family is left out; leaving out Alpha costs it 0.500 P@2."
    )


def test_a_query_whose_grades_are_all_gone_still_counts():
    grades = judged((0, 10, 1), (1, 11, 1))

    left = without(grades, np.array([False, True]))

    assert left.queries == grades.queries
    assert means_under([grades, left], P2, ranked(10), range(20)) == [[0.25], [0.25]]


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ([0.5, 0.7, 0.6], [3, 1, 2]),
        ([0.5, 0.5, 0.4], [1, 1, 3]),
        ([0.1 + 0.2, 0.3, None], [1, 1, 3]),
        ([], []),
    ],
)
def test_equal_means_share_the_better_rank(means, expected):
    assert ranks(means) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([3.0, 2.0, 1.0], [0.3, 0.2, 0.1], 1.0),
        ([3.0, 2.0, 1.0], [0.1, 0.2, 0.3], -1.0),
        ([3.0, 2.0, 1.0], [0.2, 0.3, 0.1], 1 / 3),
        ([3.0, 2.0, 1.0], [0.2, 0.2, 0.1], 2 / 6**0.5),
        ([1.0], [2.0], None),
        ([1.0, 1.0], [1.0, 2.0], None),
    ],
)
def test_kendalls_tau(before, after, expected):
    assert kendall_tau(before, after) == (None if expected is None else pytest.approx(expected))


def moves_of(*moved):
    runs = [SystemMeans(f"run-{n}", n, [before]) for n, (before, _) in enumerate(moved, 1)]
    out = [
        LeftOutSystem(
            run.system, f"System {n}", 3, 1, [[moved[n][1]] if m == n else [moved[m][0]] for m in range(len(moved))]
        )
        for n, run in enumerate(runs)
    ]
    return moves(runs, out, 0)


def test_the_verdict_says_how_far_and_how_much():
    found = moves_of((0.50, 0.48), (0.49, 0.485), (0.40, 0.40))

    assert [(move.rank_before, move.rank_after) for move in found] == [(1, 2), (2, 2), (3, 3)]
    assert verdict(found, "nDCG@10") == (
        "No run moves more than one place when its own family is left out; leaving out System 0 costs it 0.020 nDCG@10."
    )


def test_the_verdict_when_nothing_is_lost_or_nothing_can_be_computed():
    even = moves_of((0.5, 0.5), (0.4, 0.4))

    assert verdict(even, "AP") == "No run changes its rank when its own family is left out, and none scores lower."
    assert verdict(even[:1], "AP").startswith("One run has nothing")
    unshared = [move._replace(left_out=move.left_out._replace(pairs=0)) for move in even]
    assert verdict(unshared, "AP").startswith("No graded pair was found by one family alone")


blocks = st.permutations(range(8)).map(lambda order: order[:4])


@given(alpha=blocks, beta=blocks, grades=st.lists(st.integers(0, 3), min_size=8, max_size=8), depth=st.integers(1, 4))
def test_leaving_out_a_system_that_brought_nothing_of_its_own_changes_nothing(alpha, beta, grades, depth):
    """Pooled to a depth: what only Gamma, whose run is Beta's again, brought in is nothing."""
    pooled = sorted({*alpha[:depth], *beta[:depth]})
    ground = judged(*[(0, block, grades[block]) for block in pooled])
    rows = [(0, block, system) for system, run in ((1, alpha), (2, beta), (3, beta)) for block in run[:depth]]
    sole = sole_finders(ground, finds(*rows))
    measures = parse_measures("nDCG@3 AP RR P@2")

    for system in (2, 3):
        assert not (sole == system).any()
        left = without(ground, sole == system)
        for run in (alpha, beta):
            first, second = means_under([ground, left], measures, ranked(*run), range(8))
            assert first == second


def test_what_two_systems_of_a_family_found_only_that_family_found():
    judged = Judged(("Q",), *(np.array(column) for column in ([0, 0, 0], [1, 2, 3], [1, 1, 0])))
    finds = Finds(*(np.array(column) for column in ([0] * 5, [1, 1, 2, 2, 3], [7, 8, 7, 9, BY_CHANCE])))

    assert sole_finders(judged, finds).tolist() == [SEVERAL, SEVERAL, BY_CHANCE]
    assert sole_finders(judged, finds.by_family({7: 7, 8: 7})).tolist() == [7, SEVERAL, BY_CHANCE]


def test_a_change_has_the_interval_of_a_paired_difference():
    before, after = np.array([[0.5, 1.0], [0.7, np.nan], [0.4, 0.2]]), np.array([[0.4, 0.5], [0.7, np.nan], [0.1, 0.2]])

    first, second = change_intervals(before, after)

    assert first == pytest.approx(difference_interval(np.array([-0.1, 0.0, -0.3]), 0.95))
    assert second == pytest.approx(difference_interval(np.array([-0.5, 0.0]), 0.95))
