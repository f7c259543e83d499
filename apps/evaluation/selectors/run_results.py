"""Reads for the page of a run: its queries, their first results, and their values and grades on a version."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db.models import Q

from apps.accounts.selectors import Member
from apps.common.database.questions import once
from apps.evaluation.core import packing
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.selectors.evaluations import evaluations_in
from apps.evaluation.selectors.rankings import PlacedBlock
from apps.goldsets.models import Version, VersionGrade, VersionQuery
from apps.goldsets.selectors.versions import scorable_versions
from apps.metrics.expected.rules import BY_GRADES
from apps.retrieval.core import ranking
from apps.retrieval.models import Ranking, Run


def versions_for(run: Run, member: Member) -> list[Version]:
    """The versions on the run's snapshot to score it on, as far as this person may see them, newest first."""
    versions = versions_on_snapshot(run)
    return versions if member.is_lead else [version for version in versions if version.released_at is not None]


def versions_on_snapshot(run: Run) -> list[Version]:
    """Every version on the run's snapshot that can be scored, the newest of each gold set first."""
    rows = scorable_versions(run.project).filter(snapshot=run.snapshot_id)
    return once(("versions for", run.pk), lambda: list(rows))


def evaluations_of(run: Run) -> list[Evaluation]:
    """Every evaluation of the run, scored or not, newest first; without the ids of their queries."""
    rows = evaluations_in(run.project).filter(run=run).defer("query_ids")
    return once(("evaluations of", run.pk), lambda: list(rows))


class QueryOfRun(NamedTuple):
    """A query of a run: the key of its ranking, the key of the query, the number of its results."""

    pk: int
    query_id: int
    length: int


def queries_of(run: Run, find: str = "", only: int | None = None) -> list[QueryOfRun]:
    """The run's queries by outside id: those with `find` in their id or text; or `only` the one with this key."""
    rows = Ranking.objects.filter(run=run)
    if only is not None:
        rows = rows.filter(query=only)
    if find:
        rows = rows.filter(Q(query__outside_id__icontains=find) | Q(query__text__icontains=find))
    ordered = rows.order_by("query__outside_id", "query_id")
    return [QueryOfRun(*row) for row in ordered.values_list("pk", "query_id", "length")]


def rankings_with_queries(run: Run, ranking_ids: Sequence[int]) -> dict[int, Ranking]:
    """These rankings of the run with their queries, by key of the query."""
    rows = Ranking.objects.filter(run=run, pk__in=ranking_ids).select_related("query").defer("passages")
    return {row.query_id: row for row in rows}


def top_of(found: Ranking, most: int) -> list[PlacedBlock]:
    """The first `most` results of a ranking."""
    positions, scores = ranking.unpack(bytes(found.packed))
    pairs = zip(positions[:most].tolist(), scores[:most].tolist(), strict=True)
    return [PlacedBlock(position, rank, score) for rank, (position, score) in enumerate(pairs, 1)]


class QueryValues(NamedTuple):
    """A measure, "" where the run is not scored, and its value for each query by outside id."""

    measure: str
    values: dict[str, float]


def values_by_query(run: Run, version: Version) -> QueryValues:
    """The run's values by the first measure of its latest evaluation on the version, of whatever split."""
    if not any(one.version_id == version.pk and one.is_scored and not one.hit for one in evaluations_of(run)):
        return QueryValues("", {})
    scores = Score.objects.filter(evaluation__run=run, evaluation__version=version, order=0)
    scores = scores.filter(evaluation__hit=BY_GRADES, evaluation__slice=None)
    rows = list(scores.exclude(evaluation__scored_at=None).order_by("evaluation_id").select_related("evaluation"))
    measure = rows[-1].measure if rows else ""
    values: dict[str, float] = {}
    for row in rows:
        if row.measure == measure:
            column = packing.unpack(bytes(row.values)).tolist()
            named = zip(row.evaluation.query_ids, column, strict=True)
            values |= {query: value for query, value in named if value == value}
    return QueryValues(measure, values)


def grades_by_query(queries: Iterable[VersionQuery]) -> dict[int, dict[int, int]]:
    """The released grades of these queries by position, by key of the query; an empty one where nothing is graded."""
    rows = {row.pk: row.query_id for row in queries}
    grades: dict[int, dict[int, int]] = {query: {} for query in rows.values()}
    for key, position, grade in VersionGrade.objects.filter(query__in=rows).values_list("query", "position", "grade"):
        grades[rows[key]][position] = grade
    return grades
