from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.metrics.measures.registry import parse_measure
from apps.metrics.statistics.significance import Summary
from apps.metrics.statistics.strata import ComparedStratum, compare_strata, open_strata, weighted_to_shares


def test_strata_are_largest_first_and_small_ones_are_counted():
    values = np.arange(13) / 10
    labels = ["a"] * 5 + ["b"] * 6 + ["", "c"]

    found, small = compare_strata(labels, [values, values], parse_measure("nDCG@10"))

    assert [(one.name, one.n) for one in found] == [("b", 6), ("a", 5)]
    assert small == 1
    assert found[1].summaries[0].mean == pytest.approx(0.2)
    assert found[1].summaries[0].interval is not None


def test_wordings_of_one_question_count_once_in_a_stratum_too():
    values, labels = np.arange(12) / 12, ["a"] * 6 + ["b"] * 6

    (one, other), _ = compare_strata(labels, [values], parse_measure("AP"), np.array([0, 0, 0, 1, 1, 1, *range(2, 8)]))

    (alone, same), _ = compare_strata(labels, [values], parse_measure("AP"))
    assert other == same
    assert one.summaries[0].mean == alone.summaries[0].mean
    assert width(one) > 1.5 * width(alone)


def width(stratum: ComparedStratum) -> float:
    low, high = stratum.summaries[0].interval
    return high - low


SEALED = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.booleans()), min_size=1, max_size=80)


@given(SEALED)
def test_no_means_of_what_is_shown_subtract_to_a_sum_over_few_sealed_rows(rows):
    kinds = [[("domain", one), ("difficulty", two)] for one, two, _ in rows]
    sealed = np.array([is_sealed for *_, is_sealed in rows])

    shown = open_strata(kinds, sealed.tolist())

    masks = [np.array([kind in own for own in kinds]) for kind in shown]
    for inside in masks:
        assert not 0 < (inside & sealed).sum() < 5
        assert not 0 < (inside & ~sealed).sum() < 5
    sums = np.array([sealed, *(mask & sealed for mask in masks if (mask & sealed).any())], dtype=float)
    if sealed.sum() >= 5:  # what all of them add up to is known as well
        patterns = Counter(map(tuple, sums.T[sealed].tolist()))
        assert min(patterns.values()) >= 5


@given(SEALED)
def test_open_rows_show_no_stratum_that_is_not_shown_of_sealed_rows_alone(rows):
    kinds = [[("domain", one), ("difficulty", two)] for one, two, _ in rows]
    sealed = [is_sealed for *_, is_sealed in rows]
    fields = ["domain", "difficulty"]

    together = open_strata(kinds, sealed, fields=fields)

    alone = [own for own, is_in in zip(kinds, sealed, strict=True) if is_in]
    in_sealed = {kind for own in alone for kind in own}
    assert set(together) & in_sealed <= set(open_strata(alone, [True] * len(alone), fields=fields))


def test_four_open_rows_and_a_sealed_one_are_no_stratum_and_a_rest_of_one_hides_its_neighbour():
    mixed = [("domain", "crypto")] * 5 + [("domain", "doors")] * 20
    assert open_strata([[kind] for kind in mixed], [True] + [False] * 4 + [True] * 10 + [False] * 10) == []
    assert open_strata([[kind] for kind in mixed], [False] * 25) == [("domain", "doors"), ("domain", "crypto")]
    alone = [True] + [False] * 4 + [True] * 10 + [False] * 10
    assert open_strata([[kind] for kind in mixed], alone, by_subtraction=False) == [("domain", "doors")]


def test_open_rows_do_not_decide_which_of_two_kinds_of_as_many_sealed_rows_is_shown():
    sealed = [[("domain", name)] for name in "a" * 5 + "c" * 5 + "b" * 3]
    open_rows = [[("domain", "c")]] * 10

    assert open_strata(sealed, [True] * 13) == [("domain", "a")]
    assert open_strata(sealed + open_rows, [True] * 13 + [False] * 10) == [("domain", "a")]


def stratum(name, n, *summaries):
    return ComparedStratum(name, n, tuple(summaries))


def test_a_mean_by_stated_shares_is_what_a_hand_works_out():
    """0.7 · 0.5 + 0.3 · 0.9 = 0.62; down √((0.7 · 0.1)² + (0.3 · 0.2)²), up √((0.7 · 0.2)² + (0.3 · 0.05)²)."""
    strata = [stratum("a", 40, Summary(0.5, (0.4, 0.7), 40)), stratum("b", 10, Summary(0.9, (0.7, 0.95), 10))]

    (found,) = weighted_to_shares(strata, [0.7, 0.3])

    assert found.mean == pytest.approx(0.62)
    assert found.interval == pytest.approx((0.62 - np.hypot(0.07, 0.06), 0.62 + np.hypot(0.14, 0.015)))
    assert (found.n, found.method) == (50, "mover")
    (alone,) = weighted_to_shares(strata, [0.0, 1.0])
    assert (alone.mean, alone.interval, alone.n) == (0.9, pytest.approx((0.7, 0.95)), 10)


def test_a_stratum_without_a_mean_or_an_interval_leaves_the_weighted_one_without():
    strata = [
        stratum("a", 5, Summary(0.5, None, 1), Summary(0.5, (0, 1), 5)),
        stratum("b", 5, *[Summary(None, None, 0)] * 2),
    ]

    assert [one.mean for one in weighted_to_shares(strata, [0.5, 0.5])] == [None, None]
    first, second = weighted_to_shares(strata, [1.0, 0.0])
    assert (first.interval, second.interval) == (None, (0, 1))


@pytest.mark.parametrize("sizes", [(5, 30), (20, 60), (10, 10, 40)])
@pytest.mark.parametrize("is_yes_or_no", [True, False])
def test_the_interval_by_shares_covers_the_true_mean_as_often_as_it_claims(sizes, is_yes_or_no):
    """Drawn 1,000 times from strata whose means are 0.9, 0.4 and 0.6."""
    rng, shares = np.random.default_rng(5), [0.7, 0.3] if len(sizes) == 2 else [0.5, 0.3, 0.2]
    measure = parse_measure("Success@5" if is_yes_or_no else "nDCG@10")
    labels = [str(at) for at, size in enumerate(sizes) for _ in range(size)]
    truth = sum(share * mean for share, mean in zip(shares, (0.9, 0.4, 0.6), strict=False))

    def drawn() -> np.ndarray:
        means = np.repeat((0.9, 0.4, 0.6)[: len(sizes)], sizes)
        chances = means if is_yes_or_no else rng.beta(2 * means, 2 * (1 - means))
        return (rng.random(len(means)) < chances).astype(float) if is_yes_or_no else chances

    covered = 0
    for _ in range(1_000):
        strata, _ = compare_strata(labels, [drawn()], measure)
        by_name = {one.name: one for one in strata}
        (found,) = weighted_to_shares([by_name[str(at)] for at in range(len(sizes))], shares)
        covered += found.interval[0] <= truth <= found.interval[1]

    assert covered >= 920
