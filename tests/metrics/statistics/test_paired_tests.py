import math

import numpy as np
import pytest
from scipy import stats

from apps.metrics.statistics.significance import paired_tests, signed_ranks


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)[:, None]


def changes(n: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.04, 0.2, n)


@pytest.mark.parametrize("n", [2, 10, 200])
def test_t_equals_scipys(n):
    change = changes(n)

    (found,) = paired_tests(change[:, None])

    theirs = stats.ttest_1samp(change, 0.0)
    assert found.t == pytest.approx((theirs.statistic, theirs.pvalue, n), rel=1e-10)


@pytest.mark.parametrize("n", [3, 12, 50])
def test_wilcoxon_of_few_equals_scipys_exact_p(n):
    change = changes(n)

    theirs = stats.wilcoxon(change, method="exact")

    assert signed_ranks(change) == pytest.approx((theirs.statistic, theirs.pvalue, n), rel=1e-10)


def test_wilcoxon_of_few_with_ties_equals_a_walk_through_all_signs():
    change = np.array([0.1, 0.1, -0.1, 0.2, 0.3, 0.3, -0.2, 0.5, 0.0])

    theirs = stats.wilcoxon(change[change != 0], method=stats.PermutationMethod(n_resamples=np.inf))

    assert signed_ranks(change) == pytest.approx((theirs.statistic, theirs.pvalue, 8), rel=1e-10)


def test_wilcoxon_of_many_equals_scipys_normal_p():
    change = np.round(changes(300), 2)

    theirs = stats.wilcoxon(change, method="asymptotic", correction=False)

    found = signed_ranks(change)
    assert (found.value, found.p) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)
    assert found.n == (change != 0).sum()


def test_wilcoxon_equals_the_published_example():
    """Wilcoxon (1945), table I, Darwin's fifteen pairs of maize plants: a smaller sum of 24, p about 0.041."""
    darwin = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], dtype=float)

    found = signed_ranks(darwin)

    assert found.value == 24
    assert found.p == pytest.approx(0.041, abs=5e-4)


def test_differences_that_only_rounding_tells_apart_are_ties():
    assert signed_ranks(np.array([0.3, -(0.1 + 0.2)])) == (1.5, 1.0, 2)


def test_wilcoxon_of_no_difference_is_none():
    assert signed_ranks(np.zeros(4)) is None


def test_an_effect_is_the_mean_in_spreads_with_an_interval_about_it():
    change = changes(80)

    (found,) = paired_tests(change[:, None])

    assert found.effect == pytest.approx(change.mean() / change.std(ddof=1))
    assert found.spread == pytest.approx(change.std(ddof=1))
    low, high = found.effect_interval
    assert low < found.effect < high


def test_the_interval_of_an_effect_agrees_with_that_of_the_noncentral_t():
    change = changes(400, seed=5)

    (found,) = paired_tests(change[:, None], resamples=10_000)

    half = 1.96 * math.sqrt(1 / 400 + found.effect**2 / 800)
    assert found.effect_interval == pytest.approx((found.effect - half, found.effect + half), abs=0.015)


def test_equal_differences_have_no_t_and_no_effect():
    (found,) = paired_tests(column(0.1, 0.1, 0.1))

    assert (found.spread, found.t, found.effect, found.effect_interval) == (0.0, None, None, None)
    assert found.wilcoxon.p == 0.25


def test_one_query_has_no_spread():
    (found,) = paired_tests(column(0.1))

    assert (found.n, found.spread, found.t, found.effect) == (1, None, None, None)


def test_no_query_has_nothing():
    (found,) = paired_tests(np.empty((0, 1)))

    assert found == (0, None, None, None, None, None)


def test_a_missing_value_is_refused():
    with pytest.raises(ValueError, match="a value for every query"):
        paired_tests(column(0.1, math.nan))


@pytest.mark.parametrize("n", [2, 3, 5, 9])
@pytest.mark.parametrize("offset", [1e-11, 1e-7, 5e-7, 1e-3])
def test_differences_that_are_nearly_equal_have_an_effect_with_an_interval(n, offset):
    change = np.full(n, 0.5)
    change[0] += offset

    (found,) = paired_tests(change[:, None])

    low, high = found.effect_interval
    assert 0 < low <= found.effect * (1 + 1e-4)
    assert low <= high


@pytest.mark.parametrize("factor", [1e-9, 1e-100, 1e-150, 1e100])
def test_the_effect_does_not_depend_on_the_unit(factor):
    change = column(0.5, 0.1, -0.2, 0.4, 0.3)

    (found,), (scaled,) = paired_tests(change), paired_tests(change * factor)

    assert scaled.effect == pytest.approx(found.effect)
    assert scaled.effect_interval == pytest.approx(found.effect_interval)
