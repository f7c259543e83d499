"""Intervals over clusters of items: pairs of one query are alike, and count as less than as many of all queries."""

from dataclasses import replace
from itertools import pairwise as neighbours

import numpy as np
import pytest

from apps.metrics.agreement.alpha import krippendorff_alpha
from apps.metrics.agreement.counting import MISSING, category_counts, pair_cells, pair_table
from apps.metrics.agreement.multi_rater import conger_kappa, fleiss_kappa, gwet_ac
from apps.metrics.agreement.overall import Scale, all_coefficients, by_category, every_pair
from apps.metrics.agreement.pairs import cohen_kappa, kappa_of_maximum, pair_gwet_ac, percent_agreement
from apps.metrics.agreement.ratings import Ratings, alpha_of, pairs_of, pairs_sharing
from apps.metrics.agreement.results import FEWEST_CLUSTERS
from apps.metrics.agreement.uncertainty import MOST_CLUSTERS, Settings, sample_of_counts
from benchmarks.coverage import PREVALENCE, clustered_grades

SCALE = Scale(4, (0.0, 1.0, 2.0, 3.0), is_numeric=True)


def graded(queries: int = 40, each: int = 6, people: int = 3, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Grades, items by people, and the query of each item; people agree more on some queries than on others."""
    return clustered_grades(np.random.default_rng(seed), queries, each, 0.6, varies=True, people=people)


def ordinal(rated: np.ndarray, clusters: np.ndarray | None):
    return krippendorff_alpha(category_counts(rated, 4), level="ordinal", values=range(4), clusters=clusters)


def width(coefficient) -> float:
    low, high = coefficient.interval
    return high - low


# What it is


def test_every_coefficient_has_one_around_the_value_it_has_without_clusters():
    rated, queries = graded()
    two = rated[:, :2]
    table, cells = pair_table(*two.T, 4), pair_cells(*two.T, 4, queries)
    counts = category_counts(rated, 4)

    pairs = [
        (cohen_kappa(table, kind=kind, cells=cells), cohen_kappa(table, kind=kind))
        for kind in ("nominal", "linear", "quadratic")
    ]
    pairs += [(own(table, cells), own(table)) for own in (kappa_of_maximum, pair_gwet_ac)]
    pairs += [(percent_agreement(table, cells=cells), percent_agreement(table))]
    pairs += [(own(counts, clusters=queries), own(counts)) for own in (fleiss_kappa, gwet_ac)]
    pairs += [(conger_kappa(rated, 4, clusters=queries), conger_kappa(rated, 4))]
    pairs += [
        (krippendorff_alpha(counts, level=level, clusters=queries), krippendorff_alpha(counts, level=level))
        for level in ("nominal", "ordinal", "interval", "ratio")
    ]

    for over_queries, over_items in pairs:
        assert (over_queries.value, over_queries.n) == (over_items.value, over_items.n)
        assert over_queries.interval[0] < over_queries.value < over_queries.interval[1]
        assert (over_queries.method, over_queries.clusters) == ("jackknife over clusters", 40)
        assert width(over_queries) > width(over_items)


def test_items_that_are_their_own_clusters_have_the_analytic_error():
    rated, queries = graded(600, 1)

    for over_queries, over_items in (
        (ordinal(rated, queries), ordinal(rated, None)),
        (conger_kappa(rated, 4, clusters=queries), conger_kappa(rated, 4)),
    ):
        assert over_queries.standard_error == pytest.approx(over_items.standard_error, rel=0.12)
        assert over_queries.interval == pytest.approx(over_items.interval, abs=0.02)


def test_the_same_pairs_twice_tell_no_more():
    rated, queries = graded()

    once, twice = ordinal(rated, queries), ordinal(np.tile(rated, (2, 1)), np.tile(queries, 2))

    assert width(twice) == pytest.approx(width(once), rel=0.02)
    assert width(ordinal(np.tile(rated, (2, 1)), None)) < 0.75 * width(ordinal(rated, None))


def test_neither_order_nor_names_of_clusters_matter():
    rated, queries = graded()
    order = np.random.default_rng(1).permutation(len(rated))

    assert ordinal(rated[order], 7_000_000 - 3 * queries[order]).interval == pytest.approx(
        ordinal(rated, queries).interval, abs=1e-9
    )


def test_raters_of_one_cluster_and_missing_grades_are_no_obstacle():
    rated, queries = graded(20, 4)
    rated = np.column_stack([rated, np.where(queries == 3, 2, MISSING), np.where(queries == 4, 1, MISSING)])
    rated[::3, 1] = MISSING

    found = all_coefficients(rated, SCALE, clusters=queries)

    defined = [one for one in found.values() if one.is_defined]
    assert len(defined) == 11
    assert all(one.interval[0] < one.value < one.interval[1] for one in defined)
    pairs = [(pair.first, pair.second) for pair in every_pair(rated, SCALE, clusters=queries)]
    assert set(pairs) == {(0, 1), (0, 2), (1, 2), *((person, late) for person in (0, 1, 2) for late in (3, 4))}
    assert all(
        one.specific.clusters == 20 for one in by_category(category_counts(rated, 4), range(4), clusters=queries)
    )


# Its edges


def test_where_every_item_agrees_as_many_clusters_count():
    """Wilson's bound of 10 of 10 is 0.722."""
    rated = np.repeat([[0, 0], [1, 1]], 20, axis=0)
    clusters = np.arange(40) % 10

    found = percent_agreement(pair_table(*rated.T, 2), cells=pair_cells(*rated.T, 2, clusters))

    assert found.interval == pytest.approx((0.722, 1.0), abs=5e-4)
    assert krippendorff_alpha(category_counts(rated, 2), clusters=clusters).method == found.method


def test_one_cluster_has_no_interval_and_says_why():
    rated, queries = graded(1, 30)

    found = ordinal(rated, queries)

    assert (found.interval, found.method) == (None, "no interval: all items are in one cluster")
    assert found.value == ordinal(rated, None).value


def test_what_is_undefined_has_its_reason():
    assert krippendorff_alpha(np.array([[2, 0], [2, 0]]), clusters=np.array([1, 2])).reason.startswith("Only one cat")
    assert krippendorff_alpha(np.zeros((0, 2), dtype=np.int64), clusters=np.zeros(0, dtype=np.int64)).value is None


def test_below_fifteen_clusters_are_few():
    rated, queries = graded(FEWEST_CLUSTERS, 5)

    assert not ordinal(rated, queries).has_few_clusters
    assert ordinal(rated[queries > 0], queries[queries > 0]).has_few_clusters
    assert not ordinal(rated, None).has_few_clusters


def test_very_many_clusters_are_joined_and_cost_no_more():
    rated, queries = graded(3_000, 2)

    sample = sample_of_counts(category_counts(rated, 4), clusters=queries)

    assert sample.clusters[0].size == MOST_CLUSTERS
    assert ordinal(rated, queries).clusters == 3_000
    assert width(ordinal(rated, queries)) == pytest.approx(width(ordinal(rated, queries // 4)), rel=0.15)


# How often it covers


@pytest.mark.parametrize("varies", [False, True])
def test_it_covers_where_intervals_over_items_do_not(varies):
    """Sixteen cells of 100 samples: 15 to 60 queries of 2 or 12 pairs, α of 0.2 to 0.9."""
    shares, over_items = [], []
    for level in (0.2, 0.5, 0.8, 0.9):
        for queries, each in ((15, 2), (15, 12), (30, 12), (60, 2)):
            chance = np.random.default_rng([queries, each, int(10 * level)])
            drawn = [clustered_grades(chance, queries, each, level, varies=varies) for _ in range(100)]
            found = [ordinal(rated, clusters).interval for rated, clusters in drawn]
            shares.append(np.mean([low <= level <= high for low, high in found]))
            if each == 12:
                plain = [ordinal(rated, None).interval for rated, _ in drawn[:40]]
                over_items.append(np.mean([low <= level <= high for low, high in plain]))

    assert 0.93 < np.mean(shares) < 0.975
    assert min(shares) > 0.86
    assert (np.mean(over_items) < 0.85) == varies


def crossing(chance: np.random.Generator, queries: int, texts: int, filled: float) -> Ratings:
    """Two people's grades of pairs of which queries and texts, both alike and hard by a beta distribution, have many.

    Every alpha of the population is 0.64: the product of the mean shares that are known by query and by text.
    """
    query, text = np.nonzero(chance.random((queries, texts)) < filled)
    known = np.sqrt(chance.beta(2.4, 0.6, queries)[query] * chance.beta(2.4, 0.6, texts)[text])
    true, guessed = (chance.choice(4, p=PREVALENCE, size=(len(query), each)) for each in (1, 2))
    codes = np.where(chance.random(guessed.shape) < known[:, None], true, guessed)
    return Ratings((1, 2), (0, 1, 2, 3), codes, np.column_stack([query, text]))


def test_texts_that_many_queries_share_are_clusters_too():
    """Over queries alone such an interval holds the truth in 75 to 81 % of samples."""
    chance, over_both, over_queries = np.random.default_rng(3), [], []
    for _ in range(120):
        ratings = crossing(chance, 50, 10, 1.0)
        over_both.append(alpha_of(ratings).interval)
        over_queries.append(ordinal(ratings.codes, ratings.items[:, 0]).interval)

    both, queries = (np.mean([low <= 0.64 <= high for low, high in ends]) for ends in (over_both, over_queries))
    assert queries < 0.86 < 0.9 < both


def test_texts_of_one_query_each_change_nothing():
    chance = np.random.default_rng(3)
    few, many = crossing(chance, 30, 400, 0.02), crossing(chance, 30, 40, 0.4)

    assert few.clusters.ndim == 1
    assert many.clusters.ndim == 2
    assert alpha_of(many).clusters == 30
    own = replace(many, items=np.column_stack([many.items[:, 0], np.arange(len(many.items))]))
    assert ordinal(own.codes, own.items).interval == pytest.approx(alpha_of(own).interval, abs=0.01)


def test_all_pairs_at_once_are_what_they_are_one_by_one_where_texts_cross():
    ratings = crossing(np.random.default_rng(4), 12, 5, 0.9)
    three = replace(ratings, people=(1, 2, 3), codes=np.column_stack([ratings.codes, ratings.codes[:, 0]]))

    assert three.clusters.ndim == 2
    assert pairs_of(three) == pairs_of(three, pairs_sharing(three))


def test_one_text_for_all_queries_leaves_the_queries():
    ratings = crossing(np.random.default_rng(4), 20, 1, 1.0)

    assert alpha_of(ratings).interval == ordinal(ratings.codes, ratings.items[:, 0]).interval


def test_wider_confidence_gives_wider_intervals():
    rated, queries = graded()
    counts = category_counts(rated, 4)

    widths = [
        width(krippendorff_alpha(counts, clusters=queries, settings=Settings(confidence=share)))
        for share in (0.5, 0.8, 0.95, 0.99)
    ]

    assert all(narrow < wide for narrow, wide in neighbours(widths))
