"""Grades as a matrix of items by people, and what it says of them. No database."""

import numpy as np

from apps.metrics.agreement import overall, ratings
from apps.metrics.agreement.counting import MISSING
from apps.metrics.agreement.overall import COEFFICIENTS, Scale, all_coefficients, every_pair
from apps.metrics.agreement.ratings import Ratings, alpha_of, alphas_of, coefficients_of, pairs_of, pairs_sharing

SCALE = Scale(4, (0.0, 1.0, 2.0, 3.0), is_numeric=True)


def given(people: int, items: int = 60, missing: float = 0.4) -> Ratings:
    """People numbered from 11 who see the true grade, of four, in most cases; three items a query."""
    dice = np.random.default_rng(3)
    true = dice.integers(0, 4, (items, 1))
    codes = np.where(dice.random((items, people)) < 0.7, true, dice.integers(0, 4, (items, people)))
    codes = np.where(dice.random((items, people)) < missing, MISSING, codes)
    places = np.column_stack([np.arange(items) // 3, np.arange(items)])
    return Ratings(tuple(range(11, 11 + people)), (0, 1, 2, 3), codes, places)


def test_all_pairs_at_once_are_what_they_are_one_by_one():
    grades = given(4)

    assert pairs_of(grades) == pairs_of(grades, pairs_sharing(grades))


def test_pairs_of_a_crowd_take_their_intervals_over_items_from_the_standard_error(monkeypatch):
    monkeypatch.setattr(overall, "MOST_RESAMPLED", 2)
    grades = given(4)

    found = every_pair(grades.codes, SCALE)

    assert [(grades.people[pair.first], grades.people[pair.second], pair.n) for pair in found] == [
        (*pair, int(grades.table(*pair).sum())) for pair in pairs_sharing(grades)
    ]
    assert {pair.figures["cohen_kappa"].method for pair in found} == {"standard error"}


def test_alpha_of_two_people_is_that_of_everybody_where_they_are_everybody():
    grades = given(2)

    assert alphas_of(grades, pairs_of(grades)) == [alpha_of(grades)]


def test_coefficients_of_everybody_are_those_of_karat_agree():
    grades = given(3)

    found = coefficients_of(grades)

    theirs = all_coefficients(grades.codes, SCALE, clusters=grades.clusters)
    assert found == [theirs[key] for key in ratings.OF_EVERYBODY]
    assert set(ratings.OF_EVERYBODY) < set(COEFFICIENTS)
