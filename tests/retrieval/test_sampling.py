"""Samples from outside a pool, and what they tell of what it misses, against planted relevance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.core.sampling import (
    ALL,
    EDGE,
    REST,
    BoundedFigure,
    PoolPlan,
    Sampled,
    found_share,
    generator,
    missing,
    plan_of,
    sample,
    sample_outside,
    sample_pairs,
    totals,
)


def some(seed=0):
    return np.random.default_rng(seed)


@given(st.sets(st.integers(0, 29)), st.integers(0, 40), st.integers(0, 9))
def test_blocks_are_drawn_once_each_and_from_outside_alone(without, count, seed):
    drawn = sample_outside(np.array(sorted(without), dtype=np.int64), 30, count, some(seed))

    found = drawn.positions.tolist()
    assert found == sorted(set(found))
    assert not without & set(found)
    assert all(0 <= position < 30 for position in found)
    assert len(found) == min(count, 30 - len(without))


def test_every_block_outside_is_as_likely_as_another():
    without = np.array([0, 3, 4, 9])
    counts = np.zeros(10)
    for seed in range(6_000):
        counts[sample_outside(without, 10, 2, some(seed)).positions] += 1

    assert counts[without].sum() == 0
    left = np.delete(counts, without)
    assert np.abs(left / 6_000 - 2 / 6).max() < 0.025


def test_a_draw_knows_its_probability():
    assert sample(np.array([2, 5, 7, 8]), 1, some()).probability == 0.25
    assert sample_outside(np.array([1]), 11, 5, some()).probability == 0.5
    assert sample(np.array([2, 5]), 3, some()).probability == 1.0
    assert sample(np.zeros(0, dtype=np.int64), 3, some()).positions.tolist() == []


def test_a_second_draw_uses_other_numbers_and_the_same_draw_the_same():
    first = generator(7, 31, ALL, 0).integers(0, 2**60)

    assert generator(7, 31, ALL, 0).integers(0, 2**60) == first
    others = [generator(*key).integers(0, 2**60) for key in [(7, 31, ALL, 5), (7, 32, ALL, 0), (8, 31, EDGE, 0)]]
    assert first not in others


def test_a_plan_comes_back_as_it_was_stored():
    plan = PoolPlan(method="bandit", pairs=500, each=False, random=3, edge=2, easy=1, seed=9, edge_runs=(4, 6))

    assert plan_of(plan.as_json()) == plan
    assert PoolPlan().as_json() is None
    assert plan_of(None) == PoolPlan()


@pytest.mark.parametrize(
    ("plan", "strata"),
    [
        (PoolPlan(), {}),
        (PoolPlan(random=5), {ALL: 5}),
        (PoolPlan(random=5, edge=2), {EDGE: 2, REST: 5}),
        (PoolPlan(edge=2), {EDGE: 2}),
    ],
)
def test_an_edge_divides_the_blocks_outside(plan, strata):
    assert plan.strata == strata


TRIALS = 1_000


def columns(*rows):
    return Sampled(*(np.array(column) for column in zip(*rows, strict=True)))


def test_each_relevant_block_of_the_sample_has_the_inverse_of_its_sampling_rate_as_weight():
    found = missing(columns((1_000, 20, 1), (400, 20, 2)))

    assert found.value == pytest.approx(1 * 50 + 2 * 20)
    assert found.low < found.value < found.high


def test_a_sample_without_a_relevant_block_still_has_an_upper_end():
    found = missing(columns((10_000, 100, 0), (10_000, 100, 0)))

    assert (found.value, found.low) == (0.0, 0.0)
    assert 200 < found.high < 300, "about the rule of three: 3 in 200 of 20,000"


def test_a_stratum_judged_to_its_end_is_known():
    assert missing(columns((10, 10, 3), (7, 7, 0))) == BoundedFigure(3.0, 3.0, 3.0)


def test_the_interval_never_leaves_what_is_possible():
    found = missing(columns((12, 10, 9)))

    assert 9 <= found.low <= found.high <= 11


@pytest.mark.parametrize("rows", [[(10, 0, 0)], [(10, 11, 0)], [(10, 5, 6)], [(10, 5, -1)]])
def test_counts_that_cannot_be_are_refused(rows):
    with pytest.raises(ValueError, match="strat"):
        missing(columns(*rows))


def test_no_stratum_at_all_is_refused():
    with pytest.raises(ValueError, match="strat"):
        missing(Sampled(np.zeros(0, int), np.zeros(0, int), np.zeros(0, int)))


@given(
    st.lists(
        st.integers(1, 500).flatmap(
            lambda size: st.integers(1, size).flatmap(
                lambda judged: st.tuples(st.just(size), st.just(judged), st.integers(0, judged))
            )
        ),
        min_size=1,
        max_size=8,
    )
)
def test_an_estimate_is_inside_its_interval_and_the_interval_inside_the_possible_range(rows):
    found = missing(columns(*rows))

    seen, unseen = sum(r for _, _, r in rows), sum(size - judged for size, judged, _ in rows)
    assert seen * (found.low > 0) <= found.low <= found.high <= seen + unseen
    assert found.low <= found.value <= found.high + 1e-9 * found.high


def test_a_barely_judged_stratum_does_not_push_the_interval_past_the_estimate():
    found = missing(columns((142, 1, 0), (356, 355, 1)))

    assert (round(found.value, 3), found.low) == (1.003, 1.0)


def test_the_interval_of_the_found_share_is_inverted():
    share = found_share(90, BoundedFigure(10.0, 0.0, 30.0))

    assert share == BoundedFigure(0.9, 0.75, 1.0)


def test_a_share_of_nothing_is_refused():
    with pytest.raises(ValueError, match="nothing"):
        found_share(0, BoundedFigure(0.0, 0.0, 12.0))


def rates(generator, low, high):
    return np.exp(generator.uniform(np.log(low), np.log(high), TRIALS))


def evenly(low, high, count):
    return np.exp(np.linspace(np.log(low), np.log(high), count)).astype(np.int64)


SCENARIOS = {
    # blocks outside the pool, drawn a query, lowest and highest rate, how uneven the queries are (0: all alike)
    "50 queries, 10,000 blocks, 0.01 to 5 %": (np.full(50, 10_000), 20, 1e-4, 0.05, 0),
    "50 queries, uneven relevance": (np.full(50, 10_000), 20, 1e-4, 0.05, 5),
    "200 queries, 100,000 blocks": (np.full(200, 100_000), 10, 1e-4, 0.05, 1),
    "500 queries, 0.05 %": (np.full(500, 20_000), 20, 5e-4, 5e-4, 1),
    "20 queries, 1,400 blocks, 1 %": (np.full(20, 1_400), 20, 0.01, 0.01, 1),
    "50 queries, 5 %": (np.full(50, 10_000), 20, 0.05, 0.05, 1),
    "50 queries, 200 to 50,000 blocks": (evenly(200, 50_000, 50), 20, 1e-4, 0.05, 1),
    "200 queries, 200 to 5,000 blocks, 1 %": (evenly(200, 5_000, 200), 20, 0.01, 0.01, 1),
    "one in three drawn, 5 %": (evenly(20, 60, 60), 10, 0.05, 0.05, 1),
    "one query, 3 %": (np.array([1_000]), 100, 0.03, 0.03, 0),
}


@pytest.mark.parametrize("name", list(SCENARIOS))
def test_the_interval_covers_planted_relevance_as_often_as_it_says(name):
    """A thousand trials: plant relevant blocks in every query, draw, look, estimate; the truth is what was planted."""
    size, drawn, low, high, uneven = SCENARIOS[name]
    generator = np.random.default_rng(20_100)
    factor = generator.gamma(1 / uneven, uneven, (TRIALS, len(size))) if uneven else 1.0
    rate = np.minimum(rates(generator, low, high)[:, None] * factor, 0.9)
    planted = generator.binomial(size, np.broadcast_to(rate, (TRIALS, len(size))))
    judged = np.minimum(drawn, size)
    relevant = generator.hypergeometric(planted, size - planted, judged)

    _, lowest, highest = totals(size, judged, relevant)

    truth = planted.sum(axis=1)
    covered = ((lowest <= truth) & (truth <= highest)).mean()
    assert 0.93 <= covered <= 0.97


def test_a_sample_of_pairs_takes_each_with_the_probability_that_it_says_and_spreads_over_queries():
    query = np.repeat([7, 3, 9, 4], [10, 6, 3, 1])
    taken = np.zeros(20)
    for seed in range(4000):
        sampled = sample_pairs(query, 5, seed)
        assert sampled.probability == 0.25
        assert len(set(sampled.positions.tolist())) == 5
        of_first = int((query[sampled.positions] == 7).sum())
        assert of_first in (2, 3)
        taken[sampled.positions] += 1

    assert np.abs(taken / 4000 - 0.25).max() < 0.03
    assert sample_pairs(query, 20, 1).positions.tolist() == list(range(20))
    assert sample_pairs(query, 99, 1).probability == 1.0
