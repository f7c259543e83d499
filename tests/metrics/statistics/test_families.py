"""One difference among all that were compared: corrected p and evidence, and what a planned number decides."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from apps.metrics.comparison import verdict_lines
from apps.metrics.estimate import QUESTIONS
from apps.metrics.statistics.anytime import evidence_of
from apps.metrics.statistics.families import Plan, standings
from apps.metrics.statistics.significance import Correction, benjamini_hochberg, holm, sign_flip_p
from tests.metrics.compared import stated

# Benjamini and Hochberg, JRSS B 57, 1995, section 4: fifteen hypotheses of a trial of thrombolysis.
PUBLISHED = [
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0
]  # fmt: skip
FDR_BH = [
    0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.06385714285714286, 0.06385714285714286, 0.0645, 0.0765, 0.486,
    0.5811818181818181, 0.714875, 0.7532307692307692, 0.8132142857142857, 1.0,
]  # fmt: skip
HOLM = [0.0015, 0.0056, 0.0247, 0.114, 0.2211, 0.278, 0.278, 0.278, 0.3213, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
"""`multipletests` of statsmodels 0.15 by `fdr_bh` and by `holm`."""


def runs_of(*gains: float, n: int = 40, seed: int = 4):
    """Two arrays of so many comparisons: candidates that gain so much on average, with much scatter."""
    random = np.random.default_rng(seed)
    baseline = random.uniform(0.2, 0.5, (n, len(gains)))
    return baseline, baseline + np.array(gains) + random.uniform(-0.15, 0.15, (n, len(gains)))


def test_p_is_corrected_as_published_and_as_the_reference_tool_does_in_any_order():
    assert benjamini_hochberg(PUBLISHED) == pytest.approx(FDR_BH)
    assert sum(p < 0.05 for p in benjamini_hochberg(PUBLISHED)) == 4  # as in the paper
    assert sum(p < 0.05 for p in holm(PUBLISHED)) == 3
    assert Correction.HOLM.of(PUBLISHED) == pytest.approx(HOLM)
    mixed = np.random.default_rng(1).permutation(15)
    assert Correction.FDR.of([PUBLISHED[at] for at in mixed]) == pytest.approx([FDR_BH[at] for at in mixed])
    assert Correction.FDR.of(PUBLISHED) == pytest.approx(false_discovery_control(PUBLISHED))
    assert Correction.FDR.of([]) == []
    assert Correction.FDR.of([0.03]) == Correction.HOLM.of([0.03]) == [0.03]


def test_evidence_is_corrected_as_its_inverse_would_be_as_p():
    baseline, candidate = runs_of(0.2, 0.05, 0.0, 0.1, 0.02)
    for way in Correction:
        found = evidence_of(candidate - baseline, correction=way)
        for n in (0, 9, 39):
            p_values = [1 / max(1.0, one.alone[: n + 1].max()) for one in found]
            corrected = [min(1.0, 1 / one.corrected[n]) for one in found]
            assert corrected == pytest.approx(way.of(p_values))


def test_the_list_is_strongest_first_and_says_by_what_evidence_is_divided():
    baseline, candidate = runs_of(0.05, 0.2, 0.1)

    by_holm, by_fdr = (standings(baseline, candidate, correction=way) for way in Correction)

    assert [one.place for one in by_holm] == [3, 1, 2]
    assert [one.divisor_words for one in by_holm] == ["1", "3", "2"]
    assert [one.divisor_words for one in by_fdr] == ["1", "3", "1.50"]
    strongest = by_holm[1]
    assert strongest.evidence.strongest_corrected == pytest.approx(strongest.evidence.strongest / 3)
    assert strongest.corrected == pytest.approx(3 * sign_flip_p(candidate - baseline)[1])
    assert strongest.over == " after Holm over 3 comparisons on this version"
    assert by_fdr[0].over == " after Benjamini–Hochberg over 3 comparisons on this version"
    assert all(one.corrected <= two.corrected for one, two in zip(by_fdr, by_holm, strict=True))
    assert standings(baseline[:, :1], candidate[:, :1])[0].over == ""


def test_a_comparison_added_later_can_move_a_verdict():
    """Alone the difference is settled; among forty it is not, and the sentence says so in the words of the table."""
    baseline, candidate = runs_of(0.01, *[0.0] * 39)
    alone, among = standings(baseline[:, :1], candidate[:, :1])[0], standings(baseline, candidate)[0]
    rows = [stated("nDCG@10", 0.4, 0.435, one.difference)._replace(standing=one) for one in (alone, among)]

    (first, method), (second, _) = (verdict_lines("BM25", "Hybrid", row) for row in rows)

    assert alone.difference == among.difference._replace(holm=alone.difference.holm)
    assert first.startswith("Hybrid is better than BM25 by 0.0")
    assert "after" not in method
    assert second.startswith(
        "Cannot tell yet, among 40 comparisons, whether Hybrid is better or worse than BM25: nDCG@10 "
    )
    assert [row.verdict for row in rows] == ["better", "better, not after Holm"]


def test_beside_a_plan_evidence_decides_and_at_the_first_look_at_so_many_the_fixed_test_does():
    baseline, candidate = runs_of(0.03, n=60)
    (found,) = standings(baseline, candidate)
    assert found.difference.is_settled
    assert not found.evidence.is_settled
    waits, decides, later = (
        replace(found, plan=plan)
        for plan in (Plan(80, 60, is_first=True), Plan(60, 60, is_first=True), Plan(50, 60, is_first=False))
    )

    said = [
        verdict_lines("BM25", "Hybrid", stated("AP", 0.3, 0.33, one.difference)._replace(standing=one))
        for one in (waits, decides, later)
    ]

    assert [one.is_sure for one in (waits, decides, later)] == [False, True, False]
    assert said[0][0].endswith("AP differs by +0.026 over 60 queries.")
    assert "interval" not in said[0][1]
    assert said[1][0].startswith("Hybrid is better than BM25")
    assert said[2] == said[0]
    assert waits.words(QUESTIONS)[0].startswith("Interval and p wait for the planned 80 questions, 20 more.")
    assert "calls about 26 of 100 pairs different that are equally good" in waits.words()[1]
    assert decides.words()[0].endswith(
        "seen this comparison with 60 or more before: interval and p decide, also for whoever looked at fewer."
    )
    assert "and somebody has seen this comparison with 50 or more before, so this is a further look" in later.words()[0]


def test_enough_evidence_settles_it_below_a_plan():
    baseline, candidate = runs_of(0.3, n=40)
    (found,) = standings(baseline, candidate)
    waits = replace(found, plan=Plan(80, 40, is_first=True))
    row = stated("AP", 0.3, 0.6, waits.difference)._replace(standing=waits)

    assert waits.is_sure
    assert row.verdict == "better"
    assert verdict_lines("BM25", "Hybrid", row)[0].endswith("over 40 queries: the evidence settles it.")
    assert waits.words()[0].startswith("Nobody has to wait for the planned 80 queries: the evidence reached 20 after ")
    assert waits.side(is_lower_better=True) == "worse"
