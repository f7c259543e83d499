"""Scoring runs against one split of a version: one, all stored ones, or those of systems that are run again."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from apps.evaluation.core.annotator_grades import GivenGrades, shared_rows, sheets_of
from apps.evaluation.core.earnings import FIRST, Earned, earned_by
from apps.evaluation.enums import RUN_AGAIN
from apps.evaluation.execution.hit_scoring import Save, computed_by_hits, save_scores
from apps.evaluation.execution.listeners import Scored, on_scored
from apps.evaluation.execution.results import VersionTexts
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.selectors import evaluations, rankings
from apps.evaluation.selectors.evaluations import names_of
from apps.evaluation.selectors.rankings import ScoringGround, judged_of
from apps.goldsets.models import Version
from apps.jobs.execution.context import JobContext, JobFailed
from apps.jobs.selectors.job_kinds import job_kind
from apps.metrics.columns import BlockIds, Covering, Floats, Judged, Result
from apps.metrics.expected.rules import USUAL_SHARE
from apps.metrics.measures.entries import FACETS, GRADES, UNANSWERABLE, Measure
from apps.metrics.measures.registry import measure_run, parse_measures
from apps.metrics.scoring import JUDGED_AT_10, if_judged, precision_at_recall, queries_with_relevant, unknown_values
from apps.metrics.statistics.bootstrap import including, people_intervals
from apps.metrics.statistics.intervals import Interval
from apps.metrics.statistics.significance import mean_of, summaries
from apps.retrieval.enums import INDEXED, RunState
from apps.retrieval.execution.indexes import open_system
from apps.retrieval.execution.jobs import follow_job, make_run
from apps.retrieval.execution.passage_location import LocatedRun
from apps.retrieval.execution.ranking import Steps
from apps.retrieval.models import Run
from apps.retrieval.selectors.runs import runs_to_make

MOST_LISTED = 200
"""So many passages that were not located are listed."""

SHARES = (0.5, USUAL_SHARE, 1.0)
"""The shares of words by which a page also gives the first measure."""


@dataclass
class TextScores:
    """What an evaluation by text is computed from; its passages are located once, for every share."""

    evaluation: Evaluation
    ground: ScoringGround

    @cached_property
    def texts(self) -> VersionTexts:
        return VersionTexts(self.evaluation.version, self.ground.numbers)

    @cached_property
    def located(self) -> LocatedRun:
        return self.texts.located(self.evaluation.run)

    @property
    def share(self) -> float:
        assert self.evaluation.rule is not None
        return self.evaluation.rule.share

    @cached_property
    def covering(self) -> Covering:
        return self.texts.covering(self.located, self.share)

    def counts(self, measure: Measure) -> dict[str, Any]:
        """How many of the first passages were located, what they earn, and the measure by other shares of words."""
        earned: Earned = earned_by(self.covering, self.ground.judged, self.share, self.texts.evidence)
        passages = int(np.minimum(self.covering.returned, FIRST).sum())
        return {
            "passages": passages,
            "located": passages - earned["lost"],
            "lost": earned["lost"],
            "lost_at": self._lost_at(),
            "earn": earned,
            "shares": [self._by_share(measure, share) for share in sorted({*SHARES, self.share})],
        }

    def _lost_at(self) -> list[tuple[str, int]]:
        """Query and rank from 1 of the first passages that were not located, by query and rank."""
        queries, covering = self.ground.judged.queries, self.covering
        rows = sorted(zip(covering.lost_query.tolist(), covering.lost_rank.tolist(), strict=True))
        return [(queries[query], rank + 1) for query, rank in rows if rank < FIRST][:MOST_LISTED]

    def _by_share(self, measure: Measure, share: float) -> dict[str, float | None]:
        judged, ids = self.ground.judged, range(self.evaluation.version.snapshot.block_count)
        covering = self.covering if share == self.share else self.texts.covering(self.located, share)
        values = measure_run([measure], judged, covering, ids)
        (found,) = summaries([measure], values, originals=judged.originals)
        low, high = found.interval or (None, None)
        return {"share": share, "mean": found.mean, "low": low, "high": high}


JUDGED_DEPTH = 20


@job_kind("evaluation.score", title="Score a run", page=("evaluation:evaluation", "evaluation_id"))
def score(ctx: JobContext) -> dict[str, Any]:
    """Score the evaluation `evaluation_id`: all its measures, each query's value, and the intervals."""
    evaluation = _evaluation(ctx.params["evaluation_id"])
    if evaluation.is_scored:
        return {"evaluation_id": evaluation.pk}
    ctx.progress(0, 1, _named(evaluation))
    save = computed(evaluation)
    with ctx.finish() as result:
        result.update(save(ctx))
    return ctx.result


@job_kind("evaluation.score_all", title="Score stored runs")
def score_all(ctx: JobContext) -> dict[str, Any]:
    """Score the evaluations `evaluation_ids`, each saved by itself; fails at the end where one cannot be scored."""
    keys, faults = ctx.params["evaluation_ids"], []
    for done, key in enumerate(keys):
        evaluation = _evaluation(key)
        ctx.progress(done, len(keys), _named(evaluation))
        try:
            score_as_part(ctx, evaluation)
        except JobFailed as fault:
            faults.append(f"{_named(evaluation)}: {fault}")
    if faults:
        raise JobFailed(" ".join(faults))
    with ctx.finish() as result:
        result.update(evaluations=len(keys))
    return ctx.result


def score_as_part(ctx: JobContext, evaluation: Evaluation) -> None:
    """Score the evaluation in a part of the job of its own, unless it is scored. Raises JobFailed."""
    if evaluation.is_scored:
        return
    save = computed(evaluation)
    with ctx.chunk(f"evaluation:{evaluation.pk}") as fresh:
        if fresh:
            save(ctx)


def _evaluation(key: int) -> Evaluation:
    rows = Evaluation._base_manager.select_related("run", "version__snapshot", "version__gold_set__project", "slice")
    return rows.get(pk=key)


def _named(evaluation: Evaluation) -> str:
    return f"{evaluation.run.tag} on {evaluation.version.label}"


def computed(evaluation: Evaluation) -> Save:
    """Everything of an evaluation, computed; the function given back saves it in the caller's transaction."""
    return computed_by_hits(evaluation) if evaluation.counts_questions else computed_by_grades(evaluation)


def computed_by_grades(evaluation: Evaluation) -> Save:
    """An evaluation by the grades of returned blocks, or by text, computed; `counts` as `Evaluation` says."""
    ground = ground_of(evaluation.version, evaluation.split, names_of(evaluation))
    judged = ground.judged
    by_text = TextScores(evaluation, ground) if evaluation.is_by_text else None
    ranked = _results_of(evaluation, ground, by_text)
    measures = with_judged(parse_measures(" ".join(evaluation.measures)))
    depths = [Measure("Judged", depth) for depth in range(1, JUDGED_DEPTH + 1)]
    ids = range(evaluation.version.snapshot.block_count)
    values = measure_run([*measures, *depths], judged, ranked, ids)
    scores, shares = values[:, : len(measures)], values[:, len(measures) :]
    overall = summaries(measures, scores, originals=judged.originals)
    given = evaluations.given_in(evaluation.version, ground)
    alone = [summary.interval for summary in overall]
    people = among_people(measures, judged, given, ranked, ids, scores, alone)
    evaluation.query_ids = list(judged.queries)
    highest = max((entry["grade"] for entry in evaluation.version.manifest.get("scale", ())), default=1)
    known = if_judged(measures, judged, ranked, ids, highest=highest)
    evaluation.counts = {
        **_counted(judged, scores[:, -1], shares),
        "people": len(given.people),
        "shared": shared_rows(given, len(judged.grade)),
        "precision_at_recall": precision_at_recall(judged, ranked, ids),
        "unknown_values": [one._asdict() for one in unknown_values(measures, judged, ranked, ids)],
        "if_judged": {str(measure): one._asdict() for measure, one in zip(measures, known, strict=True)},
        **(by_text.counts(measures[0]) if by_text else {}),
    }
    by_measure = {str(measure): scores[:, place] for place, measure in enumerate(measures)}
    scored = Scored(evaluation, ground, ranked, by_measure)
    saves = [act(scored) for act in on_scored]
    columns = zip(measures, overall, scores.T, people, strict=True)
    rows = [Score.of(evaluation, order, *column) for order, column in enumerate(columns)]

    def save(ctx: JobContext) -> dict[str, Any]:
        return save_scores(ctx, evaluation, rows, saves, {"queries": len(judged.queries)})

    return save


def _results_of(evaluation: Evaluation, ground: ScoringGround, by_text: TextScores | None) -> Result:
    if by_text is None:
        return rankings.ranked_of(evaluation.run, ground.numbers)
    return replace(by_text.covering, abstained=rankings.abstained_in(evaluation.run, ground.numbers))


def with_judged(measures: tuple[Measure, ...]) -> list[Measure]:
    return [*(measure for measure in measures if measure != JUDGED_AT_10), JUDGED_AT_10]


def among_people(
    measures: Sequence[Measure],
    judged: Judged,
    given: GivenGrades,
    ranked: Result,
    ids: BlockIds,
    released: Floats,
    alone: Sequence[Interval | None],
) -> list[Interval | None]:
    """For each measure the interval over queries and people; None where no pair was graded by two people.

    `alone` are the intervals of the released scores over queries; each result includes its own. Shares of judged blocks
    and attributes do not depend on who judged, and subtopics are those of the pair: such measures have none.
    """
    if not shared_rows(given, len(judged.grade)):
        return [None] * len(measures)
    intervals = people_intervals(sheets_of(measures, judged, given, ranked, ids, released))
    columns = zip(measures, intervals, alone, strict=True)
    return [_within_range(measure, one and including(one, least)) for measure, one, least in columns]


def _within_range(measure: Measure, interval: Interval | None) -> Interval | None:
    """The interval, cut off at the ends of the measure's range: with two people who differ it can be wider."""
    entry = measure.entry
    is_of_grades = GRADES in entry.needs and not entry.needs & {FACETS, UNANSWERABLE}
    if interval is None or entry.is_about_judging or not is_of_grades:
        return None
    return max(interval[0], entry.low), min(interval[1], entry.high)


def _counted(judged: Judged, judged_at_10: Floats, shares: Floats) -> dict[str, Any]:
    """What the scores are computed from; `judged_to` is the mean share of judged blocks in the first 1, 2, …"""
    answered = int((judged_at_10 == judged_at_10).sum())
    return {
        "judged": len(judged.queries),
        "with_relevant": queries_with_relevant(judged),
        "unanswerable": int((~judged.answerable).sum()),
        "in_run": answered,
        "missing": len(judged.queries) - answered,
        "judged_to": [mean_of(column[column == column]) for column in shares.T],
    }


def ground_of(version: Version, split: str, only: Collection[str] | None = None) -> ScoringGround:
    """The grades of one split of a version to score against, of the queries in `only` where it names some.

    Raises JobFailed where there are none.
    """
    ground = judged_of(version, split, only)
    if not ground.judged.queries:
        where = "in this split" if only is None else "for the questions of this slice"
        raise JobFailed(f"{version.label} has no grades {where}, so there is nothing to score against.")
    return ground


@job_kind(RUN_AGAIN, title="Run systems again", follower=follow_job)
def run_systems_again(ctx: JobContext) -> dict[str, Any]:
    """Make the runs `run_ids` on the queries `query_ids`, and their scores on the version `version_id`.

    Fails at the end where one could not be made or scored; the others are there.
    """
    run_ids, query_ids = ctx.params["run_ids"], ctx.params["query_ids"]
    parts = Run.objects.filter(job=ctx.job_id)
    scores = Evaluation.objects.filter(job=ctx.job_id)
    steps = Steps(ctx, len(query_ids) * parts.count() + scores.count())
    steps.add(len(query_ids) * parts.filter(state=RunState.COMPLETE).count(), "continuing")
    faults = []
    for run in _runs(run_ids):
        try:
            for part in runs_to_make(run):
                _make(ctx, part, query_ids, steps)
            _score(run, steps)
        except JobFailed as fault:
            faults.append(f"{run.tag}: {fault}")
    if faults:
        raise JobFailed(" ".join(faults))
    with ctx.finish() as result:
        result.update(version_id=ctx.params["version_id"], runs=len(run_ids), scores=scores.count())
    return ctx.result


def _runs(run_ids: Sequence[int]) -> list[Run]:
    runs = Run.objects.select_related("system", "snapshot", "project").in_bulk(run_ids)
    return [runs[pk] for pk in run_ids]


def _make(ctx: JobContext, run: Run, query_ids: Sequence[int], steps: Steps) -> None:
    if run.system.kind in INDEXED:
        steps.add(0, f"indexing the passages for {run.system.name}")
        open_system(run.system, run.snapshot)
    make_run(ctx, run, query_ids, steps)


def _score(run: Run, steps: Steps) -> None:
    rows = Evaluation.objects.filter(job=steps.ctx.job_id, run=run)
    for evaluation in rows.select_related("run", "version__snapshot", "version__gold_set__project", "slice"):
        steps.add(0, f"scoring {run.tag} on {evaluation.version.label}")
        score_as_part(steps.ctx, evaluation)
        steps.add(1, f"{run.tag} is scored on {evaluation.version.label}")
