"""Reads for leaderboards, trends, costs and the ledger: runs with their latest scores on one split of a version."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from django.db.models import Max, QuerySet

from apps.accounts.models import Project
from apps.evaluation.core import packing
from apps.evaluation.models import Evaluation, RunNote, Score
from apps.evaluation.selectors.evaluations import (
    SlicePart,
    evaluations_on,
    on_ground,
    requested_on,
    scorable_runs,
)
from apps.evaluation.selectors.rankings import JUDGED_NAME
from apps.goldsets.enums import VersionState
from apps.goldsets.models import GoldSet, Version
from apps.metrics.columns import Floats
from apps.metrics.comparison import is_lower_better
from apps.metrics.estimate import interval_of
from apps.metrics.expected.rules import BY_GRADES
from apps.retrieval.enums import RunState
from apps.retrieval.models import Run

ELSEWHERE = 20


@dataclass
class RankedRun:
    """A run on a leaderboard: each measure's latest score. `evaluation` is the latest of the run."""

    run: Run
    evaluation: Evaluation
    scores: dict[str, Score] = field(default_factory=dict)

    @property
    def judged(self) -> Score | None:
        return self.scores.get(JUDGED_NAME)


def ranked_runs(evaluations: Iterable[Evaluation], first: str = "") -> tuple[list[str], list[RankedRun]]:
    """The measures of a leaderboard, those requested most recently first, and its runs.

    Runs are in order of the first measure, best first; runs without it are last. `first` puts a measure first;
    Judged@10 is not among the measures.
    """
    runs: dict[int, RankedRun] = {}
    names: dict[str, None] = {}
    for evaluation in evaluations:
        if not evaluation.is_scored:
            continue
        ranked = runs.setdefault(evaluation.run_id, RankedRun(evaluation.run, evaluation))
        for score in evaluation.scores.all():
            ranked.scores.setdefault(score.measure, score)
        names |= dict.fromkeys(name for name in evaluation.measures if name != JUDGED_NAME)
    measures = sorted(names, key=lambda name: name != first)
    return measures, sorted(runs.values(), key=lambda ranked: _place(ranked, measures))


def _place(ranked: RankedRun, measures: Sequence[str]) -> tuple[float, str]:
    score = ranked.scores.get(measures[0]) if measures else None
    if score is None or score.mean is None:
        return (math.inf, ranked.run.tag)
    return (score.mean if is_lower_better(measures[0]) else -score.mean, ranked.run.tag)


class ScoredRuns(NamedTuple):
    """The runs scored on one split of a version: best first by the first of `measures`, which may be empty."""

    measures: list[str]
    runs: list[RankedRun]

    @property
    def main(self) -> str:
        return self.measures[0] if self.measures else ""


def scored_runs(version: Version, split: str, measure: str = "", hit: str = BY_GRADES) -> ScoredRuns:
    """Everything scored on one split of the version, without runs that lack the main measure."""
    measures, runs = ranked_runs(evaluations_on(version, split, hit), measure)
    return ScoredRuns(measures, [ranked for ranked in runs if measures[0] in ranked.scores] if measures else [])


class LeaderboardLine(NamedTuple):
    """A run's latest score of one measure; `score_id` is None for a run that was not scored with it.

    `evaluation_id` is the run's latest evaluation, whatever its measures.
    """

    run_id: int
    tag: str
    evaluation_id: int
    score_id: int | None = None
    mean: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    system: str = ""

    @property
    def interval(self) -> tuple[float, float] | None:
        return interval_of(self.ci_low, self.ci_high)


def lines_on(
    version: Version, split: str, measure: str, hit: str = BY_GRADES, part: SlicePart | None = None
) -> list[LeaderboardLine]:
    """Every run scored on one split of a version, best first by the measure; those without it last, by tag."""
    requested = [one for one in requested_on(version, split, hit, part) if one.is_scored]
    lines = {one.run_id: LeaderboardLine(one.run_id, one.tag, one.pk) for one in requested}
    evaluations = on_ground(version, split, hit, part).filter(scored_at__isnull=False)
    scores = Score.objects.filter(evaluation__in=evaluations, measure=measure).order_by("evaluation_id")
    columns = ("evaluation__run_id", "pk", "mean", "ci_low", "ci_high", "evaluation__run__system__name")
    for run_id, *figures in scores.values_list(*columns):
        line = lines[run_id]
        lines[run_id] = LeaderboardLine(run_id, line.tag, line.evaluation_id, *figures)
    sign = 1 if is_lower_better(measure) else -1
    return sorted(lines.values(), key=lambda line: (math.inf if line.mean is None else sign * line.mean, line.tag))


def values_by_run(score_ids: Sequence[int]) -> Floats:
    """The values of these scores, which are of the same queries: a row for each query, a column for each score."""
    packed = dict(Score.objects.filter(pk__in=score_ids).values_list("pk", "values"))
    columns = [packing.unpack(bytes(packed[pk])) for pk in score_ids]
    return np.column_stack(columns) if columns else np.zeros((0, 0))


def names_on_board(lines: Sequence[LeaderboardLine]) -> list[str]:
    """The systems of the runs; the tags of those whose system has several."""
    systems = Counter(line.system for line in lines)
    return [line.system if systems[line.system] == 1 else line.tag for line in lines]


def measures_on(
    version: Version, split: str, first: str = "", hit: str = BY_GRADES, part: SlicePart | None = None
) -> list[str]:
    """The measures with scores on one split of a version: `first`, then those requested most recently."""
    scores = Score.objects.filter(evaluation__in=on_ground(version, split, hit, part))
    scores = scores.filter(evaluation__scored_at__isnull=False).exclude(measure=JUDGED_NAME)
    latest = dict(scores.values_list("measure").annotate(latest=Max("evaluation_id")).order_by())
    lists = {one.pk: one.measures for one in requested_on(version, split, hit, part)}
    asked = [name for name in latest if name in lists[latest[name]]]
    names = sorted(asked, key=lambda name: (-latest[name], lists[latest[name]].index(name)))
    return sorted(names, key=lambda name: name != first)


def ranked_runs_of(
    version: Version, split: str, run_ids: Sequence[int], hit: str = BY_GRADES, part: SlicePart | None = None
) -> list[RankedRun]:
    """These runs with the latest score of each measure, in the order given."""
    _, runs = ranked_runs(evaluations_on(version, split, hit, part).filter(run__in=run_ids))
    by_run = {ranked.run.pk: ranked for ranked in runs}
    return [by_run[pk] for pk in run_ids]


def unscored_on(version: Version, split: str, measures: Iterable[str], hit: str = BY_GRADES) -> list[Run]:
    """Complete runs on the version's snapshot that lack one of the measures on this split, by tag.

    One that was scored and stays sealed lacks none.
    """
    wanted = set(measures)
    rows = Evaluation._base_manager.filter(version=version, split=split, hit=hit, slice=None)
    requested: dict[int, set[str]] = {}
    for run_id, names in rows.values_list("run_id", "measures"):
        requested.setdefault(run_id, set()).update(names)
    return [
        run
        for run in scorable_runs(version, hit)
        if not wanted <= requested.get(run.pk, set()) or run.pk not in requested
    ]


def runs_elsewhere(version: Version) -> QuerySet[Run]:
    """Complete runs of the project on another snapshot than the version's, newest first."""
    runs = Run.objects.filter(project=version.gold_set.project_id, state=RunState.COMPLETE)
    return runs.exclude(snapshot=version.snapshot_id).select_related("system", "snapshot__corpus").order_by("-pk")


def versions_of(gold_set: GoldSet) -> list[Version]:
    """The versions that can be scored against, oldest first."""
    return list(gold_set.versions.exclude(state=VersionState.DRAFT).order_by("number"))


def latest_measures(version: Version, split: str, hit: str = BY_GRADES) -> list[str]:
    """The measures requested last on this split of any version of the gold set; empty without a request."""
    evaluations = Evaluation.objects.filter(version__gold_set=version.gold_set_id, split=split, hit=hit)
    names = evaluations.order_by("-pk").values_list("measures", flat=True).first() or []
    return [name for name in names if name != JUDGED_NAME]


class VersionScore(NamedTuple):
    """The newest score of a system on one version of a gold set; `run` is that run's tag."""

    system: str
    version_id: int
    evaluation_id: int
    run: str
    mean: float | None
    ci_low: float | None
    ci_high: float | None

    @property
    def interval(self) -> tuple[float, float] | None:
        return interval_of(self.ci_low, self.ci_high)


def scores_by_version(
    gold_set: GoldSet, split: str, measure: str, hit: str = BY_GRADES
) -> dict[str, dict[int, VersionScore]]:
    """By system, in the order of names, its newest score of the measure on each version, by key of the version."""
    scored = Evaluation.objects.filter(version__gold_set=gold_set, split=split, hit=hit, scored_at__isnull=False)
    scores = Score.objects.filter(evaluation__in=scored, measure=measure)
    rows = scores.order_by("evaluation__run__system__name", "evaluation__run_id", "evaluation_id").values_list(
        *(f"evaluation__{name}" for name in ("run__system__name", "version_id", "pk", "run__tag")),
        *("mean", "ci_low", "ci_high"),
    )
    systems: dict[str, dict[int, VersionScore]] = {}
    for row in map(VersionScore._make, rows):
        systems.setdefault(row.system, {})[row.version_id] = row
    return systems


def earlier_grounds(version: Version) -> list[tuple[str, str]]:
    """The splits and hit rules by which runs were scored on other versions of the gold set, sorted."""
    others = Evaluation.objects.filter(version__gold_set=version.gold_set_id).exclude(version=version)
    return list(others.order_by("split", "hit").values_list("split", "hit").distinct())


def notes_of(runs: Iterable[Run]) -> dict[int, RunNote]:
    """The ledger entry of each run that has one, by key of the run."""
    notes = RunNote.objects.filter(run__in=[run.pk for run in runs]).select_related("written_by")
    return {note.run_id: note for note in notes}


def ledger_runs(project: Project) -> QuerySet[Run]:
    """Every complete run, newest first."""
    runs = Run.objects.filter(project=project, state=RunState.COMPLETE)
    return runs.select_related("system", "snapshot__corpus", "created_by").order_by("-created_at", "-pk")
