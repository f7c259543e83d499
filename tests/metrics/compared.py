"""Comparisons of two runs as tests want them: by their values alone, or with the figures given."""

from collections.abc import Mapping, Sequence

import numpy as np

from apps.metrics.columns import Floats
from apps.metrics.comparison import (
    MeasureComparison,
    RunComparison,
    RunValues,
    SupplementaryTests,
    compare_runs,
)
from apps.metrics.statistics.anytime import evidence_of
from apps.metrics.statistics.significance import Difference, paired_tests

(NO_EVIDENCE,) = evidence_of(np.zeros((1, 1)))
NO_TESTS = SupplementaryTests(paired_tests(np.zeros((1, 1)))[0], None, None)


def compared(measures: Sequence[str], baseline: Mapping[str, Floats], candidate: Mapping[str, Floats]) -> RunComparison:
    """`bm25` and `dense` by these values, with queries Q1, Q2, ..."""
    queries = [f"Q{place}" for place in range(1, 1 + len(next(iter(baseline.values()))))]
    (found,) = compare_runs(RunValues("bm25", baseline), [RunValues("dense", candidate)], measures, queries)
    return found


def compare(
    measures: Sequence[str], baseline: Mapping[str, Floats], candidate: Mapping[str, Floats]
) -> list[MeasureComparison]:
    return list(compared(measures, baseline, candidate).measures)


def stated(
    measure: str, baseline: float, candidate: float, difference: Difference, *, is_lower_better: bool = False
) -> MeasureComparison:
    """A measure with the figures given, whatever values they would come from."""
    return MeasureComparison(measure, baseline, candidate, difference, NO_TESTS, NO_EVIDENCE, is_lower_better)
