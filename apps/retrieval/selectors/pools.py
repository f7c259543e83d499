"""The pools of a project: their queries, runs and pairs, their size beforehand, and what they miss."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from apps.accounts.models import Project, User
from apps.common.discovery import Registered
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.jobs.enums import ENDED
from apps.jobs.models import Job
from apps.queries.core.naming import VARIANT_OF, VARIANT_SEED
from apps.queries.models import Query
from apps.retrieval.core import pooling
from apps.retrieval.core.sampling import PLAIN, SAME, BoundedFigure, PoolPlan
from apps.retrieval.enums import MISSING, QUICK, PoolKind
from apps.retrieval.models import Pool, PoolEntry, PoolQuery, PoolRun, Run, System
from apps.retrieval.selectors.question_sets import found_in
from apps.retrieval.selectors.runs import newest_runs_on, result_counts, reusable_run
from apps.retrieval.selectors.systems import indexed_in

WithdrawnCheck = Callable[[Project], QuerySet[Pool]]

withdrawn_checks: Registered[WithdrawnCheck] = Registered()
"""Each selects the pools that came with grades whose import was undone."""
RELEVANT_FROM = 1
"""The lowest grade that counts as relevant, the default of all measures."""
MOST_PROPOSED = 5
AT_ONCE = 500


def without_withdrawn(pools: QuerySet[Pool], project: Project) -> QuerySet[Pool]:
    """Those of the project's pools that count: withdrawn ones keep their page and are in no list."""
    for check in withdrawn_checks:
        pools = pools.exclude(pk__in=check(project).order_by().values("pk"))
    return pools


def is_withdrawn(pool: Pool) -> bool:
    """Whether it came with grades whose import was undone."""
    return pool.kind == PoolKind.IMPORTED and any(
        check(pool.project).filter(pk=pool.pk).exists() for check in withdrawn_checks
    )


class PoolForecast(NamedTuple):
    """The size of a pool before it is built: `at_most` pairs, of which `sampled` are random. `shallow` are chosen runs
    with fewer results than the pool's depth, `partial` those without some of the queries. `own` are runs that returned
    passages of their own: each counts as one pair, until the pool is built from what they cover.
    """

    queries: int
    at_most: int
    to_run: list[System]
    reused: list[Run]
    shallow: list[Run]
    partial: list[Run]
    sampled: int
    own: list[Run]


def estimate_pool(
    snapshot: Snapshot,
    systems: Sequence[System],
    runs: Sequence[Run],
    depth: int,
    query_ids: Sequence[int],
    plan: PoolPlan = PLAIN,
) -> PoolForecast:
    """The most pairs that such a pool can have. Stored rankings are counted; runs still to be made count as full.

    A system that is not saved yet has no run to reuse.
    """
    saved = [system for system in systems if system.pk is not None]
    reusable = {system.pk: reusable_run(system, snapshot, depth, query_ids) for system in saved}
    reused = [run for run in reusable.values() if run is not None]
    known = {run.pk: run for run in (*runs, *reused)}
    lengths, partial = [], []
    for run in known.values():
        counts = result_counts(run.pk)
        lengths.append([counts.get(pk, 0) for pk in query_ids])
        if not counts.keys() >= set(query_ids):
            partial.append(run)
    to_run = [system for system in systems if reusable.get(system.pk) is None]
    lengths += [[depth] * len(query_ids) for _ in to_run]
    table = np.array(lengths, dtype=np.int64).reshape(len(lengths), len(query_ids))
    if plan.takes_every:
        own = [run for run in runs if run.returns_passages]
        return PoolForecast(len(query_ids), len(query_ids) * snapshot.block_count, to_run, reused, [], partial, 0, own)
    each = pooling.most_each(table, depth, snapshot.block_count)
    if plan.has_budget and plan.each:
        each = np.minimum(each, plan.pairs)
    from_runs = min(int(each.sum()), plan.pairs) if plan.has_budget and not plan.each else int(each.sum())
    wanted = plan.random + plan.edge + plan.easy
    sampled = int(np.minimum(wanted, snapshot.block_count - each).sum()) if wanted else 0
    shallow = [run for run in runs if run.depth < min(depth, snapshot.block_count)]
    own = [run for run in runs if run.returns_passages]
    return PoolForecast(len(query_ids), from_runs + sampled, to_run, reused, shallow, partial, sampled, own)


Grades = Mapping[tuple[int, int], int]
GradeSource = Callable[[Pool], Grades]

grade_sources: Registered[GradeSource] = Registered()
"""Each gives the agreed grade of every (query id, block version id) on the pool's snapshot."""


Follower = Callable[[Pool, Mapping[str, Any], User, datetime], str]

after_pooling: Registered[Follower] = Registered()
"""Each does what was asked for together with a pool, once it is built; returns why it could not, "" where it did."""

EffortWords = Callable[[Project, int], str]

effort_words: Registered[EffortWords] = Registered()
"""Each says how long so many judgements take in a project: "3 hours at the pace measured here"; empty for none."""


def grades_of(pool: Pool) -> dict[tuple[int, int], int]:
    """The agreed grades on the pool's snapshot, from any pool, by (query id, block version id). Slow: for jobs."""
    return {pair: grade for source in grade_sources for pair, grade in source(pool).items()}


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


def ranked_query_ids(pool: Pool) -> list[int]:
    """The queries that its own runs rank, ascending: those it covers, and the variants made of them before it.

    Nobody judges such variants, but they are scored with the grades of their originals.
    """
    covered = dict(pool.pool_queries.values_list("query__outside_id", "query_id"))
    made = Query.objects.filter(
        project=pool.project_id, created_at__lte=pool.created_at, metadata__has_key=VARIANT_SEED
    ).values_list("pk", "metadata")
    variants = {pk for pk, facts in made if facts.get(VARIANT_OF) in covered}
    return sorted(variants.union(covered.values()))


def exhaustive_queries(pool: Pool) -> set[int]:
    """The queries for which the pool has every block of its snapshot, by counting its pairs.

    Whatever answers such a query is among its pairs, so that no estimate of what is missed is needed.
    """
    blocks = SnapshotBlock.objects.filter(snapshot=pool.snapshot_id)
    if not pool.snapshot.block_count or pool.entry_count < pool.snapshot.block_count:
        return set()
    counted = PoolEntry.objects.filter(pool=pool, version__in=blocks.values("version")).order_by().values("query")
    full = counted.annotate(pairs=Count("pk")).filter(pairs=pool.snapshot.block_count)
    return set(full.values_list("query", flat=True))


def is_exhaustive(pool: Pool) -> bool:
    """Whether it has every block of its snapshot for every query that it covers."""
    covered = pool.pool_queries.count()
    return 0 < covered == len(exhaustive_queries(pool))


SHEET = ("query_id", "query_text", "doc_id", "doc_title", "doc_text", "relevance", "notes")
CHOSEN_COLUMN = "chosen"


def sheet_rows(pool: Pool, *, says_chosen: bool) -> Iterator[tuple[str, ...]]:
    """The pairs that people judge as a table, headings first, for somebody who grades in a spreadsheet.

    The grade and the note are empty. The order, by ids of query and passage, tells no rank, and no column which run
    found the pair; but for `says_chosen`: "bm25 3; dense 12", or the `how` of `PoolEntry.sampled`.
    """
    entries = PoolEntry.objects.filter(pool=pool, query__retired_at=None).exclude(sampled__how=SAME)
    entries = entries.order_by("query__outside_id", "version__block__outside_id")
    columns = ("query__outside_id", "query__text", "version__block__outside_id", "version__title", "version__text")
    tags = {run.pk: run.tag for run in pool_runs(pool)} if says_chosen else {}
    yield (*SHEET, CHOSEN_COLUMN) if says_chosen else SHEET
    for *cells, found_by, sampled in entries.values_list(*columns, "found_by", "sampled").iterator(chunk_size=AT_ONCE):
        chosen = [sampled["how"]] if sampled else [f"{tags.get(run, '')} {rank}" for run, rank in found_by]
        yield (*cells, "", "", *(("; ".join(chosen),) if says_chosen else ()))


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
