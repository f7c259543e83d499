"""The pools of a project, and their queries, runs and pairs."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from apps.accounts.models import Project
from apps.corpus.models import Snapshot
from apps.jobs.enums import ENDED
from apps.jobs.models import Job
from apps.queries.models import Query
from apps.retrieval.core.missing_relevance import BoundedFigure
from apps.retrieval.enums import MISSING, QUICK, PoolKind
from apps.retrieval.models import Pool, PoolEntry, PoolQuery, PoolRun, Run
from apps.retrieval.selectors.finding import found_in
from apps.retrieval.selectors.runs import newest_runs_on
from apps.retrieval.selectors.systems import indexed_in
from apps.retrieval.selectors.withdrawn import without_withdrawn

MOST_PROPOSED = 5


def missing_job(pool: Pool) -> Job | None:
    """The unfinished job that estimates what the pool misses, or None."""
    jobs = Job.objects.filter(kind=MISSING, params__pool_id=pool.pk).exclude(state__in=ENDED)
    return jobs.order_by("-pk").first()


def pools_in(project: Project) -> QuerySet[Pool]:
    """The project's pools that count, newest first, each with `query_count` and `run_count`."""
    return without_withdrawn(_every_pool(project), project)


def _every_pool(project: Project) -> QuerySet[Pool]:
    pools = Pool.objects.filter(project=project).select_related("snapshot__corpus", "created_by", "job")
    return pools.annotate(query_count=_counted(PoolQuery), run_count=_counted(PoolRun)).order_by("-pk")


def _counted(links: type[PoolQuery] | type[PoolRun]) -> Coalesce:
    """The number of a pool's links, in a subquery: joining both tables would multiply the rows."""
    rows = links.objects.filter(pool=OuterRef("pk")).order_by().values("pool")
    return Coalesce(Subquery(rows.annotate(rows=Count("*")).values("rows")), 0)


def pool_in(project: Project, pk: int) -> Pool:
    """The pool in any state, withdrawn too, with its counts; Http404 for a pool of another project."""
    return found_in(_every_pool(project).filter(pk=pk))


class Proposal(NamedTuple):
    """The systems and runs, by id, that are selected in the form of a new pool before anybody chose."""

    systems: list[int]
    runs: list[int]


def proposed_sources(project: Project, snapshot: Snapshot) -> Proposal:
    """The systems with an index in Karat, and the newest run of every other system; at most five of each.

    A system that answers elsewhere, or has a model to load, is proposed only when a run of it is complete.
    """
    systems = indexed_in(project).values_list("pk", flat=True)[:MOST_PROPOSED]
    runs = newest_runs_on(snapshot).exclude(system__kind__in=QUICK).values_list("pk", flat=True)[:MOST_PROPOSED]
    return Proposal(list(systems), list(runs))


def pool_query_ids(pool: Pool) -> list[int]:
    """The ids of the queries that a pool covers, ascending."""
    return list(pool.pool_queries.order_by("query_id").values_list("query_id", flat=True))


def queries_without_pairs(pool: Pool, most: int) -> list[Query]:
    """The queries of a complete pool for which nothing was found, in the order of their ids; at most so many."""
    covered = Query.objects.filter(pk__in=pool.pool_queries.values("query"))
    paired = PoolEntry.objects.filter(pool=pool, query=OuterRef("pk"))
    return list(covered.filter(~Exists(paired)).order_by("outside_id", "pk")[:most])


def pool_runs(pool: Pool) -> list[Run]:
    """The runs of a pool, ascending by id."""
    links = PoolRun.objects.filter(pool=pool).select_related("run__system", "run__snapshot")
    return [link.run for link in links.order_by("run_id")]


def pools_with(run: Run) -> QuerySet[Pool]:
    """The pools that use the run, newest first. Pools of chosen pairs or imported judgements use no run."""
    return Pool.objects.filter(pool_runs__run=run, kind=PoolKind.DEPTH).order_by("-pk")


def entries_of(pool: Pool, query_id: int) -> QuerySet[PoolEntry]:
    """The pairs of one query, in the order of the blocks' outside ids."""
    entries = PoolEntry.objects.filter(pool=pool, query_id=query_id)
    return entries.select_related("version__block").order_by("version__block__outside_id")


class RunShare(NamedTuple):
    """One run of a pool: how many pairs it found, how many only it found, and how many it shares with each run."""

    run: Run
    found: int
    alone: int
    shared: list[int]


def run_shares(pool: Pool) -> list[RunShare]:
    """The shares of a complete pool's runs, ascending by id; for leads and viewers."""
    summary = pool.summary
    runs = {run.pk: run for run in pool_runs(pool)}
    return [
        RunShare(runs[pk], summary["shared"][at][at], summary["alone"][at], summary["shared"][at])
        for at, pk in enumerate(summary.get("runs", []))
        if summary["shared"]
    ]


class MissingEstimate(NamedTuple):
    """What a pool was estimated to miss: relevant blocks outside it, and its recall; None with too few judged."""

    counts: dict[str, Any]
    blocks: BoundedFigure | None
    share: BoundedFigure | None
    at: datetime


def missing_estimate(pool: Pool) -> MissingEstimate | None:
    """The last estimate; None when none was made since the pool was built or grown."""
    stored = pool.summary.get("missing")
    if not stored:
        return None
    blocks = BoundedFigure(*stored["missing"]) if stored.get("missing") else None
    share = BoundedFigure(*stored["share"]) if stored.get("share") else None
    return MissingEstimate(stored, blocks, share, datetime.fromisoformat(stored["at"]))
