"""Means by hits with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

from apps.metrics.columns import Floats, Ints
from apps.metrics.estimate import WILSON
from apps.metrics.expected.measures import YES_OR_NO
from apps.metrics.measures.entries import Measure
from apps.metrics.statistics.proportions import wilson
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE, Summary, summaries


def hit_summaries(
    measures: Sequence[Measure],
    values: Floats,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    with_interval: bool = True,
    strata: Ints | None = None,
) -> list[Summary]:
    """Mean and interval of each column: Wilson's for a yes-or-no measure, the bootstrap's for the others.

    `values` have no NaN: the questions that a rule says nothing about are left out before. With `strata` questions are
    resampled within them; Wilson's interval takes no notice of them.
    """
    by_bootstrap = summaries(values, confidence=confidence, with_interval=with_interval, strata=strata)
    if not with_interval:
        return by_bootstrap
    return [
        _proportion(values[:, place], confidence) if measure.name in YES_OR_NO else by_bootstrap[place]
        for place, measure in enumerate(measures)
    ]


def _proportion(column: Floats, confidence: float) -> Summary:
    n, right = len(column), int(column.sum())
    return Summary(right / n if n else None, wilson(right, n, confidence), n, method=WILSON)
