"""Blocks drawn from outside a pool, and the plan that says how many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.core.sampling import ALL, EDGE, REST, PoolPlan, generator, plan_of, sample, sample_outside


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
