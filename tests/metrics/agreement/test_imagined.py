"""The item that nobody has seen: what it may look like, and that it is drawn beside the others but never counted."""

import numpy as np
import pytest

from apps.metrics.agreement.counting import MISSING, category_counts
from apps.metrics.agreement.multi_rater import conger_kappa, fleiss_kappa, pairwise
from apps.metrics.agreement.uncertainty import (
    MOST,
    Settings,
    estimate,
    pairs_of_categories,
    resampled,
    rows_of_pairs,
    sample_of_codes,
    sample_of_counts,
    sample_of_table,
    spread,
)


def test_half_of_it_is_even_and_half_agrees():
    pairs = pairs_of_categories(2)

    assert list(zip(pairs.first, pairs.second, pairs.shares, strict=True)) == [
        (0, 0, 0.375),
        (0, 1, 0.125),
        (1, 0, 0.125),
        (1, 1, 0.375),
    ]


@pytest.mark.parametrize("size", [1, 2, 5, 14, 15, 101, 1000])
def test_shares_add_up_however_many_categories(size):
    pairs = pairs_of_categories(size)

    assert pairs.shares.sum() == pytest.approx(1)
    assert pairs.shares[pairs.first == pairs.second].sum() == pytest.approx(0.5 + 0.5 / size, abs=0.02)
    assert len(pairs.shares) <= 2 * MOST
    assert max(pairs.first.max(), pairs.second.max()) < size


def test_a_sample_of_very_many_pairs_covers_the_whole_range():
    pairs = pairs_of_categories(100)

    quarters = np.histogram2d(pairs.first, pairs.second, bins=2, weights=pairs.first != pairs.second)[0]

    assert quarters.min() > 40


def test_every_two_raters_may_have_rated_it():
    rows, shares = rows_of_pairs(np.array([0, 2, 3]), 4, 2, MISSING)

    assert len(rows) == 3 * 4
    assert (rows[:, 1] == MISSING).all()
    assert ((rows != MISSING).sum(axis=1) == 2).all()
    assert shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("raters", [[], [1]])
def test_it_takes_two_raters(raters):
    rows, shares = rows_of_pairs(np.array(raters, dtype=np.int64), 3, 4, MISSING)

    assert (rows.shape, shares.size) == ((0, 3), 0)


def test_a_crowd_is_spread_over_few_rows():
    rows, _ = rows_of_pairs(np.arange(700), 700, 5, MISSING)

    assert len(rows) == MOST
    assert len(np.unique(np.nonzero(rows != MISSING)[1])) > 250


@pytest.mark.parametrize("count", [MOST + 1, 10_000, 99_991])
def test_what_is_strewn_is_distinct(count):
    assert len(set(spread(count).tolist())) == MOST


def test_half_an_imagined_item_is_added_to_the_resampled_items():
    """Each of 50 places draws it with a chance of 0.5 / 50.5, and five ninths of it is in cells without an item."""
    table = np.diag([30, 20, 0])

    drawn = np.concatenate(list(resampled(sample_of_table(table), seed=1, resamples=20_000)))

    unseen = drawn[:, table.reshape(-1) == 0].sum(axis=1)
    assert (drawn.sum(axis=1) == 50).all()
    assert unseen.mean() == pytest.approx(50 * 0.5 / 50.5 * 5 / 9, rel=0.05)


def test_it_is_in_no_value_no_error_and_no_count():
    rated = np.array([[0, 0, 1], [1, 1, 1], [0, MISSING, 0], [2, 1, 2], [1, 1, MISSING]])
    few, many = category_counts(rated, 3), category_counts(rated, 9)

    for one, other in (
        (fleiss_kappa(few), fleiss_kappa(many)),
        (conger_kappa(rated, 3), conger_kappa(rated, 9)),
        (estimate(sample_of_counts(few), pairwise(sample_of_counts(few))),) * 2,
    ):
        assert (one.value, one.standard_error, one.n) == pytest.approx((other.value, other.standard_error, other.n))
    assert sample_of_codes(rated, 3).n == sample_of_counts(few).n == 5


def test_it_takes_no_reason_away():
    alone = np.array([[0, 0], [0, 0], [0, MISSING]])

    assert conger_kappa(alone, 3).reason == fleiss_kappa(category_counts(alone, 3)).reason
    assert "Only one category" in conger_kappa(alone, 3).reason


def test_without_resamples_nothing_is_drawn():
    sample = sample_of_table(np.diag([3, 4]))

    assert list(resampled(sample, seed=Settings().seed, resamples=0)) == []
