import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from apps.metrics.measures.registry import parse_measures
from apps.metrics.statistics.bootstrap import people_intervals, percentile_interval, resampled_means
from apps.metrics.statistics.intervals import mean_interval
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


# People


def test_people_who_agree_add_nothing():
    values = skewed(60)

    (found,) = people_intervals(np.stack([values, values])[:, :, None])

    assert found == pytest.approx(mean_interval(values, 0.95), abs=1e-12)


def test_an_interval_over_three_people_by_hand():
    """Queries that score alike leave the people: means 0.3, 0.4 and 0.5, so 0.4 ± t of 2 degrees * 0.1 / sqrt(3)."""
    sheets = np.array([0.3, 0.4, 0.5])[:, None].repeat(5000, axis=1)

    (found,) = people_intervals(sheets[:, :, None])

    assert found == pytest.approx((0.4 - 4.302653 * 0.0577350, 0.4 + 4.302653 * 0.0577350), abs=1e-4)


def test_people_who_differ_by_chance_widen_the_interval():
    chance = np.random.default_rng(6)
    values = skewed(100)
    sheets = values + chance.normal(0, 0.3, (4, 100))

    low, high = people_intervals(sheets[:, :, None])[0]

    alone = mean_interval(sheets.mean(axis=0), 0.95)
    assert low < alone[0] < alone[1] < high


def test_many_people_leave_the_interval_of_the_queries():
    chance = np.random.default_rng(8)
    sheets = skewed(60) + chance.normal(0, 0.03, (500, 1)) + chance.normal(0, 0.1, (500, 60))

    (found,) = people_intervals(sheets[:, :, None])

    assert found == pytest.approx(mean_interval(sheets.mean(axis=0), 0.95), abs=3e-4)


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


# The same bytes


SEVEN = "nDCG@10 AP RR Success@5 P@5 Recall@100 RBP"


def test_figures_are_the_same_to_the_last_bit_on_any_number_of_threads():
    chance = np.random.default_rng(9)
    values, change = chance.random((3000, 7)), chance.normal(0.01, 0.2, (3000, 7))

    def all_of_it(threads: int) -> list[object]:
        with threadpool_limits(limits=threads):
            return [
                summaries(parse_measures(SEVEN), values),
                differences(values, values + change, resamples=300),
                sign_flip_p(change, resamples=300),
                people_intervals(np.stack([values, values + change])[:, :, :2]),
            ]

    assert repr(all_of_it(1)) == repr(all_of_it(2)) == repr(all_of_it(4))


def test_a_column_has_the_same_figures_alone_and_with_others():
    values = np.random.default_rng(3).random((50, 3)) * [1.0, 1e-6, 0.3]
    measures = parse_measures("nDCG@10 AP RR")

    alone = [summaries([measure], values[:, [place]])[0] for place, measure in enumerate(measures)]
    assert alone == summaries(measures, values)
