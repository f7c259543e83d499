import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from apps.metrics.statistics.significance import Summary, differences, holm, mean_of, sign_flip_p, summaries


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)[:, None]


def test_a_mean_is_an_exact_sum_rounded_once():
    assert mean_of([0.1] * 10) == 0.1


@pytest.mark.parametrize(
    ("values", "summary"),
    [
        ([], Summary(None, None, 0)),
        ([0.25], Summary(0.25, None, 1)),
        ([0.5, 0.5, 0.5], Summary(0.5, (0.5, 0.5), 3, (0.5, 0.5))),
    ],
)
def test_few_or_equal_values_have_no_interval_or_one_of_no_width(values, summary):
    assert summaries(column(*values)) == [summary]


def test_undefined_values_are_left_out_of_their_column_only():
    values = np.array([[0.0, math.nan], [1.0, 0.5], [1.0, 1.0]])

    first, second = summaries(values)

    assert (first.n, second.n) == (3, 2)
    assert second.mean == 0.75
    assert first == summaries(values[:, :1])[0]


@pytest.mark.slow
@pytest.mark.parametrize("n", [6, 50, 1500])
def test_no_interval_and_no_verdict_depends_on_the_seed(n):
    """Of six queries the low end did, and of 1,000 draws an end by a tenth of the width."""
    baseline, candidate = np.random.default_rng(3).random((2, n, 3))

    found = [differences(baseline, candidate, seed=seed) for seed in range(4)]

    assert len({(one.interval, one.bca, one.is_settled) for told in found for one in told}) == 3


def test_an_interval_agrees_with_scipy():
    values = np.random.default_rng(5).random(200) ** 3

    (summary,) = summaries(values[:, None])

    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    assert summary.interval == pytest.approx((theirs.low, theirs.high), abs=0.003)


def test_a_higher_confidence_is_wider():
    values = np.random.default_rng(5).random((60, 1))

    narrow = summaries(values, confidence=0.8)[0].interval
    wide = summaries(values, confidence=0.99)[0].interval

    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.slow
def test_intervals_cover_the_true_mean_about_as_often_as_they_say():
    chance = np.random.default_rng(11)
    covered = 0
    for _ in range(300):
        low, high = summaries(chance.beta(2, 3, (60, 1)), confidence=0.9)[0].interval
        covered += low <= 0.4 <= high

    assert 0.84 <= covered / 300 <= 0.95


def test_many_queries_have_the_interval_of_theory():
    values = np.random.default_rng(1).random((5000, 1))

    low, high = summaries(values)[0].interval

    assert high - low == pytest.approx(2 * 1.96 * values.std() / math.sqrt(5000), rel=0.005)


@pytest.mark.parametrize(
    ("changes", "resamples", "p"),
    [
        ([0.1] * 3, 10_000, pytest.approx(0.25, abs=0.015)),
        ([0.0] * 2, 999, 1.0),
        ([0.3] * 200, 999, 1 / 1000),  # and never 0
    ],
)
def test_p_is_the_share_of_random_signs_that_reach_the_difference(changes, resamples, p):
    assert sign_flip_p(column(*changes), resamples=resamples) == [p]


def test_p_agrees_with_scipy():
    change = np.random.default_rng(2).normal(0.05, 0.2, 40)

    theirs = stats.permutation_test(
        (change,), np.mean, permutation_type="samples", n_resamples=10_000, rng=np.random.default_rng(1)
    ).pvalue

    assert sign_flip_p(change[:, None])[0] == pytest.approx(theirs, abs=0.015)


def test_p_is_spread_evenly_when_nothing_differs():
    chance = np.random.default_rng(4)
    found = sign_flip_p(chance.normal(0, 1, (30, 400)), resamples=1000)

    assert stats.kstest(found, "uniform").pvalue > 0.01


@pytest.mark.parametrize(
    ("p_values", "corrected"),
    [([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]), ([0.9, 0.6], [1.0, 1.0]), ([], [])],
)
def test_holm_equals_cases_worked_by_hand(p_values, corrected):
    assert holm(p_values) == pytest.approx(corrected)


@given(st.lists(st.floats(0.0001, 1), max_size=8))
def test_holm_is_never_below_p_and_never_out_of_order(p_values):
    corrected = holm(p_values)

    assert all(p <= c <= 1 for p, c in zip(p_values, corrected, strict=True))
    by_p = [c for _, c in sorted(zip(p_values, corrected, strict=True))]
    assert by_p == sorted(by_p)


def test_a_difference_counts_better_equal_and_worse():
    baseline, candidate = column(0.1, 0.5, 0.5, 0.9), column(0.2, 0.5, 0.7, 0.3)

    (found,) = differences(baseline, candidate)

    assert (found.better, found.equal, found.worse, found.n) == (2, 1, 1, 4)
    assert found.mean == pytest.approx(-0.075)
    assert found.is_settled is False


def test_a_clear_difference_is_settled():
    baseline = np.random.default_rng(1).random((80, 1)) * 0.5

    (found,) = differences(baseline, baseline + 0.1)

    assert found.is_settled is True
    assert found.interval == pytest.approx((0.1, 0.1))
    assert found.p == 1 / 10_001


@pytest.mark.parametrize("sign", [-1, 1])
def test_runs_that_differ_on_one_query_are_not_distinguished_by_rounding(sign):
    for n in range(2, 101):
        baseline = np.full((n, 1), 0.5)
        candidate = baseline.copy()
        candidate[0] += sign * 0.3

        found = differences(baseline, candidate)[0]

        assert not found.is_settled, n
        assert 0.0 in found.interval, n


def test_one_query_settles_nothing():
    (found,) = differences(column(0.1), column(0.9))

    assert found.interval is None
    assert found.is_settled is False
    assert found.p == 1.0


@pytest.mark.parametrize(
    ("baseline", "candidate"),
    [
        (np.zeros((2, 1)), np.zeros((3, 1))),
        (np.zeros((0, 1)), np.zeros((0, 1))),
        (column(math.nan), column(0.0)),
    ],
)
def test_an_unpaired_difference_is_refused(baseline, candidate):
    with pytest.raises(ValueError, match="A paired difference needs"):
        differences(baseline, candidate)
