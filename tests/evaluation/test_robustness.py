from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from apps.evaluation.core.robustness import (
    EVERY_KIND,
    UNNAMED,
    SliceSignal,
    Variant,
    paired_variants,
    robustness_gaps,
    signal_of,
)
from apps.metrics.statistics.significance import differences


def variant(original, kind="typos"):
    return {"variant_of": original, "variant": kind}


def test_variants_are_paired_with_their_originals():
    found = paired_variants(["Q1", "Q1t", "Q2", "Q2l"], [{}, variant("Q1"), {"note": "x"}, variant("Q2", "lower case")])

    assert found.variants == [Variant(1, 0, "typos"), Variant(3, 2, "lower case")]
    assert found.alone == 0


def test_a_variant_whose_original_was_not_scored_is_unpaired():
    found = paired_variants(["Q1t", "Q2"], [variant("Q1"), variant("Q2")])

    assert found.variants == []
    assert found.alone == 2


def test_a_kind_that_nobody_named_has_a_name():
    found = paired_variants(["Q1", "Q1x"], [{}, {"variant_of": "Q1"}])

    assert found.variants == [Variant(1, 0, UNNAMED)]


def test_numbers_in_metadata_are_ids_as_well():
    assert paired_variants(["301", "301t"], [{}, {"variant_of": 301}]).variants == [Variant(1, 0, UNNAMED)]


def test_the_gap_is_the_paired_difference():
    chance = np.random.default_rng(4)
    clean, degraded = chance.random(30), chance.random(30)
    variants = [Variant(30 + row, row, "typos") for row in range(30)]

    (gap,) = robustness_gaps(variants, np.concatenate((clean, degraded)))

    (told,) = differences(clean[:, None], degraded[:, None], resamples=1_000)
    assert (gap.kind, gap.n) == ("typos", 30)
    assert gap.gap == pytest.approx(told.mean)
    assert gap.interval == pytest.approx(told.interval)
    assert gap.degraded - gap.clean == pytest.approx(gap.gap)


def test_a_query_with_two_variants_of_a_kind_counts_once():
    variants = [Variant(2, 0, "typos"), Variant(3, 0, "typos"), Variant(4, 1, "typos")]

    (gap,) = robustness_gaps(variants, np.array([1.0, 0.8, 0.6, 0.4, 0.8]))

    assert (gap.clean, gap.degraded, gap.gap, gap.n) == pytest.approx((0.9, 0.65, -0.25, 2))


def test_several_kinds_follow_their_total_with_the_largest_loss_first():
    variants = [
        Variant(2, 0, "lower case"),
        Variant(3, 1, "lower case"),
        Variant(4, 0, "typos"),
        Variant(5, 1, "typos"),
    ]

    found = robustness_gaps(variants, np.array([0.9, 0.7, 0.9, 0.6, 0.5, 0.4]))

    assert [gap.kind for gap in found] == [EVERY_KIND, "typos", "lower case"]
    assert [gap.gap for gap in found] == pytest.approx([-0.2, -0.35, -0.05])
    assert [gap.n for gap in found] == [2, 2, 2]
    assert not any(gap.is_settled for gap in found)


def test_a_loss_that_many_queries_share_is_settled():
    variants = [Variant(row + 20, row, "typos") for row in range(20)]
    originals = np.linspace(0.5, 0.9, 20)

    (gap,) = robustness_gaps(variants, np.concatenate([originals, originals - 0.1 - originals / 10]))

    assert gap.is_settled


def test_pairs_without_a_value_are_left_out_and_no_pair_means_no_gap():
    values = np.array([0.5, np.nan, 0.4, 0.3])

    (gap,) = robustness_gaps([Variant(2, 0, "typos"), Variant(3, 1, "typos")], values)

    assert (gap.n, gap.interval) == (1, None)
    assert robustness_gaps([Variant(3, 1, "typos")], values) == []
    assert robustness_gaps([], values) == []


SCORES = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(2, 5)),
    elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
)


def by_counting_pairs(one, other) -> float | None:
    """τ-b from its definition."""
    agree = ties_one = ties_other = 0
    pairs = list(combinations(range(len(one)), 2))
    for a, b in pairs:
        first, second = np.sign(one[a] - one[b]), np.sign(other[a] - other[b])
        agree += first * second
        ties_one += first == 0
        ties_other += second == 0
    below = sqrt((len(pairs) - ties_one) * (len(pairs) - ties_other))
    return agree / below if below else None


@given(SCORES, st.data())
def test_tau_is_that_of_the_definition_and_its_interval_holds_it(values, data):
    inside = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))))
    signal = signal_of(values, inside)

    if not inside.any() or inside.all():
        assert (signal.tau, signal.interval, signal.n) == (None, None, inside.sum())
        return
    means = [np.round(part.mean(axis=0), 12) for part in (values[~inside], values[inside])]
    expected = by_counting_pairs(*means)
    assert signal.tau == (None if expected is None else pytest.approx(expected))
    if signal.interval is not None:
        low, high = signal.interval
        assert -1 <= low <= signal.tau <= high <= 1


def test_a_slice_of_equal_runs_keeps_no_order():
    """With the whole set, which contains the slice, τ was 0.57 to 0.69 on average."""
    chance = np.random.default_rng(5)
    taus = [signal_of(chance.random((100, 8)), np.arange(100) < 40).tau for _ in range(60)]

    assert abs(np.mean(taus)) < 0.1


def test_the_same_values_give_the_same_interval():
    values = np.random.default_rng(3).random((30, 6))
    inside = np.arange(30) < 10

    assert signal_of(values, inside) == signal_of(values, inside)


def test_questions_without_a_value_for_a_run_are_left_out():
    values = np.array([[1.0, 0.0], [np.nan, 1.0], [1.0, 0.0]])

    signal = signal_of(values, np.array([True, True, False]))
    assert (signal.n, signal.others) == (1, 1)


@pytest.mark.parametrize(
    ("tau", "words"),
    [
        (None, "in no order that can be compared with"),
        (1.0, "in the same order as"),
        (0.93, "in nearly the same order as"),
        (0.71, "in largely the same order as"),
        (0.3, "in another order than"),
    ],
)
def test_the_order_is_said_in_words(tau, words):
    assert SliceSignal(tau, None, 10, 4).words == words


def test_a_few_questions_that_tell_runs_apart_give_no_interval():
    """All draws of one such question have the same order, or none: an interval would have no width."""
    alike = np.ones((20, 3))
    alike[0] = alike[19] = [1.0, 0.5, 0.0]

    signal = signal_of(alike, np.arange(20) < 10)

    assert (signal.tau, signal.interval) == (1.0, None)


def test_one_run_has_no_order():
    assert signal_of(np.ones((4, 1)), np.ones(4, dtype=bool)).tau is None
