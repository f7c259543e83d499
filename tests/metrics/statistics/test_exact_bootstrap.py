import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.metrics.statistics.bootstrap import resampled_means
from apps.metrics.statistics.exact_bootstrap import FEW, MANY, every_draw, on_grid
from tests.walks import often

CHANCE = np.random.default_rng(7)
SAMPLES = {
    "shares of ten": CHANCE.integers(0, 11, 300) / 10,
    "reciprocal ranks": 1 / CHANCE.integers(1, 11, 60),
    "success of 90 %": (np.arange(50) < 45).astype(float),
    "scores": CHANCE.beta(0.5, 2.5, 50),
    "many scores": CHANCE.random(MANY + 500),
    "differences": CHANCE.normal(0, 0.2, 120),
    "few that differ": np.where(np.arange(50) < 3, CHANCE.random(50), 0.0),
    "one of 400": np.where(np.arange(400) < 1, 0.37, 0.0),
    "tiny": CHANCE.normal(0, 1e-6, 30),
    "milliseconds": CHANCE.normal(500, 100, 200),
}


def by_hand(values: list[float]) -> dict[float, float]:
    """Every draw, one by one."""
    found: dict[float, float] = {}
    for draw in product(values, repeat=len(values)):
        mean = round(math.fsum(draw) / len(values), 9)
        found[mean] = found.get(mean, 0.0) + 1 / len(values) ** len(values)
    return found


@pytest.mark.parametrize("values", [[0.0, 1.0], [0.1, 0.5, 0.7], [0.2, 0.2, 0.9, 1.0], [0.3, -0.3, 0.0, 0.1, 0.7]])
def test_few_values_have_the_draws_that_can_be_counted_out(values):
    drawn = every_draw(np.array(values))

    found: dict[float, float] = {}
    for mean, share in zip(drawn.means.round(9).tolist(), drawn.shares.tolist(), strict=True):
        found[mean] = found.get(mean, 0.0) + share
    assert found == pytest.approx(by_hand(values))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_draws_have_the_mean_and_the_spread_of_theory(name):
    values = SAMPLES[name]

    drawn = every_draw(values)

    mean = float(drawn.means @ drawn.shares)
    assert mean == pytest.approx(values.mean(), abs=1e-6 * np.abs(values).max())
    assert math.sqrt(float((drawn.means - mean) ** 2 @ drawn.shares)) == pytest.approx(
        values.std() / math.sqrt(len(values)), rel=1e-3
    )
    assert drawn.shares.sum() == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_the_ends_are_those_that_many_random_draws_come_near(name):
    values = SAMPLES[name]
    random = resampled_means(values[:, None], seed=3, resamples=40_000)[:, 0]

    drawn = every_draw(values)

    error = values.std() / math.sqrt(len(values))
    step = 1 / len(values) if name.startswith("success") else 0.0
    for tail in (0.2, 0.025, 0.005):
        ends = np.quantile(random, [tail, 1 - tail])
        assert (drawn.low(tail), drawn.high(tail)) == pytest.approx(ends, abs=0.08 * error + step)


def test_values_on_a_common_step_have_exact_ends():
    drawn = every_draw(SAMPLES["success of 90 %"])

    assert (drawn.low(0.025), drawn.high(0.025)) == (0.82, 0.98)


def test_zero_is_exact_where_draws_without_a_difference_are_the_end():
    drawn = every_draw(SAMPLES["few that differ"])

    assert drawn.low(0.025) == 0.0
    assert drawn.shares[0] == pytest.approx((47 / 50) ** 50, rel=1e-6)


@given(st.lists(st.floats(-1, 1).map(lambda value: round(value, 3)), min_size=1, max_size=20))
@settings(max_examples=often(25, 50), deadline=None)
def test_no_end_is_beyond_the_values_and_the_ends_never_cross(values):
    drawn = every_draw(np.array(values))

    for tail in (1e-12, 0.025, 0.4):
        assert min(values) <= drawn.low(tail) <= drawn.high(tail) <= max(values)


@pytest.mark.parametrize("size", [3, FEW, FEW + 1, 40])
def test_values_turned_about_have_ends_turned_about(size):
    values = np.random.default_rng(size).random(size)

    plain, turned = every_draw(values), every_draw(-values)

    cell = max(plain.step, turned.step)
    assert plain.low(0.1) == pytest.approx(-turned.high(0.1), abs=2 * cell + 1e-12)


def test_strata_are_drawn_apart():
    strata = np.repeat([0, 1, 2], [10, 30, 60])
    values = np.random.default_rng(2).random(100) + strata
    random = sum(
        (strata == one).mean() * resampled_means(values[strata == one][:, None], seed=one, resamples=40_000)[:, 0]
        for one in range(3)
    )

    drawn = every_draw(values, strata)

    ends = np.quantile(random, [0.025, 0.975])
    assert (drawn.low(0.025), drawn.high(0.025)) == pytest.approx(ends, abs=0.002)


def test_draws_that_equal_the_mean_count_half_as_below():
    assert every_draw(np.array([0.0, 1.0])).below(0.5) == 0.5
    assert every_draw(np.repeat([0.0, 1.0], 30)).below(0.5) == pytest.approx(0.5)
    assert every_draw(np.full(9, 0.3)).below(0.3) == 0.5


FINITE = st.floats(-1e12, 1e12, allow_subnormal=False)


@given(st.lists(FINITE, min_size=1, max_size=60))
def test_a_sum_is_exact_in_any_order(values):
    whole, _ = on_grid(np.array(values), len(values))

    assert whole.sum() == math.fsum(whole) == whole[::-1].sum() == np.sort(whole).sum()


@given(st.lists(FINITE, min_size=1, max_size=60))
def test_a_value_moves_by_half_a_step_at_most(values):
    array = np.array(values)
    whole, scale = on_grid(array, len(values))

    assert np.all(np.abs(whole / scale - array) <= 0.5 / scale)
    assert 0.5 / scale <= 64 * 2.0**-50 * np.abs(array).max() or np.abs(array).max() < 1e-280


def test_values_drawn_as_often_as_there_are_terms_stay_below_2_to_the_53_and_zeros_as_they_are():
    assert 1000 * on_grid(np.array([0.999999]), 1000).whole[0] < 2**53
    assert on_grid(np.empty(0), 0).whole.shape == (0,)
    assert on_grid(np.zeros(3), 3).whole.tolist() == [0, 0, 0]


def test_each_column_has_a_scale_of_its_own():
    values = np.array([[1.0, 1e-9, 0.0], [0.3, 3e-10, 0.0]])

    together = on_grid(values, 2)

    for column in range(3):
        alone = on_grid(values[:, column], 2)
        assert alone.whole.tolist() == together.whole[:, column].tolist()
        assert alone.scale == together.scale[column]


@pytest.mark.parametrize("value", [1e-320, 1e-300, 1e300])
def test_very_small_and_very_large_values_are_accepted(value):
    whole, scale = on_grid(np.array([value, -value]), 2)

    assert whole.sum() == 0
    assert whole[0] / scale == pytest.approx(value, rel=1e-12) or whole[0] == 0


@pytest.mark.parametrize(
    ("value", "terms", "said"), [(math.nan, 1, "finite"), (math.inf, 1, "finite"), (1.0, 2**52, "too many")]
)
def test_what_is_not_finite_and_more_terms_than_the_grid_has_room_for_are_refused(value, terms, said):
    with pytest.raises(ValueError, match=said):
        on_grid(np.array([value]), terms)
