"""What people add to the uncertainty of a mean: by hand, in gaps, and between the quantiles of people and queries."""

import math

import numpy as np
import pytest

from apps.metrics.statistics.bootstrap import PersonEffect, person_effect_of
from apps.metrics.statistics.proportions import student_quantile

CONFIDENCE = 0.95


def person_effect_in(sheet: np.ndarray) -> PersonEffect | None:
    return person_effect_of(sheet, ~np.isnan(sheet))


def test_two_people_and_three_queries_by_hand():
    """Means 0.4 and 0.6: variance 0.02 / 2. Squares left by people and queries: 0.01 on 2 degrees; over 6 cells."""
    found = person_effect_in(np.array([[0.2, 0.4, 0.6], [0.3, 0.7, 0.8]]))

    assert found.variance == pytest.approx(0.01)
    assert found.chance == pytest.approx(0.005 / 6)
    assert (found.queries, found.freedom) == (3, 1)


def test_a_full_table_is_the_analysis_of_variance():
    sheet = np.random.default_rng(1).normal(0.5, 0.2, (5, 30)) + np.arange(5)[:, None] / 20

    found = person_effect_in(sheet)

    left = sheet - sheet.mean(axis=0) - sheet.mean(axis=1, keepdims=True) + sheet.mean()
    assert found.variance == pytest.approx(sheet.mean(axis=1).var(ddof=1) / 5)
    assert found.chance == pytest.approx((left**2).sum() / (4 * 29) / 150)
    assert found.freedom == 4


@pytest.mark.parametrize("apart", [0.0, 0.2])
def test_a_table_with_gaps_estimates_on_average_how_uncertain_its_mean_is(apart):
    random = np.random.default_rng(5)
    has = random.random((4, 25)) < np.array([0.9, 0.6, 0.6, 0.3])[:, None]
    sheets = apart * random.normal(size=(1000, 4, 1)) + random.normal(0, 0.3, (1000, 4, 25)) + random.random(25)

    found = [person_effect_in(np.where(has, sheet, np.nan)) for sheet in sheets]

    answered = has.sum(axis=1)
    by_people = apart**2 * (answered**2).sum() / answered.sum() ** 2
    assert np.mean([one.variance - one.chance for one in found]) == pytest.approx(by_people, rel=0.1, abs=1e-4)


def test_somebody_who_judged_little_hardly_counts_as_a_person():
    sheet = np.random.default_rng(2).random((3, 100))
    sheet[2, 3:] = np.nan

    assert person_effect_in(sheet).freedom == 1


def test_one_gap_costs_no_degree_of_freedom():
    sheet = np.random.default_rng(2).random((3, 100))
    sheet[2, 0] = np.nan

    assert person_effect_in(sheet).freedom == 2


def test_people_who_share_no_query_give_no_estimate():
    assert person_effect_in(np.array([[0.2, np.nan], [np.nan, 0.8]])) is None


def test_one_shared_query_cannot_separate_chance_from_a_person_effect():
    found = person_effect_in(np.array([[0.2, 0.4, np.nan], [np.nan, 0.6, 0.8]]))

    assert found.variance > 0
    assert found.chance == 0


def test_people_who_agree_in_everything_leave_the_reach_of_the_queries():
    found = person_effect_in(np.tile([0.25, 0.5, 1.0], (4, 1)))

    assert (found.variance, found.chance) == (0, 0)
    assert found.reach(0.1, CONFIDENCE) == pytest.approx(0.1)
    assert found.reach(0.0, CONFIDENCE) == 0


def test_the_reach_by_hand():
    """t of 2 degrees is 4.303, of 1 degree 12.706: 0.01403 in all, 0.713 of it by people, so the quantile is 10.293."""
    found = PersonEffect(queries=3, variance=0.01, chance=0.005 / 6, freedom=1)

    assert found.reach(0.3, CONFIDENCE) == pytest.approx(1.2191, abs=1e-4)


@pytest.mark.parametrize("people", [2, 3, 8])
def test_people_alone_are_read_by_students_quantile_for_people(people):
    found = PersonEffect(queries=200, variance=0.04, chance=0.0, freedom=people - 1)

    assert found.reach(0.0, CONFIDENCE) == pytest.approx(0.2 * student_quantile(CONFIDENCE, people - 1))


def test_many_people_are_weighed_as_welch_has_it():
    """The first term of Welch's series: z + (z³ + z) / 4 * share² / freedom."""
    found = PersonEffect(queries=10**9, variance=0.25, chance=0.0, freedom=2000)
    z = student_quantile(CONFIDENCE, 10**9)

    reach = found.reach(z * math.sqrt(0.75), CONFIDENCE)

    assert reach - z == pytest.approx((z**3 + z) / 4 * 0.25**2 / 2000, rel=0.01)


def test_people_bring_no_end_closer():
    found = PersonEffect(queries=100, variance=0.001, chance=0.01, freedom=2)

    assert found.reach(0.2, CONFIDENCE) == 0.2
