import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from apps.metrics.estimate import SCALED_WILSON, WILSON
from apps.metrics.measures.registry import parse_measure
from apps.metrics.statistics.intervals import difference_interval, mean_interval
from apps.metrics.statistics.proportions import wilson
from apps.metrics.statistics.significance import Summary, differences, holm, mean_of, sign_flip_p, summaries

NDCG = parse_measure("nDCG@10")


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)[:, None]


def test_a_mean_is_an_exact_sum_rounded_once():
    assert mean_of([0.1] * 10) == 0.1


@pytest.mark.parametrize(
    ("values", "summary"),
    [
        ([], Summary(None, None, 0)),
        ([0.25], Summary(0.25, None, 1)),
        ([0.5, 0.5, 0.5], Summary(0.5, mean_interval(np.full(3, 0.5), 0.95), 3)),
    ],
)
def test_few_values_have_no_interval_and_equal_ones_have(values, summary):
    assert summaries([NDCG], column(*values)) == [summary]


@pytest.mark.parametrize("measure", ["Success@5", "FailureRate@5", "Sufficient@5", "P@1", "RR@1", "P(rel=2)@1"])
def test_the_mean_of_a_yes_or_no_measure_has_wilsons_interval(measure):
    (found,) = summaries([parse_measure(measure)], column(1, 1, 1, 0, 1, math.nan))

    assert found == Summary(0.8, wilson(4, 5), 5, WILSON)


def test_with_strata_a_yes_or_no_measure_has_the_interval_of_any_other():
    values, strata = column(1, 1, 1, 0, 1, 0), np.arange(6) % 2

    (found,) = summaries([parse_measure("Success@5")], values, strata=strata)

    assert (found.interval, found.method) == (mean_interval(values[:, 0], 0.95, strata), SCALED_WILSON)


def test_undefined_values_are_left_out_of_their_column_only():
    values = np.array([[0.0, math.nan], [1.0, 0.5], [1.0, 1.0]])

    first, second = summaries([NDCG, NDCG], values)

    assert (first.n, second.n) == (3, 2)
    assert second.mean == 0.75
    assert first == summaries([NDCG], values[:, :1])[0]


def test_strata_stay_aligned_when_values_are_missing():
    values, strata = np.random.default_rng(1).random(40), np.arange(40) % 3
    with_gap = np.concatenate([values, [math.nan]])[:, None]

    assert summaries([NDCG], with_gap, strata=np.append(strata, 2)) == summaries([NDCG], values[:, None], strata=strata)


def test_differences_take_strata():
    strata = np.repeat([0, 1], 40)
    change = np.where(strata == 0, -0.2, 0.3)

    (found,) = differences(np.zeros((80, 1)), change[:, None], strata=strata)

    assert found.interval == difference_interval(change, 0.95, strata)


def test_no_interval_depends_on_the_seed():
    baseline, candidate = np.random.default_rng(3).random((2, 50, 3))

    found = [differences(baseline, candidate, seed=seed, resamples=50) for seed in range(4)]

    assert len({one.interval for told in found for one in told}) == 3


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
    assert found.interval[0] < 0.1 < found.interval[1] < 0.103
    assert found.p == 1 / 10_001


@pytest.mark.parametrize("sign", [-1, 1])
def test_runs_that_differ_on_one_query_are_not_distinguished_by_rounding(sign):
    for n in range(2, 101):
        baseline = np.full((n, 1), 0.5)
        candidate = baseline.copy()
        candidate[0] += sign * 0.3

        found = differences(baseline, candidate)[0]

        assert not found.is_settled, n
        assert found.interval[0] < 0 < found.interval[1], n


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
