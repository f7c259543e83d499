"""A run scored: values per query, means with intervals, and what to know before reading them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from apps.evaluation.attributes import Attributes
from apps.evaluation.columns import BlockIds, Floats, Ints, Judged, Ranked
from apps.evaluation.measures import Measure, measure_run
from apps.evaluation.significance import (
    DEFAULT_CONFIDENCE,
    DEFAULT_SEED,
    Summary,
    mean_of,
    summaries,
)

JUDGED_AT_10 = Measure("Judged", 10)


class RunScores(NamedTuple):
    """`values` has a row for each judged query and a column for each measure.

    `judged_at_10` is the share of judged blocks in the first ten, over the queries the run answers; None when
    it answers none. `answered` counts the judged queries for which the run returned something.
    """

    values: Floats
    summaries: list[Summary]
    judged_at_10: float | None
    answered: int
    missing: int


def score_run(
    measures: Sequence[Measure],
    judged: Judged,
    ranked: Ranked,
    block_ids: BlockIds,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = DEFAULT_SEED,
    with_intervals: bool = True,
    attributes: Attributes | None = None,
    strata: Ints | None = None,
) -> RunScores:
    """Every measure of one run with its interval. An empty run is scored too.

    `attributes` are what some measures read beside grades; `strata`, a number for each query, are what queries are
    resampled within. Raises MeasureError for a measure that reads what is not there.
    """
    values = measure_run([*measures, JUDGED_AT_10], judged, ranked, block_ids, attributes)
    asked, share = values[:, :-1], values[:, -1]
    defined = share[~np.isnan(share)]
    return RunScores(
        values=asked,
        summaries=summaries(asked, confidence=confidence, seed=seed, with_interval=with_intervals, strata=strata),
        judged_at_10=mean_of(defined),
        answered=len(defined),
        missing=len(judged.queries) - len(defined),
    )


def queries_with_relevant(judged: Judged, rel: int = 1) -> int:
    """How many judged queries have a relevant block at all."""
    return len(np.unique(judged.query[judged.grade >= rel]))


def conventions(measures: Sequence[Measure]) -> str:
    """The sentences that stand beside every table of these measures."""
    levels = sorted({measure.rel for measure in measures if "rel" in measure.entry.takes})
    forms = sorted({measure.dcg for measure in measures if "dcg" in measure.entry.takes})
    gain = {"log2": "linear", "exp-log2": "exponential"}
    parts = []
    if forms:
        parts.append("gain " + " or ".join(gain[form] for form in reversed(forms)))
    if levels:
        parts.append("relevant from grade " + " or ".join(str(level) for level in levels))
    parts.append("unjudged counts as not relevant")
    reading = ", ".join(parts)
    return (
        "Ties by block id, descending. Judged queries missing from a run count as zero. "
        f"{reading[0].upper()}{reading[1:]}."
    )
