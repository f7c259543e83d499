import numpy as np
import pytest

from apps.evaluation.core.robustness import EVERY_KIND, UNNAMED, Variant, paired_variants, robustness_gaps
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
    assert found[1].is_settled
    assert not found[2].is_settled


def test_pairs_without_a_value_are_left_out_and_no_pair_means_no_gap():
    values = np.array([0.5, np.nan, 0.4, 0.3])

    (gap,) = robustness_gaps([Variant(2, 0, "typos"), Variant(3, 1, "typos")], values)

    assert (gap.n, gap.interval) == (1, None)
    assert robustness_gaps([Variant(3, 1, "typos")], values) == []
    assert robustness_gaps([], values) == []
