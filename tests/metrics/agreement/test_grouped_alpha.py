"""Agreement by parts of the items and by boundary, against values worked by hand and against the whole coefficient."""

import numpy as np
import pytest

from apps.metrics.agreement.alpha import krippendorff_alpha
from apps.metrics.agreement.counting import MISSING, category_counts
from apps.metrics.agreement.grouped_alpha import boundaries, change_without, changes_without, differing, pattern_counts
from apps.metrics.agreement.ratings import Ratings, pairs_sharing, ratings_from, shared_items

SCALE = (0, 1, 2, 3)


def ratings_of(*items: tuple[int | None, ...], scale=SCALE) -> Ratings:
    """One row an item, one column a person; persons are 1, 2, …"""
    rows = [
        (item, item, person, grade)
        for item, grades in enumerate(items)
        for person, grade in enumerate(grades, start=1)
        if grade is not None
    ]
    return ratings_from(rows, scale)


def noisy(n: int = 60, seed: int = 3) -> Ratings:
    dice = np.random.default_rng(seed)
    truth = dice.integers(0, 4, n)
    codes = np.clip(truth[:, None] + dice.integers(-1, 2, (n, 3)), 0, 3)
    return ratings_of(*(tuple(int(grade) for grade in row) for row in codes))


def alpha(ratings: Ratings, rows) -> float:
    counts = category_counts(ratings.codes[rows], len(ratings.grades))
    return krippendorff_alpha(counts, level="ordinal", values=ratings.grades).value


# Parts


def test_each_part_has_the_alpha_of_its_items():
    ratings = noisy()
    parts = np.arange(60) % 3

    counts = pattern_counts(ratings, parts, 3)

    assert counts.sizes == [20, 20, 20]
    assert [counts.alpha_of(part).value for part in range(3)] == pytest.approx(
        [alpha(ratings, parts == part) for part in range(3)]
    )


def test_items_of_one_grade_or_of_no_part_do_not_count():
    ratings = ratings_of((0, 0), (1, None), (3, 2), (1, 1))

    assert pattern_counts(ratings, np.array([0, 0, -1, 0]), 1).sizes == [2]


def test_a_part_that_is_undefined_says_why():
    ratings = ratings_of((0, 0), (0, 0), (3, 1))
    counts = pattern_counts(ratings, np.array([0, 0, 1]), 2)

    assert counts.alpha_of(0).reason.startswith("Only one category was used")
    assert counts.alpha_of(1).reason.startswith("Only one item")


def test_comparisons_that_differ_are_counted_over_every_two_people():
    ratings = ratings_of((0, 0, 1), (2, 2, 2), (1, 3, None))

    assert differing(pattern_counts(ratings)) == [(3, 7)]


# What a part costs


def test_the_change_without_a_part_is_that_of_the_coefficient():
    ratings = noisy()
    parts = np.arange(60) % 4

    changes = changes_without(pattern_counts(ratings, parts, 4))

    whole = alpha(ratings, parts >= 0)
    assert changes == pytest.approx([alpha(ratings, parts != part) - whole for part in range(4)])


def test_the_change_of_one_part_has_an_interval_around_it():
    ratings = noisy()
    counts = pattern_counts(ratings, np.arange(60) % 4, 4)

    change = change_without(counts, 2)

    low, high = change.interval
    assert change.value == pytest.approx(changes_without(counts)[2])
    assert low < change.value < high
    assert change.n == 15
    assert change == change_without(counts, 2)


def test_a_part_that_is_everything_has_no_change():
    counts = pattern_counts(noisy())

    assert np.isnan(changes_without(counts)).all()
    assert change_without(counts, 0).interval is None


def test_nothing_at_all_has_no_change():
    counts = pattern_counts(ratings_from([], SCALE), np.zeros(0, dtype=np.int64), 2)

    assert np.isnan(changes_without(counts)).tolist() == [True, True]


# Boundaries


def test_crossings_add_up_to_the_distance_between_grades():
    """(0, 3) crosses all three, (1, 2) the middle one, (2, 2) none: one, two and one of four crossings."""
    found = boundaries(ratings_of((0, 3), (1, 2), (2, 2)))

    assert [(each.below, each.above, each.crossings, each.comparisons) for each in found] == [
        (0, 1, 1, 3),
        (1, 2, 2, 3),
        (2, 3, 1, 3),
    ]
    assert [each.share for each in found] == [0.25, 0.5, 0.25]


def test_alpha_of_a_boundary_is_that_of_grades_cut_in_two():
    ratings = noisy()

    found = boundaries(ratings)

    cut = category_counts((ratings.codes >= 2).astype(np.int64), 2)
    assert found[1].alpha.value == pytest.approx(krippendorff_alpha(cut).value)
    assert all(low < each.share < high for each in found for low, high in [each.interval])


def test_where_nobody_differs_no_boundary_has_a_share():
    found = boundaries(ratings_of((0, 0), (3, 3)))

    assert [(each.share, each.interval) for each in found] == [(None, None)] * 3


def test_no_grade_at_all_has_boundaries_without_figures():
    found = boundaries(ratings_from([], SCALE))

    assert [each.comparisons for each in found] == [0, 0, 0]
    assert found[0].alpha.reason == "No item was rated by two people."


# Who shares what


def test_people_who_share_most_come_first():
    ratings = ratings_of((0, 0, None), (1, 1, 1), (2, None, 2), (3, 1, None))

    assert shared_items(ratings).tolist() == [[4, 3, 2], [3, 3, 1], [2, 1, 2]]
    assert pairs_sharing(ratings) == [(1, 2), (1, 3), (2, 3)]


def test_what_nobody_graded_is_missing():
    assert (ratings_of((0, None), (1, 1)).codes == MISSING).sum() == 1
