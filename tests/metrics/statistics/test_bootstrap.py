import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from threadpoolctl import threadpool_limits

from apps.metrics.statistics.bootstrap import (
    bca_interval,
    interval_of,
    people_intervals,
    percentile_interval,
    reading_share,
    resampled_means,
)
from apps.metrics.statistics.exact_bootstrap import every_draw
from apps.metrics.statistics.proportions import widened
from apps.metrics.statistics.significance import differences, sign_flip_p, summaries


def skewed(n: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).beta(0.5, 2.5, n)


def means_of(values: np.ndarray, resamples: int = 20_000) -> np.ndarray:
    return resampled_means(values[:, None], seed=3, resamples=resamples)[:, 0]


@given(st.lists(st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 0.7, 1.0]), min_size=1, max_size=12))
def test_no_resampled_mean_is_beyond_the_values(values):
    means = means_of(np.array(values), resamples=50)

    assert min(values) <= means.min() <= means.max() <= max(values)


def test_resampled_means_scatter_about_the_mean_as_theory_says():
    values = skewed(200)

    means = means_of(values)

    assert means.mean() == pytest.approx(values.mean(), abs=0.001)
    assert means.std() == pytest.approx(values.std() / math.sqrt(200), rel=0.03)


def test_a_percentile_interval_is_the_middle_share():
    assert percentile_interval(np.array([*range(101), math.nan]), 0.9) == pytest.approx((5.0, 95.0))


def test_bca_agrees_with_scipy():
    values = skewed(60)

    found = bca_interval(values, every_draw(values), 0.95)

    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(2)
    ).confidence_interval
    assert found == pytest.approx((theirs.low, theirs.high), abs=0.003)


def test_bca_moves_towards_the_long_tail():
    values = skewed(60)
    drawn = every_draw(values)

    low, high = interval_of(drawn, 0.95)
    moved_low, moved_high = bca_interval(values, drawn, 0.95)

    assert low < moved_low
    assert high < moved_high


def test_bca_of_equal_values_has_no_width():
    values = np.full(5, 0.1)

    assert bca_interval(values, every_draw(values), 0.95) == (0.1, 0.1)


@pytest.mark.parametrize("least", [1e-160, 1e-310, 5e-324])
def test_values_that_differ_by_less_than_can_be_squared_have_their_interval(least):
    (found,) = summaries(np.array([[0.0], [0.0], [least]]))

    assert found.interval is not None
    assert found.interval[0] <= found.mean <= found.interval[1] <= least


def test_bca_of_two_values_spans_them():
    (summary,) = summaries(np.array([[0.0], [1.0]]))

    assert summary.interval == summary.bca == (0.0, 1.0)


def test_few_queries_are_read_further_out_and_many_are_not():
    few, many = np.random.default_rng(1).random(20), skewed(20_000)

    assert summaries(few[:, None])[0].interval == interval_of(every_draw(few), widened(0.95, 20))
    assert widened(0.95, 20_000) == pytest.approx(0.95, abs=1e-4)
    assert summaries(many[:, None])[0].interval == pytest.approx(
        stats.norm.interval(0.95, many.mean(), many.std() / math.sqrt(20_000)), abs=3e-4
    )


def test_a_spread_that_few_queries_make_is_read_further_out():
    """Five of 50 differ, all alike: kurtosis 8.11, so 13.9 degrees of freedom and not 49."""
    change = np.where(np.arange(50) < 5, 0.4, 0.0)

    (found,) = summaries(change[:, None])

    drawn, share = every_draw(change), widened(0.95, 50, freedom=13)
    assert found.interval == interval_of(drawn, share)
    assert found.bca == bca_interval(change, drawn, share)
    assert share > widened(0.95, 50)


def test_strata_of_one_query_do_not_say_how_far_out_to_read():
    values, strata = np.append(skewed(40), 7.0), np.append(np.arange(40) % 2, 2)

    assert reading_share(values, 0.95, strata) == reading_share(values[:40], 0.95, strata[:40])


# Strata


def test_strata_that_differ_make_an_interval_narrow():
    strata = np.repeat([4, 7], 50)
    values = np.where(strata == 4, 0.2, 0.8) + np.random.default_rng(1).normal(0, 0.01, 100)

    free = summaries(values[:, None])[0].interval
    within = summaries(values[:, None], strata=strata)[0].interval

    assert within[1] - within[0] < (free[1] - free[0]) / 10


def test_means_within_strata_scatter_as_theory_says():
    strata = np.array([0] * 30 + [1] * 90)
    values = np.concatenate([skewed(30), 0.5 + skewed(90, seed=2)])

    drawn = every_draw(values, strata)

    variance = (30 / 120) ** 2 * values[:30].var() / 30 + (90 / 120) ** 2 * values[30:].var() / 90
    assert (drawn.means - values.mean()) ** 2 @ drawn.shares == pytest.approx(variance, rel=0.01)


def test_the_order_of_rows_and_the_names_of_strata_do_not_matter():
    values, strata = skewed(40), np.arange(40) % 2
    turned = np.argsort(strata, kind="stable")

    first = summaries(values[:, None], strata=strata)
    second = summaries(values[turned, None], strata=10 - strata[turned] * -1)

    assert first[0].interval == pytest.approx(second[0].interval, abs=1e-12)


def test_strata_of_one_query_each_have_no_interval():
    (summary,) = summaries(skewed(3)[:, None], strata=np.arange(3))

    assert (summary.interval, summary.bca, summary.n) == (None, None, 3)


def test_one_stratum_is_as_none():
    values = skewed(40)[:, None]

    assert summaries(values, strata=np.zeros(40, dtype=np.int64)) == summaries(values)


def test_strata_stay_aligned_when_values_are_missing():
    values, strata = skewed(40), np.arange(40) % 3
    with_gap = np.concatenate([values, [math.nan]])[:, None]

    assert summaries(with_gap, strata=np.append(strata, 2)) == summaries(values[:, None], strata=strata)


def test_differences_take_strata():
    strata = np.repeat([0, 1], 40)
    change = np.where(strata == 0, -0.2, 0.3)[:, None]

    (found,) = differences(np.zeros((80, 1)), change, strata=strata)

    assert found.interval == pytest.approx((0.05, 0.05))
    assert found.bca == pytest.approx((0.05, 0.05))


# People


def test_people_who_agree_add_nothing():
    values = skewed(60)

    (found,) = people_intervals(np.stack([values, values])[:, :, None])

    assert found == pytest.approx(summaries(values[:, None])[0].interval, abs=1e-12)


def test_an_interval_over_three_people_by_hand():
    """Queries that score alike leave the people: means 0.3, 0.4 and 0.5, so 0.4 ± t of 2 degrees * 0.1 / sqrt(3)."""
    sheets = np.array([0.3, 0.4, 0.5])[:, None].repeat(50, axis=1)

    (found,) = people_intervals(sheets[:, :, None])

    assert found == pytest.approx((0.4 - 4.302653 * 0.0577350, 0.4 + 4.302653 * 0.0577350), abs=1e-6)


def test_people_who_differ_by_chance_widen_the_interval():
    chance = np.random.default_rng(6)
    values = skewed(100)
    sheets = values + chance.normal(0, 0.3, (4, 100))

    low, high = people_intervals(sheets[:, :, None])[0]

    alone = summaries(sheets.mean(axis=0)[:, None])[0].interval
    assert low < alone[0] < alone[1] < high


def test_many_people_leave_the_interval_of_the_queries():
    chance = np.random.default_rng(8)
    sheets = skewed(60) + chance.normal(0, 0.03, (500, 1)) + chance.normal(0, 0.1, (500, 60))

    (found,) = people_intervals(sheets[:, :, None])

    assert found == pytest.approx(summaries(sheets.mean(axis=0)[:, None])[0].interval, abs=2e-4)


def test_the_more_people_lean_alike_the_narrower_the_interval():
    widths = []
    for people in (2, 3, 5, 8, 20):
        effect = np.where(np.arange(people) % 2, 0.05, -0.05)
        low, high = people_intervals((skewed(80) + effect[:, None])[:, :, None])[0]
        widths.append(high - low)

    assert widths == sorted(widths, reverse=True)


def test_each_person_may_have_judged_other_queries():
    first = np.array([0.2, 0.4, 0.5, math.nan, math.nan, 0.3])
    second = np.array([math.nan, 0.4, 0.5, 0.6, 0.7, math.nan])

    (low, high) = people_intervals(np.stack([first, second])[:, :, None])[0]

    assert 0.2 <= low < first[1:3].mean() < high <= 0.7


def test_a_column_of_one_person_or_one_query_has_no_interval_over_people():
    sheets = np.full((2, 3, 2), math.nan)
    sheets[0, :, 0] = 0.5
    sheets[:, 1, 1] = 0.5

    assert people_intervals(sheets) == [None, None]
    assert people_intervals(np.empty((0, 0, 1))) == [None]


def test_people_who_share_no_query_have_no_interval_over_people():
    sheet = np.array([[0.2, 0.4, math.nan, math.nan], [math.nan, math.nan, 0.5, 0.9]])

    assert people_intervals(sheet[:, :, None]) == [None]


def test_columns_with_gaps_are_the_same_alone_and_with_others():
    sheets = np.random.default_rng(4).random((3, 40, 4))
    sheets[0, :7, 1] = sheets[:, :5, 2] = sheets[2, :, 3] = math.nan

    assert people_intervals(sheets) == [people_intervals(sheets[:, :, [column]])[0] for column in range(4)]


def test_an_interval_over_people_is_drawn_only_where_they_judged_other_queries():
    sheets = np.random.default_rng(2).random((3, 40, 1))
    with_gaps = sheets.copy()
    with_gaps[0, :7] = math.nan

    assert people_intervals(sheets) == people_intervals(sheets, seed=21)
    assert people_intervals(with_gaps) == people_intervals(with_gaps)
    assert people_intervals(with_gaps) != people_intervals(with_gaps, seed=21)


# The same bytes


def test_figures_are_the_same_to_the_last_bit_on_any_number_of_threads():
    chance = np.random.default_rng(9)
    values, change = chance.random((3000, 7)), chance.normal(0.01, 0.2, (3000, 7))

    def all_of_it(threads: int) -> list[object]:
        with threadpool_limits(limits=threads):
            return [
                summaries(values),
                differences(values, values + change, resamples=300),
                sign_flip_p(change, resamples=300),
                people_intervals(np.stack([values, values + change])[:, :, :2], resamples=300),
            ]

    assert repr(all_of_it(1)) == repr(all_of_it(2)) == repr(all_of_it(4))


def test_a_column_has_the_same_figures_alone_and_with_others():
    values = np.random.default_rng(3).random((50, 3)) * [1.0, 1e-6, 300.0]

    assert [summaries(values[:, [column]])[0] for column in range(3)] == summaries(values)
