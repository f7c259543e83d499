from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.goldsets.core.slice_sampling import next_quarter
from apps.queries.core.stratified import Candidate, draw

STRATA = st.tuples(st.sampled_from(["access", "backup", "tax"]), st.sampled_from(["easy", "hard"]))


NEVER = st.just("")


@st.composite
def pools(draw_value, used=NEVER):
    strata = draw_value(st.lists(STRATA, min_size=1, max_size=60))
    return [Candidate(f"Q{number}", one, draw_value(used)) for number, one in enumerate(strata)]


AGES = st.sampled_from(["", "2026-Q1", "2026-Q2"])
SEEDS = st.sampled_from(["2026-Q3", "2026-Q4", "2027-Q1"])
SIZES = st.integers(1, 80)


@given(pools(AGES), SIZES, SEEDS)
def test_a_draw_has_the_size_asked_for_or_everything_and_nothing_twice(pool, size, seed):
    drawn = draw(pool, size, seed=seed)

    assert len(drawn) == len(set(drawn)) == min(size, len(pool))
    assert set(drawn) <= {one.name for one in pool}


@pytest.mark.slow
@given(pools(AGES), SIZES, SEEDS, st.randoms())
def test_the_order_of_the_questions_makes_no_difference(pool, size, seed, random):
    shuffled = random.sample(pool, len(pool))

    assert draw(shuffled, size, seed=seed) == draw(pool, size, seed=seed)


@given(pools(), SIZES, SEEDS)
def test_every_stratum_and_every_first_part_of_one_has_its_share_to_within_one(pool, size, seed):
    size = min(size, len(pool))
    drawn = set(draw(pool, size, seed=seed))

    for depth in (1, 2):
        inside = Counter(one.strata[:depth] for one in pool if one.name in drawn)
        for stratum, count in Counter(one.strata[:depth] for one in pool).items():
            assert abs(inside[stratum] - Fraction(count * size, len(pool))) < 1


@pytest.mark.slow
@given(pools(AGES), SIZES, SEEDS)
def test_nothing_comes_again_before_everything_was_used_and_then_the_oldest_first(pool, size, seed):
    drawn = set(draw(pool, size, seed=seed))

    taken = [one.used for one in pool if one.name in drawn]
    left = [one.used for one in pool if one.name not in drawn]
    assert not left or max(taken) <= min(left)


@pytest.mark.slow
@given(pools(), st.integers(1, 20))
def test_quarter_after_quarter_every_question_is_used_once_before_any_is_used_twice(pool, size):
    quarter, uses = "2026-Q1", Counter()
    while len(uses) < len(pool):
        drawn = draw(pool, size, seed=quarter)
        fresh = [name for name in drawn if name not in uses]
        assert len(fresh) == min(size, len(pool) - len(uses))
        uses.update(drawn)
        pool = [one._replace(used=quarter) if one.name in set(drawn) else one for one in pool]
        quarter = next_quarter(quarter)


def test_fields_that_cross_are_balanced_too():
    """Ten domains of four questions each, one of every source: by the first field alone sources are left to chance."""
    strata = [(f"domain {n // 4}", f"source {n % 4}") for n in range(40)]
    pool = [Candidate(f"Q{n}", one) for n, one in enumerate(strata)]

    for seed in ("2026-Q3", "2026-Q4", "2027-Q1"):
        drawn = set(draw(pool, 12, seed=seed))
        sources = Counter(one.strata[1] for one in pool if one.name in drawn)
        assert all(abs(sources[f"source {n}"] - 3) <= 1 for n in range(4))


def test_another_quarter_draws_other_questions():
    pool = [Candidate(f"Q{number}", ("access",)) for number in range(40)]

    assert draw(pool, 10, seed="2026-Q3") != draw(pool, 10, seed="2026-Q4")


def test_a_stratum_with_a_tenth_of_all_is_in_every_sample_of_ten():
    large = [Candidate(f"Q{n}", ("log", "how-to")) for n in range(5)]
    others = [Candidate(f"R{n}", (f"source {n}", f"type {n}")) for n in range(45)]

    for seed in range(20):
        drawn = draw([*large, *others], 10, seed=str(seed))
        assert any(name.startswith("Q") for name in drawn)
