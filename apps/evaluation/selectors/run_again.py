"""The results and scores of a run, and the systems of earlier versions that can run on a newer snapshot."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db.models import Count, Q, QuerySet

from apps.accounts.models import Project
from apps.accounts.selectors import Member
from apps.common.database.batched_reads import once
from apps.evaluation.core import packing
from apps.evaluation.enums import RUN_AGAIN
from apps.evaluation.models import Evaluation, Score, by_grades
from apps.evaluation.selectors.evaluations import with_sealed
from apps.evaluation.selectors.rankings import PlacedBlock
from apps.goldsets.models import Version, VersionGrade, VersionQuery
from apps.goldsets.selectors.questions import condition_of
from apps.goldsets.selectors.versions import scorable_versions
from apps.jobs.models import Job
from apps.metrics.expected.rules import BY_GRADES
from apps.queries.models import Query
from apps.retrieval.core import ranking
from apps.retrieval.enums import ELSEWHERE, RunState, SystemKind
from apps.retrieval.models import Ranking, Run, System

_COLUMNS = ("system", "pk", "snapshot__number")


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
    return [one for one in _asked_of(run) if one.sealed_by is None]


def sealed_of(run: Run) -> list[Evaluation]:
    """The run's evaluations that stay sealed, newest first."""
    return [one for one in _asked_of(run) if one.sealed_by is not None]


def _asked_of(run: Run) -> list[Evaluation]:
    rows = with_sealed(run.project).filter(run=run, slice=None).defer("query_ids")
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


def graded_in(run: Run) -> set[int]:
    """The keys of the versions on the run's snapshot in which one of its queries has a grade."""
    grades = VersionGrade.objects.filter(
        version__snapshot=run.snapshot_id, query__query__in=run.rankings.values("query")
    )
    return once(("graded in", run.pk), lambda: set(grades.values_list("version", flat=True).distinct()))


class QueryValues(NamedTuple):
    """A measure, "" where the run is not scored, and its value for each query by outside id."""

    measure: str
    values: dict[str, float]


def values_by_query(run: Run, version: Version) -> QueryValues:
    """The run's values by the first measure of its latest evaluation by grades on the version, of whatever split.

    By text where the run returned passages of its own.
    """
    usual = [one for one in evaluations_of(run) if one.version_id == version.pk and one.is_scored]
    usual = [one for one in usual if (one.is_by_text if run.returns_passages else one.hit == BY_GRADES)]
    if not usual:
        return QueryValues("", {})
    scores = Score.objects.filter(evaluation__run=run, evaluation__version=version, order=0)
    scores = scores.filter(evaluation__hit=usual[0].hit, evaluation__slice=None)
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


class FormerRun(NamedTuple):
    """The newest run of a system that was scored on an earlier version; `version` is the label of that one.

    `cause` is the system that keeps Karat from running it by itself: itself, or one that it fuses.
    """

    run: Run
    version: str
    cause: System

    @property
    def system(self) -> System:
        return self.run.system


class RunAgain(NamedTuple):
    """The systems of earlier versions that were scored on older snapshots than that of a version.

    `runs` were requested again for it, in any state. Of the others, `own` can be run by Karat alone, `elsewhere` only
    with requests to systems outside, and `uploaded` not at all. Systems with a run on the version's snapshot that
    answers all that will be scored, or is about to, are in none of them.
    """

    runs: list[Run]
    own: list[FormerRun]
    elsewhere: list[FormerRun]
    uploaded: list[FormerRun]
    former: dict[int, FormerRun]

    @property
    def can_be_run(self) -> list[FormerRun]:
        return [*self.own, *self.elsewhere]


def run_again_of(version: Version) -> RunAgain:
    """What was run again for the version, what can be, and what cannot. In a constant number of queries."""
    former = _former_runs(version) if version.number > 1 else {}
    if not former:
        return RunAgain([], [], [], [], {})
    runs = _requested_runs(version)
    requested = {run.system_id for run in runs}
    open_ones = [one for pk, one in former.items() if pk not in requested]
    kinds: dict[str, list[FormerRun]] = {"own": [], "elsewhere": [], "uploaded": []}
    for one in _unanswered(version, open_ones):
        kinds[_kind_of(one.cause)].append(one)
    return RunAgain(runs, **kinds, former=former)


def _unanswered(version: Version, former: list[FormerRun]) -> list[FormerRun]:
    """Those without a run on the version's snapshot that would do, each with its cause."""
    uploaded = [one for one in former if one.system.kind == SystemKind.UPLOADED]
    others = [one for one in former if one.system.kind != SystemKind.UPLOADED]
    there = Run.objects.filter(snapshot=version.snapshot_id, state=RunState.COMPLETE)
    found = []
    if uploaded:
        systems = set(there.filter(system__kind=SystemKind.UPLOADED).values_list("system", flat=True))
        found += [one for one in uploaded if one.system.pk not in systems]
    if others:
        whole = _whole_runs(version)
        by_digest = _fused_systems(version.gold_set.project, others)
        missing = [one for one in others if not whole.have(one.system, one.run.depth)]
        found += [one._replace(cause=_cause(one.system, one.run.depth, whole, by_digest)) for one in missing]
    return found


def _former_runs(version: Version) -> dict[int, FormerRun]:
    """By system the run of the newest snapshot, where that is older than the version's; by the name of the system."""
    versions = version.gold_set.versions.filter(number__lt=version.number)
    scored = Evaluation.objects.filter(version__in=versions.values("pk")).values("run")
    rows = Run.objects.filter(pk__in=scored, snapshot__corpus=version.snapshot.corpus_id)
    rows = rows.exclude(system__kind=SystemKind.LOADED)  # each searches one snapshot: on another it is another system
    newest = {row[0]: row for row in rows.order_by("snapshot__number", "pk").values_list(*_COLUMNS)}
    older = [pk for _, pk, number in newest.values() if number < version.snapshot.number]
    if not older:
        return {}
    labels = {one.snapshot_id: one.label for one in versions.order_by("number")}
    runs = Run.objects.filter(pk__in=older).select_related("system", "snapshot__corpus").order_by("system__name")
    return {run.system_id: FormerRun(run, labels[run.snapshot_id], run.system) for run in runs}


def _requested_runs(version: Version) -> list[Run]:
    """The runs that were requested again for the version, in the order of the request; without those they fuse."""
    jobs = Job.objects.filter(project=version.gold_set.project_id, kind=RUN_AGAIN, params__version_id=version.pk)
    ids = [pk for found in jobs.order_by("pk").values_list("params__run_ids", flat=True) for pk in found]
    runs = Run.objects.select_related("system", "job").defer("job__params").in_bulk(ids)
    return [runs[pk] for pk in ids]


class _WholeRuns(NamedTuple):
    """By system the depth of its deepest run on a snapshot that answers all that will be scored, or is about to."""

    complete: dict[int, int]
    pending: dict[int, int]

    def have(self, system: System, depth: int) -> bool:
        return self.can_fuse(system, depth) or self.pending.get(system.pk, 0) >= depth

    def can_fuse(self, system: System, depth: int) -> bool:
        """A fusion takes complete runs alone, and makes what it lacks."""
        return self.complete.get(system.pk, 0) >= depth


def _whole_runs(version: Version) -> _WholeRuns:
    asked = _scored_queries(version)
    ids = set(asked.values_list("pk", flat=True))
    on = Run.objects.filter(snapshot=version.snapshot_id)
    large = on.filter(state=RunState.COMPLETE, query_count__gte=len(ids))
    rankings = Ranking.objects.filter(run__in=large.values("pk"), query__in=asked.values("pk")).order_by()
    whole = rankings.values("run").annotate(n=Count("pk")).filter(n=len(ids)).values("run")
    complete = on.filter(pk__in=whole).order_by("depth").values_list("system", "depth")
    waiting = on.filter(state=RunState.PENDING).order_by("depth")
    rows = waiting.values_list("system", "depth", "job__params__query_ids")
    pending = {system: depth for system, depth, queries in rows if ids <= set(queries or ())}
    return _WholeRuns(dict(complete), pending)


def _scored_queries(version: Version) -> QuerySet[Query]:
    """All questions of the version; its graded queries alone where earlier versions were scored by grades alone."""
    earlier = Evaluation.objects.filter(version__gold_set=version.gold_set_id, version__number__lt=version.number)
    if earlier.exclude(by_grades()).exists():
        return Query.everything.filter(condition_of(version), project=version.gold_set.project_id)
    graded = VersionGrade.objects.filter(version=version)
    return Query.everything.filter(pk__in=graded.values("query__query"))


def _fused_systems(project: Project, former: list[FormerRun]) -> dict[str, System]:
    """The systems that fusions may fuse, by digest; empty, without a query, where there is no fusion."""
    if not any(one.system.kind == SystemKind.FUSION for one in former):
        return {}
    return {system.digest: system for system in System.objects.filter(project=project)}


def _cause(system: System, depth: int, whole: _WholeRuns, by_digest: dict[str, System]) -> System:
    """The system outside Karat that a fusion needs a run of, an uploaded one first; else the system itself."""
    if system.kind != SystemKind.FUSION:
        return system
    parts = [by_digest[digest] for digest in system.config["engine"]["systems"]]
    causes = [_cause(part, depth, whole, by_digest) for part in parts if not whole.can_fuse(part, depth)]
    outside = {_kind_of(cause): cause for cause in reversed(causes)}
    return outside.get("uploaded") or outside.get("elsewhere") or system


def _kind_of(cause: System) -> str:
    if cause.kind == SystemKind.UPLOADED:
        return "uploaded"
    return "elsewhere" if cause.kind in ELSEWHERE else "own"
