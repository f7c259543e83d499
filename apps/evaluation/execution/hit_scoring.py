"""Scoring a run against the triples of one split of a version."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from apps.evaluation.execution.listeners import ScoredByHits, on_scored_by_hits
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.selectors.evaluations import names_of
from apps.evaluation.selectors.expected import ExpectedGround, expected_of, returned_for
from apps.goldsets.models import Version, VersionTriple
from apps.jobs.execution.context import JobContext, JobFailed
from apps.metrics.columns import Floats
from apps.metrics.expected.hits import Hits, find_hits
from apps.metrics.expected.measures import hit_summaries, measure_hits, rank_bins
from apps.metrics.expected.rules import HitRule
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import parse_measures
from apps.retrieval.models import Run

RECIPROCAL_RANK = Measure("RR")
"""Stored with every score by triples, requested or not: the first right rank of each question."""


Save = Callable[[JobContext], dict[str, Any]]
"""Saves what was computed, in the caller's transaction, and gives back the facts for the job's result."""


def computed_by_hits(evaluation: Evaluation) -> Save:
    """An evaluation with a hit rule, computed. `query_ids` are the triples that the rule says something about.

    `counts` has the number of `questions` with a value, the labels of those that are `undefined` under the rule, how
    many got nothing returned (`missing`) or no hit (`not_found`), the returned passages that the rule cannot read
    (`unreadable`), and `ranks`: first and last rank of each bin with its number of questions. Raises JobFailed where
    there is no triple.
    """
    rule = evaluation.rule
    assert rule is not None
    table = HitTable(evaluation.version, evaluation.split, rule, names_of(evaluation))
    if not table.ground.questions:
        raise JobFailed(
            f"{evaluation.version.label} has no Q&As in this split, so there is nothing to measure against."
        )
    measures = with_first_rank(parse_measures(" ".join(evaluation.measures)))
    values = table.values_of(evaluation.run, measures)
    overall = hit_summaries(measures, values)
    evaluation.query_ids = table.labels
    evaluation.counts = _counted(table.hits_of(evaluation.run))
    scored = ScoredByHits(evaluation, table)
    saves = [act(scored) for act in on_scored_by_hits]

    def save(ctx: JobContext) -> dict[str, Any]:
        rows = zip(measures, overall, values.T, strict=True)
        Score.objects.bulk_create(Score.of(evaluation, order, *row) for order, row in enumerate(rows))
        evaluation.scored_at = ctx.at
        evaluation.save(update_fields=["query_ids", "counts", "scored_at"])
        for follow in saves:
            follow(actor=ctx.actor, at=ctx.at)
        return {"evaluation_id": evaluation.pk, "questions": len(evaluation.query_ids)}

    return save


def with_first_rank(measures: Sequence[Measure]) -> list[Measure]:
    """The measures with RR at the end."""
    return [*(measure for measure in measures if measure != RECIPROCAL_RANK), RECIPROCAL_RANK]


def _counted(hits: Hits) -> dict[str, Any]:
    bins = rank_bins(hits)
    return {
        "questions": int(hits.is_defined.sum()),
        "undefined": list(hits.undefined),
        "missing": int(((hits.returned == 0) & hits.is_defined).sum()),
        "not_found": bins[-1].questions,
        "unreadable": hits.unreadable,
        "ranks": [list(one) for one in bins],
    }


@dataclass
class HitTable:
    """Values by measure for the triples that the rule says something about, in the order of `labels`.

    With `only` no others than the triples with these labels.
    """

    version: Version
    split: str
    rule: HitRule
    only: Collection[str] | None = None
    _hits: dict[int, Hits] = field(default_factory=dict)
    _values: dict[tuple[int, Measure], Floats] = field(default_factory=dict)

    @cached_property
    def ground(self) -> ExpectedGround:
        return expected_of(self.version, self.split, self.only)

    @cached_property
    def _is_defined(self) -> np.ndarray:
        return find_hits(self.ground.questions, {}, self.rule).is_defined

    @property
    def triples(self) -> list[VersionTriple]:
        return [row for row, known in zip(self.ground.triples, self._is_defined, strict=True) if known]

    @property
    def labels(self) -> list[str]:
        return [row.label for row in self.triples]

    def hits_of(self, run: Run) -> Hits:
        if run.pk not in self._hits:
            returned = returned_for(run, self.ground, self.rule)
            self._hits[run.pk] = find_hits(self.ground.questions, returned, self.rule)
        return self._hits[run.pk]

    def values_of(self, run: Run, measures: Sequence[Measure]) -> Floats:
        """Shape (triples, measures)."""
        hits = self.hits_of(run)
        for measure in measures:
            if (run.pk, measure) not in self._values:
                self._values[run.pk, measure] = measure_hits([measure], hits)[hits.is_defined, 0]
        columns = [self._values[run.pk, measure] for measure in measures]
        return np.column_stack(columns) if columns else np.empty((len(self.labels), 0))
