"""The systems that were scored on earlier versions, and what of them is there on the newer snapshot of a version."""

from typing import NamedTuple

from django.db.models import Count, QuerySet

from apps.accounts.models import Project
from apps.evaluation.enums import RUN_AGAIN
from apps.evaluation.models import Evaluation
from apps.goldsets.models import Version, VersionGrade
from apps.goldsets.selectors.questions import condition_of
from apps.jobs.models import Job
from apps.metrics.expected.rules import BY_GRADES
from apps.queries.models import Query
from apps.retrieval.enums import ELSEWHERE, RunState, SystemKind
from apps.retrieval.models import Ranking, Run, System


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


_COLUMNS = ("system", "pk", "snapshot__number")


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
    if earlier.exclude(hit=BY_GRADES).exists():
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
