"""Requesting and growing pools, pools of pairs that somebody chose, and estimates of what a pool misses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.database.bulk import chunks
from apps.common.errors import Refusal
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.corpus.selectors.corpora import snapshot_in
from apps.jobs.actions.jobs import enqueue
from apps.jobs.models import Job
from apps.queries.actions.queries import lock_queries
from apps.queries.models import Query
from apps.retrieval import rules, workflow
from apps.retrieval.actions.runs import add_components
from apps.retrieval.actions.systems import create_built_in_systems
from apps.retrieval.core.sampling import PLAIN, PoolPlan, plan_of
from apps.retrieval.enums import MISSING, PoolKind, PoolState, Step
from apps.retrieval.execution.pool_building import ROWS_AT_ONCE
from apps.retrieval.execution.run_reading import add_run
from apps.retrieval.models import Pool, PoolEntry, PoolQuery, PoolRun, Run
from apps.retrieval.rules import RUN_DEPTH
from apps.retrieval.selectors.pools import missing_job, pool_in, ranked_query_ids
from apps.retrieval.selectors.question_sets import ALL_QUERIES, QueryChoice, judged_in
from apps.retrieval.selectors.runs import reusable_run, run_in
from apps.retrieval.selectors.systems import system_in

MOST_CHOSEN = 50_000


class PoolRefused(Refusal):
    """A pool cannot be built or grown."""


@transaction.atomic
def request_pool(
    *,
    project: Project,
    name: str,
    snapshot_id: int,
    system_ids: Sequence[int] = (),
    run_ids: Sequence[int] = (),
    with_built_in: bool = False,
    depth: int,
    plan: PoolPlan = PLAIN,
    choice: QueryChoice = ALL_QUERIES,
    actor: User,
    at: datetime,
) -> Pool:
    """Queue a job that builds a pool from the chosen runs and from one run of each chosen system.

    Without a plan, the pool is the union of the top `depth` results; with a budget, pairs are chosen among them. A
    complete run of a system that is deep enough and has all the queries is reused. `with_built_in` creates BM25 and
    TF-IDF in a project that has neither, and takes them too. Raises PoolRefused and SystemRefused.
    """
    snapshot = snapshot_in(project, snapshot_id)
    if with_built_in:
        made = create_built_in_systems(project=project, actor=actor, at=at)
        system_ids = [*system_ids, *(system.pk for system in made)]
    query_ids = list(judged_in(project, choice).values_list("pk", flat=True))
    name = name.strip()
    _check_request(project, name, depth, query_ids)
    pool = Pool.objects.create(
        project=project,
        snapshot=snapshot,
        name=name,
        depth=depth,
        plan=plan.as_json(),
        created_by=actor,
        created_at=at,
    )
    PoolQuery.objects.bulk_create([PoolQuery(pool=pool, query_id=pk) for pk in query_ids], batch_size=ROWS_AT_ONCE)
    ranked = ranked_query_ids(pool)
    pending = _link_runs(pool, plan, ranked, system_ids, run_ids, actor, at)
    _store_plan(pool, plan, len(query_ids))
    after = {
        "name": name,
        "snapshot": snapshot.digest,
        "depth": depth,
        "queries": len(query_ids),
        "plan": pool.plan,
    }
    record(project=project, actor=actor, action="pool.requested", obj=pool, after=after, at=at)
    lock_queries(ranked, at=at)
    return _enqueue_pool(pool, pending, actor, at)


def _check_request(project: Project, name: str, depth: int, query_ids: Sequence[int]) -> None:
    if not name:
        raise PoolRefused("A pool needs a name.", code="name_missing")
    if Pool.objects.filter(project=project, name=name).exists():
        raise PoolRefused(f"There is already a pool called {name}. Choose another name.", code="name_taken")
    if reason := rules.depth_refusal(depth):
        raise PoolRefused(reason, code="bad_depth")
    if not query_ids:
        raise PoolRefused("No query was chosen, so there is nothing to judge.", code="no_queries")


@transaction.atomic
def grow_pool(
    *,
    project: Project,
    pool_id: int,
    system_ids: Sequence[int] = (),
    run_ids: Sequence[int] = (),
    depth: int | None = None,
    more: PoolPlan = PLAIN,
    actor: User,
    at: datetime,
) -> Pool:
    """Add runs or pairs to a complete pool, or increase its depth; its pairs stay. Raises PoolRefused.

    The counts of `more` are added to those of the pool's plan; its method and seed are ignored. An adaptive method
    chooses with the judgements at the time of the job.
    """
    pool = Pool.objects.select_for_update(of=("self",)).get(pk=pool_in(project, pool_id).pk)
    depth = depth or pool.depth
    reason = rules.grow_refusal(pool) or rules.depth_refusal(depth)
    if reason is None and depth < pool.depth:
        reason = f"The depth of this pool is {pool.depth}. It cannot be smaller, because a pool never loses pairs."
    if reason:
        raise PoolRefused(reason, code="pool_cannot_grow")
    is_deeper, pool.depth = depth > pool.depth, depth
    before = set(pool.pool_runs.values_list("run_id", flat=True))
    wanted = [pk for pk in run_ids if pk not in before]
    plan = _grown(plan_of(pool.plan), more)
    pending = _link_runs(pool, plan, ranked_query_ids(pool), system_ids, wanted, actor, at, may_be_empty=True)
    is_wider = set(pool.pool_runs.values_list("run_id", flat=True)) != before
    if not is_wider and not is_deeper and plan == plan_of(pool.plan):
        raise PoolRefused(
            "Nothing to add: the pool already includes these runs at this depth. Choose another run, a greater depth "
            "or more pairs.",
            code="nothing_to_add",
        )
    changes = {"depth": depth, "plan": _store_plan(pool, plan, pool.pool_queries.count())}
    pool = workflow.move_pool(pool.pk, Step.GROW, actor=actor, at=at, **changes)
    return _enqueue_pool(pool, pending, actor, at)


@transaction.atomic
def request_missing(*, project: Project, pool_id: int, actor: User, at: datetime) -> Job:
    """Queue a job that estimates what a pool misses from the current grades, or return an unfinished one."""
    pool = Pool.objects.select_for_update(of=("self",)).get(pk=pool_in(project, pool_id).pk)
    if reason := rules.missing_refusal(pool):
        raise PoolRefused(reason, code="nothing_drawn")
    if (job := missing_job(pool)) is not None:
        return job
    title = f"Estimate what {pool.name} misses"
    return enqueue(kind=MISSING, params={"pool_id": pool.pk}, project=project, actor=actor, at=at, title=title)


def _grown(plan: PoolPlan, more: PoolPlan) -> PoolPlan:
    """The plan with the counts of `more` added. Raises PoolRefused when they do not fit together."""
    if more.pairs and not plan.has_budget:
        message = "This pool has no budget: it takes the top of every run. Increase its depth instead."
        raise PoolRefused(message, code="plan")
    if more.edge and plan.random and not plan.edge:
        message = (
            "This pool already has random passages from everywhere outside it, so it cannot get random passages from "
            "just below it. Build a new pool for that."
        )
        raise PoolRefused(message, code="plan")
    totals = {name: getattr(plan, name) + getattr(more, name) for name in ("pairs", "random", "edge", "easy")}
    return replace(plan, **totals)


def _store_plan(pool: Pool, plan: PoolPlan, queries: int) -> dict[str, Any] | None:
    """Store the plan; when it first has an edge, the pool's current runs are its edge runs. Raises PoolRefused."""
    runs = tuple(pool.pool_runs.order_by("run_id").values_list("run_id", flat=True))
    if reason := rules.plan_refusal(plan, queries, len(runs), pool.depth):
        raise PoolRefused(reason, code="plan")
    if plan.edge and not plan.edge_runs:
        plan = replace(plan, edge_runs=runs)
    pool.plan = plan.as_json()
    pool.save(update_fields=["plan"])
    return pool.plan


def _link_runs(
    pool: Pool,
    plan: PoolPlan,
    query_ids: Sequence[int],
    system_ids: Sequence[int],
    run_ids: Sequence[int],
    actor: User,
    at: datetime,
    may_be_empty: bool = False,
) -> list[Run]:
    """Link the pool to the chosen runs, and to one run per system; returns the runs that still have to be made."""
    runs = [run_in(pool.project, pk) for pk in dict.fromkeys(run_ids)]
    for run in runs:
        if reason := rules.pool_source_refusal(run, pool.snapshot, plan.method):
            raise PoolRefused(reason, code="run_refused")
    pending: list[Run] = []
    for pk in dict.fromkeys(system_ids):
        system = system_in(pool.project, pk)
        size = len(query_ids)
        if reason := rules.blocks_refusal(system) or rules.run_refusal(system, pool.snapshot, size, pool.depth):
            raise PoolRefused(reason, code="run_refused")
        run_of_system = reusable_run(system, pool.snapshot, pool.depth, query_ids)
        if run_of_system is None:
            run_of_system = add_run(system, pool.snapshot, max(pool.depth, RUN_DEPTH), actor=actor, at=at)
            pending += [run_of_system, *add_components(run_of_system, query_ids, actor, at)]
        runs.append(run_of_system)
    if not runs and not may_be_empty:
        raise PoolRefused("Choose at least one system or run.", code="no_runs")
    linked = set(pool.pool_runs.values_list("run_id", flat=True))
    new = {run.pk for run in runs} - linked
    PoolRun.objects.bulk_create([PoolRun(pool=pool, run_id=pk) for pk in sorted(new)])
    return pending


def _enqueue_pool(pool: Pool, pending: Sequence[Run], actor: User, at: datetime) -> Pool:
    pool.job = enqueue(
        kind="retrieval.pool",
        params={"pool_id": pool.pk},
        project=pool.project,
        actor=actor,
        at=at,
        title=f"Build the pool {pool.name}",
    )
    pool.save(update_fields=["job"])
    Run.objects.filter(pk__in=[run.pk for run in pending]).update(job=pool.job)
    return pool


class ChoiceRefused(Refusal):
    """The chosen pairs cannot become a pool."""


@transaction.atomic
def choose_pairs(
    *,
    project: Project,
    snapshot: Snapshot,
    name: str,
    pairs: Iterable[tuple[int, int]],
    origin: str = "",
    plan: Mapping[str, Any] | None = None,
    actor: User,
    at: datetime,
) -> Pool:
    """Create a complete pool of these (query id, block version id) pairs; a repeated pair counts once.

    `origin` says for readers why they were chosen, `plan` for programs. Raises ChoiceRefused for no pair or more than
    50,000, a missing or taken name, and a query or block of another project or snapshot.
    """
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    chosen = sorted(set(pairs))
    if reason := _refusal(project, snapshot, name.strip(), chosen):
        raise ChoiceRefused(reason, code="pairs_refused")
    queries = sorted({query for query, _ in chosen})
    pool = Pool.objects.create(
        project=project,
        snapshot=snapshot,
        name=name.strip(),
        kind=PoolKind.CHOSEN,
        state=PoolState.COMPLETE,
        plan=dict(plan) if plan else None,
        origin=origin[:300],
        entry_count=len(chosen),
        created_by=actor,
        created_at=at,
        completed_at=at,
    )
    PoolQuery.objects.bulk_create([PoolQuery(pool=pool, query_id=pk) for pk in queries], batch_size=ROWS_AT_ONCE)
    sampled = {"how": "chosen"}
    entries = [PoolEntry(pool=pool, query_id=query, version_id=version, sampled=sampled) for query, version in chosen]
    PoolEntry.objects.bulk_create(entries, batch_size=ROWS_AT_ONCE)
    lock_queries(queries, at=at)
    after = {"name": pool.name, "snapshot": snapshot.digest, "pairs": len(chosen), "origin": pool.origin}
    record(project=project, actor=actor, action="pool.chosen", obj=pool, after=after, at=at)
    return pool


def _refusal(project: Project, snapshot: Snapshot, name: str, pairs: list[tuple[int, int]]) -> str | None:
    if not name:
        return "A pool needs a name."
    if Pool.objects.filter(project=project, name=name).exists():
        return f"There is already a pool called {name}. Choose another name."
    if not pairs:
        return "No pair was chosen, so there is nothing to judge."
    if len(pairs) > MOST_CHOSEN:
        return f"{len(pairs):,} pairs were chosen; a pool of chosen pairs can have at most {MOST_CHOSEN:,}."
    if snapshot.corpus.project_id != project.pk:
        return "These passages belong to another project."
    queries = {query for query, _ in pairs}
    if _count(Query.objects.filter(project=project), "pk", queries) != len(queries):
        return "A chosen query is not in this project."
    versions = {version for _, version in pairs}
    if _count(SnapshotBlock.objects.filter(snapshot=snapshot), "version_id", versions) != len(versions):
        return f"A chosen passage is not in the snapshot {snapshot.name}."
    return None


def _count(rows: Any, field: str, keys: set[int]) -> int:
    return sum(rows.filter(**{f"{field}__in": part}).count() for part in chunks(sorted(keys), ROWS_AT_ONCE))
