"""What to judge first, against trying out every grade of every unjudged block."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from apps.metrics.columns import Judged, Ranked
from apps.metrics.measures.registry import measure_run, parse_measure
from apps.reports.core.unjudged_priority import Top, UnjudgedPriority, weighing

TOP_GRADE = 2
MEASURES = {name: parse_measure(name) for name in ("nDCG@3", "nDCG(dcg='exp-log2')@2", "P@2", "P(rel=2)@3")}


def ints(values):
    return np.array(list(values), dtype=np.int64)


def ground_of(grades, queries):
    """Judgements from a dict of (query, block) to grade."""
    rows = sorted((query, block, grade) for (query, block), grade in grades.items())
    columns = ints(rows).reshape(-1, 3)
    return Judged(tuple(f"Q{n}" for n in range(queries)), *(columns[:, n].copy() for n in range(3)))


def top_of(run):
    """A run as a list of rankings, one a query."""
    rows = [(query, block, rank) for query, blocks in enumerate(run) for rank, block in enumerate(blocks)]
    columns = ints(rows).reshape(-1, 3)
    return Top(*(columns[:, n].copy() for n in range(3)))


def race_of(name, grades, runs):
    measure = MEASURES.get(name) or parse_measure(name)
    return UnjudgedPriority(
        ground_of(grades, len(runs[0])), [top_of(run) for run in runs], weighing(measure, TOP_GRADE)
    )


def mean(name, grades, run):
    """The mean by the measures that the scores are made of."""
    top = top_of(run)
    ranked = Ranked(top.query, top.block, -top.rank.astype(np.float64))
    values = measure_run([parse_measure(name)], ground_of(grades, len(run)), ranked, range(20))
    return float(np.nanmean(values))


@st.composite
def small_cases(draw):
    queries = draw(st.integers(1, 2))
    rankings = st.permutations(range(4)).map(lambda order: order[:3])
    runs = [[draw(rankings) for _ in range(queries)] for _ in range(3)]
    pairs = [(query, block) for query in range(queries) for block in range(5)]
    grades = {pair: draw(st.integers(0, TOP_GRADE)) for pair in pairs if draw(st.booleans())}
    assume(grades)
    return grades, runs


@pytest.mark.parametrize("name", sorted(MEASURES))
@settings(max_examples=25, deadline=None)
@given(case=small_cases())
def test_swings_and_bounds_are_what_trying_every_grade_finds(name, case):
    grades, runs = case
    race = race_of(name, grades, runs)
    values = [mean(name, grades, run) for run in runs]
    assert race.means == pytest.approx(values)

    unjudged = list(zip(*(column.tolist() for column in race.unjudged), strict=True))
    swings = dict.fromkeys(unjudged, 0.0)
    for pair in race.neighbours:
        gap = values[pair.better] - values[pair.worse]
        assert pair.gap == pytest.approx(gap)
        least = gap
        for tried in product(range(TOP_GRADE + 1), repeat=min(4, len(unjudged))):
            known = grades | dict(zip(unjudged, tried, strict=False))
            least = min(least, mean(name, known, runs[pair.better]) - mean(name, known, runs[pair.worse]))
        assert pair.least <= least + 1e-9
        if pair.is_settled:
            continue
        for one in unjudged:
            tried = [grades | {one: grade} for grade in range(1, TOP_GRADE + 1)]
            apart = [mean(name, known, runs[pair.better]) - mean(name, known, runs[pair.worse]) for known in tried]
            swings[one] += max(abs(value - gap) for value in apart)
    assert race.swings == pytest.approx([swings[one] for one in unjudged])


def test_the_block_with_the_widest_swing_can_turn_the_order():
    """P@2: the better run leads by one hit. Block 7, which only the other ranks, would make them equal or more."""
    grades = {(0, 1): 1, (0, 2): 0, (0, 3): 0}
    runs = [[[1, 2, 4]], [[7, 3, 4]], [[2, 3, 4]]]

    race = race_of("P@2", grades, runs)

    chosen = race.first(5)
    assert list(zip(chosen.query.tolist(), chosen.block.tolist(), strict=True)) == [(0, 7)]
    known = grades | {(0, 7): 2}
    assert mean("P@2", grades, runs[0]) - mean("P@2", grades, runs[1]) == 0.5
    assert mean("P@2", known, runs[0]) - mean("P@2", known, runs[1]) == 0.0


def test_a_block_with_equal_weight_in_neighbouring_runs_cannot_change_their_order():
    grades = {(0, 1): 1, (0, 2): 0}
    runs = [[[1, 9, 5]], [[2, 9, 6]]]

    race = race_of("P@2", grades, runs)

    assert race.unjudged[1].tolist() == [9]
    assert race.first(5).block.tolist() == []
    assert [pair.is_settled for pair in race.neighbours] == [True]


def test_settled_neighbours_need_no_judgements():
    """Two queries, one open block: it can give the worse run half a point back, and it is behind by a whole one."""
    grades = {(0, 1): 1, (0, 2): 1, (0, 3): 0, (1, 1): 1, (1, 2): 1, (1, 4): 0}
    runs = [[[1, 2], [1, 2]], [[3, 8], [4, 3]]]
    grades[1, 3] = 0

    race = race_of("P@2", grades, runs)

    assert [(pair.gap, pair.is_settled) for pair in race.neighbours] == [(1.0, True)]
    assert race.unjudged[1].tolist() == [8]
    assert len(race.first(9).block) == 0


def test_pairs_are_sorted_by_swing_and_limited_to_the_requested_number():
    """Equal so far: rank 1 weighs more than rank 2 in nDCG, so what stands there comes first."""
    runs = [[[1, 2]], [[3, 4]]]
    grades = {(0, 5): 1}

    race = race_of("nDCG@2", grades, runs)

    assert race.first(9).block.tolist() == [1, 3, 2, 4]
    assert race.first(2).block.tolist() == [1, 3]
    assert race.first(9).swing == pytest.approx(sorted(race.first(9).swing, reverse=True))


@pytest.mark.parametrize("name", ["AP", "RR", "nDCG", "Recall@100", "P@1000"])
def test_rbp_replaces_measures_without_fixed_weights(name):
    found = weighing(parse_measure(name), 3)

    assert found.name == "RBP(p=0.8)"
    assert found.discounts[:3] == pytest.approx([0.2, 0.16, 0.128])
    assert found.gains.tolist() == [1.0, 1.0, 1.0]
    assert not found.is_normalised


def test_without_judgements_or_results_there_is_nothing_to_say():
    nothing = UnjudgedPriority(ground_of({}, 0), [top_of([]), top_of([])], weighing(MEASURES["P@2"], 1))

    assert nothing.first(3).block.tolist() == []
    assert [pair.gap for pair in nothing.neighbours] == [0.0]
