"""Reads of evaluations, each scoped to a project."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np
from django.db.models import Count, Exists, Max, OuterRef, Prefetch, QuerySet
from django.http import Http404
from numpy.typing import NDArray

from apps.accounts.models import Project
from apps.evaluation import packing
from apps.evaluation.models import (
    BiasReport,
    ClosedComparison,
    Evaluation,
    RegressionNote,
    Report,
    Score,
    StabilityReport,
)
from apps.goldsets.models import Version, VersionGrade, VersionQuery
from apps.goldsets.selectors import scorable_versions
from apps.metrics.columns import Judged, Ranked
from apps.metrics.comparison import is_lower_better
from apps.metrics.scoring import JUDGED_AT_10
from apps.retrieval import ranking
from apps.retrieval.models import Ranking, Run
from apps.retrieval.selectors import complete_runs_on

AT_ONCE = 2_000
JUDGED_NAME = str(JUDGED_AT_10)

AnyReport = TypeVar("AnyReport", BiasReport, StabilityReport)


def evaluations_in(project: Project) -> QuerySet[Evaluation]:
    """The project's evaluations, newest first, with their scores but without values by query."""
    found = Evaluation.objects.filter(project=project).select_related(
        "project", "run__system", "version__gold_set", "version__snapshot__corpus", "job", "requested_by"
    )
    scores = Score.objects.defer("values").order_by("order")
    return found.prefetch_related(Prefetch("scores", queryset=scores)).order_by("-pk")


def evaluation_in(project: Project, pk: int) -> Evaluation:
    found = evaluations_in(project).filter(pk=pk).first()
    if found is None:
        raise Http404("No such evaluation.")
    return found


def evaluations_on(version: Version, split: str) -> QuerySet[Evaluation]:
    """Everything scored or being scored on one side of a version, newest first; without the ids of its queries."""
    found = evaluations_in(version.gold_set.project).filter(version=version, split=split)
    return found.defer("query_ids")


def scored_beside(evaluation: Evaluation) -> list[Evaluation]:
    """The other versions and sides that the run was scored on, the newest version first; each by its latest scores."""
    rows = Evaluation.objects.filter(run=evaluation.run_id).exclude(scored_at=None)
    rows = rows.select_related("version__gold_set").defer("query_ids", "counts")
    here = (evaluation.version_id, evaluation.split)
    latest = {(row.version_id, row.split): row for row in rows.order_by("pk")}
    others = [row for place, row in latest.items() if place != here]
    return sorted(others, key=lambda row: (-row.version_id, row.split))


def splits_scored(version: Version) -> dict[str, int]:
    """How many evaluations each side of the version has."""
    rows = Evaluation.objects.filter(version=version).values_list("split").annotate(n=Count("pk")).order_by("split")
    return dict(rows)


@dataclass
class Standing:
    """A run on a leaderboard: each measure's latest score. `evaluation` is the latest of the run."""

    run: Run
    evaluation: Evaluation
    scores: dict[str, Score] = field(default_factory=dict)

    @property
    def judged(self) -> Score | None:
        return self.scores.get(JUDGED_NAME)


def standings(evaluations: Iterable[Evaluation], first: str = "") -> tuple[list[str], list[Standing]]:
    """The measures of a leaderboard, those asked for most recently first, and its runs.

    Runs stand by the first measure, best first; a run without it comes last. `first` puts a measure in front;
    Judged@10 is kept apart.
    """
    runs: dict[int, Standing] = {}
    names: dict[str, None] = {}
    for evaluation in evaluations:
        if not evaluation.is_scored:
            continue
        standing = runs.setdefault(evaluation.run_id, Standing(evaluation.run, evaluation))
        for score in evaluation.scores.all():
            standing.scores.setdefault(score.measure, score)
        names |= dict.fromkeys(name for name in evaluation.measures if name != JUDGED_NAME)
    measures = sorted(names, key=lambda name: name != first)
    return measures, sorted(runs.values(), key=lambda standing: _place(standing, measures))


def _place(standing: Standing, measures: Sequence[str]) -> tuple[float, str]:
    score = standing.scores.get(measures[0]) if measures else None
    if score is None or score.mean is None:
        return (math.inf, standing.run.tag)
    return (score.mean if is_lower_better(measures[0]) else -score.mean, standing.run.tag)


def values_of(evaluation: Evaluation) -> dict[str, NDArray[np.float64]]:
    """Each measure's values by query, in the order of `evaluation.query_ids`."""
    rows = Score.objects.filter(evaluation=evaluation).order_by("order").values_list("measure", "values")
    return {measure: packing.unpack(bytes(packed)) for measure, packed in rows}


def version_queries(version: Version, split: str) -> list[VersionQuery]:
    """The queries of one side of a version (empty: both) by outside id."""
    rows = VersionQuery.objects.filter(version=version).select_related("query")
    rows = rows.filter(split=split) if split else rows
    return sorted(rows, key=lambda row: row.outside_id.encode())


def without_relevant(version: Version, rel: int = 1) -> set[int]:
    """Keys of the version's queries of which no block was graded `rel` or more."""
    found = VersionGrade.objects.filter(query=OuterRef("pk"), grade__gte=rel)
    return set(VersionQuery.objects.filter(~Exists(found), version=version).values_list("pk", flat=True))


def deepest_of(run: Run) -> int:
    """How many results the longest ranking of the run holds."""
    return Ranking.objects.filter(run=run).aggregate(most=Max("length"))["most"] or 0


def version_query_in(version: Version, pk: int) -> VersionQuery:
    found = VersionQuery.objects.filter(version=version, pk=pk).select_related("query").first()
    if found is None:
        raise Http404("No such query in this version.")
    return found


class Ground(NamedTuple):
    """What a side of a version holds to score against. `numbers` maps the key of a query to its row."""

    judged: Judged
    numbers: dict[int, int]


def judged_of(version: Version, split: str) -> Ground:
    """The grades of one side of a version as columns, blocks by their position in its snapshot.

    Only queries with a grade count, as in a qrels file.
    """
    grades = VersionGrade.objects.filter(version=version)
    grades = grades.filter(query__split=split) if split else grades
    rows = list(grades.values_list("query_id", "position", "grade").iterator(chunk_size=AT_ONCE))
    graded = {row[0] for row in rows}
    queries = [query for query in version_queries(version, split) if query.pk in graded]
    place = {query.pk: number for number, query in enumerate(queries)}
    columns = np.array([(place[query], position, grade) for query, position, grade in rows], dtype=np.int64)
    columns = columns.reshape(-1, 3)
    judged = Judged(
        tuple(query.outside_id for query in queries), columns[:, 0].copy(), columns[:, 1].copy(), columns[:, 2].copy()
    )
    return Ground(judged, {query.query_id: number for number, query in enumerate(queries)})


def ranked_of(run: Run, numbers: dict[int, int]) -> Ranked:
    """The rankings of a run as columns, those of the numbered queries only."""
    queries, blocks, scores = [], [], []
    rows = Ranking.objects.filter(run=run).values_list("query_id", "packed")
    for query_id, packed in rows.iterator(chunk_size=AT_ONCE):
        if query_id in numbers:
            positions, values = ranking.unpack(bytes(packed))
            queries.append(np.full(len(positions), numbers[query_id], dtype=np.int64))
            blocks.append(positions.astype(np.int64))
            scores.append(values)
    if not queries:
        return Ranked(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))
    return Ranked(np.concatenate(queries), np.concatenate(blocks), np.concatenate(scores))


def scorable_runs(version: Version) -> list[Run]:
    """Complete runs on the version's snapshot."""
    return list(complete_runs_on(version.snapshot))


def notes_on(baseline: Evaluation, candidate: Evaluation, measure: str) -> dict[str, RegressionNote]:
    """What was decided about drops between two evaluations, by outside id of the query."""
    found = RegressionNote.objects.filter(baseline=baseline, candidate=candidate, measure=measure)
    return {note.query_id_text: note for note in found.select_related("decided_by", "pool")}


def closed(baseline: Evaluation, candidate: Evaluation, measure: str) -> ClosedComparison | None:
    """The record that this comparison was closed by the measure, if it was."""
    found = ClosedComparison.objects.filter(baseline=baseline, candidate=candidate, measure=measure)
    return found.select_related("closed_by").first()


def top_positions(run_ids: Sequence[int], queries: Sequence[VersionQuery], depth: int) -> list[tuple[int, int]]:
    """What any of the runs ranks 1 to `depth` for the queries, as (query key, position), each once, ascending."""
    rows = Ranking.objects.filter(run__in=run_ids, query__in=[query.query_id for query in queries])
    found = {
        (query_id, int(position))
        for query_id, packed in rows.values_list("query_id", "packed")
        for position in ranking.unpack(bytes(packed))[0][:depth]
    }
    return sorted(found)


def runs_asked(version: Version, split: str) -> set[int]:
    """Keys of the runs that are scored on one side of the version, or wait for it."""
    return set(Evaluation.objects.filter(version=version, split=split).values_list("run", flat=True))


class Placed(NamedTuple):
    """A block in a ranking: its position in the snapshot, rank from 1, score."""

    position: int
    rank: int
    score: float


def ranking_of(run: Run, query_id: int) -> list[Placed]:
    """What the run returned for the query, best first; empty when it returned nothing."""
    packed = Ranking.objects.filter(run=run, query=query_id).values_list("packed", flat=True).first()
    if packed is None:
        return []
    positions, scores = ranking.unpack(bytes(packed))
    return [
        Placed(position, rank, score)
        for rank, (position, score) in enumerate(zip(positions.tolist(), scores.tolist(), strict=True), 1)
    ]


def grades_of(query: VersionQuery) -> dict[int, int]:
    """The released grades of a query by position."""
    return dict(VersionGrade.objects.filter(query=query).values_list("position", "grade"))


def reports_in(kind: type[AnyReport], project: Project) -> QuerySet[AnyReport]:
    """The project's reports of one kind, newest first."""
    found = kind.objects.filter(project=project)
    found = found.select_related("version__gold_set__project", "version__snapshot__corpus", "job", "requested_by")
    return found.order_by("-pk")


def report_in(kind: type[AnyReport], project: Project, pk: int) -> AnyReport:
    found = reports_in(kind, project).filter(pk=pk).first()
    if found is None:
        raise Http404(f"No such {kind._meta.verbose_name}.")
    return found


def runs_of(report: Report) -> list[Run]:
    """The runs of a report, ascending by key."""
    return list(Run.objects.filter(pk__in=report.runs).select_related("system").order_by("pk"))


def version_resting_on(pool_id: int, project: Project) -> Version | None:
    """The version last frozen whose rounds judged the pool."""
    found = scorable_versions(project).filter(rounds__pool=pool_id)
    return found.order_by("-frozen_at", "-pk").first()
