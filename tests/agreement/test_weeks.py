"""One person's grades over the weeks; intervals against SciPy."""

from datetime import date, timedelta

import numpy as np
import pytest
from scipy import stats

from apps.agreement.core.weeks import columns_from, lean_of, leans, median_of, weeks_of
from apps.metrics.agreement.ratings import Dated, ratings_from

SCALE = (0, 1, 2, 3)
MONDAY = date(2026, 3, 2)


def dated(*rows: tuple[int, int, int, int, date]) -> Dated:
    return columns_from((*row[:4], row[4].isoformat()) for row in rows).rated(SCALE)


def test_a_lean_is_the_distance_to_the_mean_of_the_others():
    rows = [(1, 1, 7, 3), (1, 1, 8, 1), (1, 1, 9, 2), (2, 1, 7, 0), (3, 1, 8, 2)]

    found = leans(ratings_from(rows, SCALE))

    assert found[0].tolist() == [1.5, -1.5, 0.0]
    assert np.isnan(found[1:]).all()


def test_nobody_leans_where_nothing_is_graded():
    assert leans(ratings_from([], SCALE)).shape == (0, 0)


def test_weeks_of_somebody_who_graded_nothing_here_show_only_their_pace():
    found = weeks_of(dated((1, 1, 8, 1, MONDAY)), 7, {MONDAY: np.array([500])}, most=9)

    assert [(week.lean.value, week.alpha.value, week.pace.value) for week in found] == [(None, None, 500)]


def test_the_interval_of_a_lean_is_students():
    values = np.array([0.5, -1.0, np.nan, 0.0, 1.0, 0.5])

    found = lean_of(values)

    own = values[np.isfinite(values)]
    expected = stats.t.interval(0.95, 4, own.mean(), stats.sem(own))
    assert (found.value, found.n) == (pytest.approx(own.mean()), 5)
    assert found.interval == pytest.approx(expected)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "Nobody else graded these pairs."),
        ([1.0], "One pair is too few for an interval."),
        ([1.0, 1.0], "All differences are the same, so there is no interval."),
    ],
)
def test_a_lean_without_an_interval_says_why(values, reason):
    found = lean_of(np.array(values))

    assert (found.interval, found.reason) == (None, reason)


@pytest.mark.parametrize("n", [6, 9, 25, 100])
def test_the_interval_of_a_median_covers_as_much_as_it_says(n):
    low, high = median_of(range(1, n + 1)).interval

    covered = stats.binom.cdf(high - 1, n, 0.5) - stats.binom.cdf(low - 1, n, 0.5)
    narrower = stats.binom.cdf(high - 2, n, 0.5) - stats.binom.cdf(low, n, 0.5)
    assert low + high == n + 1
    assert narrower < 0.95 <= covered


def test_few_values_have_a_median_without_interval():
    assert median_of([3, 1, 2])[:4] == (2.0, None, None, 3)
    assert median_of([3, 1, 2]).reason == "Fewer than 6 values have no interval of their median."
    assert median_of([])[:4] == (None, None, None, 0)


def test_weeks_show_person_effect_agreement_and_pace_separately():
    graded = {1: MONDAY, 2: MONDAY + timedelta(days=6), 3: date(2026, 3, 9)}
    own = [(item, 1, 7, grade, graded[item]) for item, grade in ((1, 3), (2, 0), (3, 1))]
    others = [(item, 1, 8, grade, MONDAY) for item, grade in ((1, 2), (2, 0), (3, 1))]

    found = weeks_of(dated(*own, *others), 7, {MONDAY: np.array([1_000, 3_000])}, most=9)

    assert [(week.begins.day, week.lean.value, week.alpha.n, week.pace.value) for week in found] == [
        (2, 0.5, 2, 2_000),
        (9, 0.0, 1, None),
    ]


def test_of_many_weeks_the_last_are_shown():
    grades = dated(*((item, 1, 7, 0, date(2026, 3, 2 + 7 * item)) for item in range(4)))

    assert [week.begins.day for week in weeks_of(grades, 7, {}, most=2)] == [16, 23]
