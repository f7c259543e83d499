import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from apps.metrics.statistics.intervals import (
    by_original,
    difference_interval,
    effective_number,
    mean_interval,
    spread_at,
    weighted_interval,
)
from apps.metrics.statistics.proportions import student_quantile

SCORES = st.lists(st.floats(0, 1), min_size=2, max_size=40).map(np.array)
CHANGES = st.lists(st.integers(-1000, 1000).map(lambda part: part / 1000), min_size=2, max_size=40).map(np.array)


def scores_like_ndcg(n: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).beta(0.5, 2.5, n)


# Means


@given(SCORES)
def test_the_interval_of_a_mean_has_a_width_includes_the_mean_and_stays_on_the_scale(scores):
    low, high = mean_interval(scores, 0.95)

    assert 0 <= low <= math.fsum(scores) / len(scores) <= high <= 1
    assert low < high


@pytest.mark.parametrize(("right", "n"), [(0, 12), (3, 12), (12, 12), (2, 6), (81, 263)])
def test_zeros_and_ones_have_wilsons_interval_with_students_quantile(right, n):
    """Its ends are the shares p from which the one seen is as far as the quantile times the deviation at p."""
    values = np.repeat([1.0, 0.0], [right, n - right])
    t = stats.t.ppf(0.975, n - 1)

    def beyond(share: float) -> float:
        return (right / n - share) ** 2 - t**2 * share * (1 - share) / n

    low, high = mean_interval(values, 0.95)

    assert low == (0.0 if right == 0 else pytest.approx(optimize.brentq(beyond, 0, right / n - 1e-6), abs=1e-9))
    assert high == (1.0 if right == n else pytest.approx(optimize.brentq(beyond, right / n + 1e-6, 1), abs=1e-9))


def test_twelve_scores_of_one_say_as_little_as_twelve_of_twelve():
    assert mean_interval(np.ones(12), 0.95) == pytest.approx((1 / (1 + student_quantile(0.95, 11) ** 2 / 12), 1.0))


def test_many_scores_have_the_interval_of_theory():
    scores = scores_like_ndcg(20_000)

    theirs = stats.norm.interval(0.95, scores.mean(), scores.std() / math.sqrt(20_000))
    assert mean_interval(scores, 0.95) == pytest.approx(theirs, abs=1e-4)


def test_the_interval_of_skewed_scores_is_longer_towards_their_tail():
    scores = scores_like_ndcg(40)
    low, high = mean_interval(scores, 0.95)

    assert high - scores.mean() > 1.1 * (scores.mean() - low)


def test_scores_that_scatter_less_have_a_narrower_interval():
    close, wide = np.tile([0.4, 0.6], 20), np.tile([0.2, 0.8], 20)

    widths = [high - low for low, high in (mean_interval(scores, 0.95) for scores in (close, wide))]
    assert widths[0] < widths[1] / 2.5


def test_a_value_beyond_the_scale_stretches_it():
    scores = np.array([0.2, 0.9, 1.2, 0.4])

    low, high = mean_interval(scores, 0.95)
    assert (low / 1.2, high / 1.2) == pytest.approx(mean_interval(scores / 1.2, 0.95))


@given(st.permutations(range(20)))
def test_the_order_of_queries_changes_no_digit(order):
    scores, change = scores_like_ndcg(20), scores_like_ndcg(20) - 0.3

    assert mean_interval(scores[list(order)], 0.95) == mean_interval(scores, 0.95)
    assert difference_interval(change[list(order)], 0.95) == difference_interval(change, 0.95)


@pytest.mark.parametrize("interval", [mean_interval, difference_interval])
def test_one_query_has_no_interval_nor_have_strata_of_one_query_each(interval):
    assert interval(np.array([]), 0.95) is None
    assert interval(np.array([0.5]), 0.95) is None
    assert interval(np.array([0.5, 0.2, 0.1]), 0.95, np.arange(3)) is None


@pytest.mark.parametrize("interval", [mean_interval, difference_interval])
def test_a_higher_confidence_is_wider(interval):
    narrow, wide = (interval(scores_like_ndcg(60), confidence) for confidence in (0.8, 0.99))

    assert wide[0] < narrow[0] < narrow[1] < wide[1]


# Differences


@given(CHANGES)
def test_the_interval_of_a_difference_has_a_width_and_includes_the_mean(change):
    low, high = difference_interval(change, 0.95)

    assert low < high
    assert low <= math.fsum(change) / len(change) <= high


@given(CHANGES)
def test_the_other_way_round_the_interval_is_turned(change):
    low, high = difference_interval(change, 0.95)

    assert difference_interval(-change, 0.95) == (-high, -low)


def test_a_difference_has_students_interval_of_its_queries_and_one_more_half_up_half_down():
    change = np.array([0.1, 0.3, 0.0, -0.1, 0.2, 0.1])
    with_pseudo = np.append(change, 0.0)
    mean = with_pseudo.mean()
    variance = (((with_pseudo[:-1] - mean) ** 2).sum() + ((0.3 - mean) ** 2 + (-0.3 - mean) ** 2) / 2) / 6

    low, high = difference_interval(change, 0.95)

    half = stats.t.ppf(0.975, 5) * math.sqrt(variance / 7)
    assert (low, high) == pytest.approx((mean - half, mean + half), abs=1e-12)


@pytest.mark.parametrize(("n", "end"), [(6, 0.397), (30, 0.067), (100, 0.0197), (1000, 0.00196)])
def test_runs_that_never_differ_may_differ_where_nobody_looked(n, end):
    assert difference_interval(np.zeros(n), 0.95) == pytest.approx((-end, end), rel=0.01)


def test_many_differences_have_the_interval_of_theory():
    change = np.random.default_rng(1).normal(0.01, 0.2, 20_000)

    theirs = stats.ttest_1samp(change, 0.0).confidence_interval()
    assert difference_interval(change, 0.95) == pytest.approx((theirs.low, theirs.high), abs=2e-5)


# Strata


@pytest.mark.parametrize("interval", [mean_interval, difference_interval])
def test_strata_that_differ_make_an_interval_narrow(interval):
    strata = np.repeat([4, 7], 50)
    values = np.where(strata == 4, 0.2, 0.8) + np.random.default_rng(1).normal(0, 0.01, 100)

    (low, high), (inner_low, inner_high) = interval(values, 0.95), interval(values, 0.95, strata)

    assert inner_high - inner_low < (high - low) / 3


@pytest.mark.parametrize("interval", [mean_interval, difference_interval])
def test_one_stratum_is_as_none_and_the_names_of_strata_do_not_matter(interval):
    values, strata = scores_like_ndcg(40), np.arange(40) % 3

    assert interval(values, 0.95, np.zeros(40, dtype=np.int64)) == pytest.approx(interval(values, 0.95), abs=1e-12)
    assert interval(values, 0.95, strata) == interval(values, 0.95, 10 + 7 * strata)


def test_means_within_strata_have_the_deviation_of_theory():
    strata = np.repeat([0, 1], [3_000, 9_000])
    values = np.concatenate([scores_like_ndcg(3_000), (1 + scores_like_ndcg(9_000, seed=2)) / 2])

    low, high = mean_interval(values, 0.95, strata)

    variance = (values[:3_000].var() * 3_000 + values[3_000:].var() * 9_000) / 12_000**2
    assert high - low == pytest.approx(2 * 1.96 * math.sqrt(variance), rel=0.01)


# Planning


def test_the_spread_to_plan_with_is_that_at_the_bound():
    assert spread_at(np.ones(12), 0.9) == pytest.approx(0.3)  # twelve of twelve: √(0.9 · 0.1)
    assert spread_at(np.array([0.0, 1.0]), 0.5) == pytest.approx(0.5)
    assert spread_at(np.tile([0.4, 0.6], 50), 0.5) == pytest.approx(0.1, abs=0.001)
    assert spread_at(np.ones(12), 1.0) == spread_at(np.ones(12), 70.0) == 0.0


# Variants of a question


@pytest.mark.parametrize("interval", [mean_interval, difference_interval])
def test_a_question_that_is_asked_four_times_alike_is_one_question(interval):
    values = scores_like_ndcg(20)

    assert interval(np.repeat(values, 4), 0.95, originals=np.repeat(np.arange(20), 4)) == pytest.approx(
        interval(values, 0.95), abs=1e-9
    )


@pytest.mark.parametrize("interval", [mean_interval, difference_interval])
def test_questions_without_variants_are_as_none(interval):
    values = scores_like_ndcg(20)

    assert interval(values, 0.95, originals=np.arange(20)[::-1]) == pytest.approx(interval(values, 0.95), abs=1e-12)


def test_questions_with_more_variants_weigh_more_and_the_mean_stays():
    values, originals = np.array([0.9, 0.9, 0.9, 0.1, 0.5, 0.4]), np.array([7, 7, 7, 3, 4, 5])

    by_question = by_original(values, originals)

    assert len(by_question) == 4
    assert by_question.mean() == pytest.approx(values.mean())
    low, high = mean_interval(values, 0.95, originals=originals)
    assert 0 <= low < values.mean() < high <= 1


def test_one_question_in_many_words_has_no_interval():
    assert mean_interval(np.array([0.1, 0.4, 0.5]), 0.95, originals=np.zeros(3)) is None


# Weighted means


@given(SCORES, st.floats(0.01, 1e6))
def test_equal_weights_give_the_interval_of_a_mean(scores, weight):
    weights = np.full(len(scores), weight)

    assert weighted_interval(scores, weights, 0.95) == pytest.approx(mean_interval(scores, 0.95), abs=1e-9)
    assert effective_number(weights) == pytest.approx(len(scores))


def test_the_variance_of_a_weighted_mean_is_that_of_a_hand_worked_example():
    """Scores 1, 0, 0.5 with weights 3, 2, 1: the mean is 3.5 / 6, and 36 / 14 equal weights say as much.

    Σ w² (x − m)² is 9 · (5/12)² + 4 · (7/12)² + (1/12)² = 422 / 144; by (Σ w)² = 36, 422 / 5184.
    """
    scores, weights = np.array([1.0, 0.0, 0.5]), np.array([3.0, 2.0, 1.0])
    mean, variance, n = 3.5 / 6, 422 / 5184, 36 / 14
    share = (n * variance + 0.01 / n) / (n * mean * (1 - mean) + 0.01) * stats.t.ppf(0.975, 1) ** 2

    low, high = weighted_interval(scores, weights, 0.95)

    for end in (low, high):
        assert (mean - end) ** 2 == pytest.approx(share * end * (1 - end))
    assert effective_number(weights) == pytest.approx(n)
    assert weighted_interval(scores, np.array([1.0, 0.0, 0.0]), 0.95) is None
    assert effective_number(np.zeros(3)) == 0.0


def test_many_weighted_scores_have_the_interval_of_resamples():
    rng = np.random.default_rng(3)
    scores, weights = scores_like_ndcg(2_000), rng.lognormal(0, 1, 2_000)
    drawn = rng.integers(0, 2_000, (4_000, 2_000))

    means = (weights[drawn] * scores[drawn]).sum(axis=1) / weights[drawn].sum(axis=1)

    assert weighted_interval(scores, weights, 0.95) == pytest.approx(np.percentile(means, [2.5, 97.5]), abs=0.004)


@pytest.mark.parametrize(("n", "spread"), [(20, 0.5), (50, 0.5), (50, 1.0), (200, 1.0)])
def test_the_interval_of_a_weighted_mean_covers_the_true_one(n, spread):
    """Queries drawn 1,000 times with weights like traffic, which help the scores: the more asked, the better."""
    rng = np.random.default_rng(7)
    weights = rng.lognormal(0, spread, 100_000)
    scores = rng.beta(1 + weights / (1 + weights), 1, 100_000)
    truth = (weights * scores).sum() / weights.sum()

    covered = 0
    for _ in range(1_000):
        drawn = rng.integers(0, len(weights), n)
        low, high = weighted_interval(scores[drawn], weights[drawn], 0.95)
        covered += low <= truth <= high

    assert covered >= 920
