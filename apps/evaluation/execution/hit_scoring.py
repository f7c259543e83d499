"""Scoring a run against the triples of one split of a version."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apps.evaluation.execution.listeners import Save as Follow
from apps.evaluation.execution.listeners import ScoredByHits, on_scored_by_hits
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.rules import sealed_words
from apps.evaluation.selectors.evaluations import best_of, is_published_on, ladder_on, names_of
from apps.evaluation.selectors.expected import HitTable
from apps.goldsets.enums import Split
from apps.goldsets.models import Version
from apps.jobs.execution.context import JobContext, JobFailed
from apps.metrics.comparison import is_lower_better
from apps.metrics.expected.hits import Hits
from apps.metrics.expected.measures import rank_bins
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import parse_measures
from apps.metrics.statistics.places import beats_by
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
    rows = zip(measures, overall, values.T, strict=True)
    scores = [Score.of(evaluation, order, *row) for order, row in enumerate(rows)]

    def save(ctx: JobContext) -> dict[str, Any]:
        return save_scores(ctx, evaluation, scores, saves, {"questions": len(table.labels)})

    return save


def save_scores(
    ctx: JobContext,
    evaluation: Evaluation,
    scores: Sequence[Score],
    follows: Sequence[Follow],
    facts: dict[str, Any],
) -> dict[str, Any]:
    """Save a computed evaluation, in the caller's transaction; `facts` are for the job's result.

    One of test that does not beat the best published one by the step of the project is saved without scores, for good.
    """
    evaluation.sealed_by = _missed_step(evaluation, {score.measure: score.mean for score in scores})
    if evaluation.sealed_by is None:
        Score.objects.bulk_create(scores)
    else:
        evaluation.query_ids, evaluation.counts = [], {}
    evaluation.scored_at = ctx.at
    evaluation.save(update_fields=["query_ids", "counts", "scored_at", "sealed_by"])
    for follow in follows:
        follow(actor=ctx.actor, at=ctx.at)
    words = sealed_words(evaluation)
    return {"evaluation_id": evaluation.pk, **facts, **({"sealed": words} if words else {})}


def _missed_step(evaluation: Evaluation, means: Mapping[str, float | None]) -> float | None:
    """The step by which the evaluation does not beat the best published one; None where it is published.

    The version is locked, so that of two that are scored at once the second is compared with the first.
    """
    if evaluation.split == Split.DEV:
        return None
    locked = Version.objects.select_for_update(of=("self",)).select_related("gold_set__project")
    ladder = ladder_on(locked.get(pk=evaluation.version_id), evaluation.split, evaluation.hit)
    if ladder is None or ladder.step is None or not ladder.published or is_published_on(evaluation):
        return None
    mean, best = means.get(ladder.measure), best_of(ladder)
    is_lower = is_lower_better(ladder.measure)
    if mean is not None and (best is None or beats_by(ladder.step, mean, best, is_lower_better=is_lower)):
        return None
    return ladder.step


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
