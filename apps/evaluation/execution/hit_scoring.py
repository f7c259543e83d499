"""Scoring a run against the triples of one split of a version."""

from collections.abc import Callable, Sequence
from typing import Any

from apps.evaluation.execution.listeners import ScoredByHits, on_scored_by_hits
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.selectors.evaluations import names_of
from apps.evaluation.selectors.expected import HitTable
from apps.jobs.execution.context import JobContext, JobFailed
from apps.metrics.expected.hits import Hits
from apps.metrics.expected.measures import rank_bins
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import parse_measures
from apps.metrics.statistics.significance import summaries

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
    overall = summaries(measures, values)
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
