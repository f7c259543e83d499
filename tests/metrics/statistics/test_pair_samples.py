"""What a sample of pairs costs and says of P@k: by figures worked by hand, and by samples of a known population."""

import numpy as np
import pytest

from apps.metrics.statistics.pair_samples import (
    PairSpread,
    SampledPairs,
    assumed_spread,
    hajek,
    horvitz_thompson,
    judgements_needed,
    spread_of,
)
from benchmarks.coverage import ALIKE, PAIR_DEPTH, SAMPLE_SIZES, coverage, judged_pairs, lines_of_pairs


def test_500_pairs_of_as_many_queries_say_as_much_as_270_whole_queries():
    """A fifth of the results is relevant, results of a query are alike by half: .018 beside .042."""
    spread = assumed_spread(0.2, 10)

    assert spread.error_of_pairs(500, 5000) == pytest.approx(0.018, abs=0.0005)
    assert spread.error_of_queries(50) == pytest.approx(0.042, abs=0.0005)
    needed = judgements_needed(0.018, spread, 5000)
    assert (needed.queries, needed.by_queries, needed.by_pairs) == (272, 2720, 494)


def test_the_standard_errors_are_those_of_samples_of_the_population():
    chance = np.random.default_rng(3)
    means, singles = [], []
    for _ in range(3000):
        relevant = judged_pairs(chance, 0.2, 0.5, queries=50)
        means.append(relevant.mean())
        singles.append(relevant[np.arange(50), chance.integers(0, PAIR_DEPTH, 50)].mean())

    assert np.std(means) == pytest.approx(assumed_spread(0.2, 10).error_of_queries(50), rel=0.04)
    assert np.std(singles) == pytest.approx(assumed_spread(0.2, 10).error_of_pairs(50, 50), rel=0.04)


def test_several_pairs_of_a_query_are_worth_less_than_pairs_of_several_queries():
    spread = assumed_spread(0.2, 10)

    errors = [spread.error_of_pairs(pairs, 100) for pairs in (50, 100, 200, 1000)]
    assert errors == sorted(errors, reverse=True)
    assert spread.error_of_pairs(100.0001, 100) == pytest.approx(errors[1], rel=1e-4)
    assert errors[-1] == pytest.approx(spread.error_of_queries(100))
    needed = judgements_needed(0.035, spread, 100).by_pairs
    assert spread.error_of_pairs(needed, 100) <= 0.035 < spread.error_of_pairs(needed - 1, 100)
    assert judgements_needed(0.02, spread, 100) == (None, None, None)  # all 1,000 give .03
    assert judgements_needed(0.035, spread, 100, pooled=25).by_queries == 72 * 25
    alike = PairSpread(0.16, 0.0, 1)  # Success@1: both plans are the same
    assert judgements_needed(0.05, alike, 1000) == (64, 64, 64)
    for error, queries in ((0, 5), (float("nan"), 5), (0.1, 0)):
        with pytest.raises(ValueError, match="above 0"):
            judgements_needed(error, spread, queries)


@pytest.mark.parametrize("alike", ALIKE)
def test_the_scatter_is_known_from_grades_that_are_there(alike):
    relevant = judged_pairs(np.random.default_rng(1), 0.2, alike, queries=2000)
    query, place = np.nonzero(np.random.default_rng(2).random(relevant.shape) < 0.4)

    found = spread_of(relevant[query, place], query, 10)

    assert found.variance == pytest.approx(0.16, abs=0.01)
    assert found.alike == pytest.approx(alike, abs=0.04)


def test_without_scatter_or_two_values_of_a_query_the_scatter_is_not_known():
    assert spread_of(np.array([1.0, 1.0, 1.0]), np.array([0, 0, 1]), 10) is None
    assert spread_of(np.array([1.0, 0.0]), np.array([0, 1]), 10) is None
    assert spread_of(np.array([1.0, 0.0]), np.array([0, 0]), 10) is None


def sampled(relevant, probability, query, found, depth=2):
    columns = (np.array(relevant, float), np.array(probability, float), np.array(query), np.array(found))
    return SampledPairs(*columns, depth)


def test_both_estimates_are_as_worked_by_hand():
    """Weights 2 and 4: 2 / 6 relevant; residuals ± 4/3 of 6, error √(2 · 2 · (2/9)²). Totals 2 and 0 of 4 places."""
    pairs = sampled([1, 0], [0.5, 0.25], [0, 1], [2, 2])

    ratio, total = hajek(pairs), horvitz_thompson(pairs)

    assert ratio.estimate.value == pytest.approx(1 / 3)
    assert ratio.error == pytest.approx(4 / 9)
    assert ratio.estimate.n == 2
    assert ratio.estimate.low < 1 / 3 < ratio.estimate.high
    assert total.estimate.value == pytest.approx(0.5)
    assert total.error == pytest.approx(0.5)


def test_all_pairs_sampled_give_the_score_itself_and_a_place_without_a_result_is_not_relevant():
    pairs = sampled([1, 0, 1], [1, 1, 1], [0, 0, 1], [2, 1])

    assert hajek(pairs).estimate.value == pytest.approx((0.5 + 0.5) / 2)
    assert horvitz_thompson(pairs).estimate.value == pytest.approx((0.5 + 0.5) / 2)
    assert hajek(pairs).error == pytest.approx(horvitz_thompson(pairs).error)


def test_what_cannot_be_known_has_a_reason():
    none, one = sampled([], [], [], [2, 2]), sampled([1, 0], [0.5, 0.5], [0, 0], [2, 2])
    for estimate in (hajek, horvitz_thompson):
        assert estimate(none).estimate == (None, None, None, 0, "", "No sampled pair of this run is judged yet.")
        assert estimate(one).estimate.reason == "An interval needs judged pairs of two queries."
    zero = hajek(sampled([0] * 10, [0.1] * 10, range(10), [2] * 50)).estimate
    assert (zero.value, zero.low) == (0, 0)
    assert zero.high > 0.25  # as Wilson's of ten


def test_intervals_of_sampled_pairs_hold_the_truth_about_as_often_as_they_say():
    lines = {words: line for words, line in lines_of_pairs().items() if "Hájek" in words}

    shares = [coverage(line.truth, line.make, n, 200) for line in lines.values() for n in SAMPLE_SIZES]

    assert min(shares) >= 0.915
    assert 0.94 <= np.mean(shares) <= 0.975
