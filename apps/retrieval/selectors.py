"""Reads of systems, runs and pools. Each is scoped by project: what belongs to another is not found."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404
from numpy.typing import NDArray

from apps.accounts.models import Project
from apps.corpus.models import Block, Snapshot, SnapshotBlock
from apps.corpus.selectors import snapshots_in
from apps.jobs.enums import ENDED
from apps.jobs.models import Job, Upload
from apps.queries.models import Query
from apps.retrieval import pooling, ranking
from apps.retrieval.enums import AT_ONCE, INDEX, MISSING, TAKE_FILE, BlockText, PoolKind, RunState, SystemKind
from apps.retrieval.models import Pool, PoolEntry, PoolQuery, PoolRun, Ranking, Run, System
from apps.retrieval.sampling import PLAIN, PoolPlan

IDS_AT_ONCE = 5_000


@dataclass(frozen=True)
class QueryChoice:
    """Which of a project's queries are meant; what is empty does not narrow the choice."""

    source_id: int | None = None
    domain: str = ""
    difficulty: str = ""
    query_type: str = ""


ALL_QUERIES = QueryChoice()


class Estimate(NamedTuple):
    """What a pool would come to, before it is asked for. `shallow` are runs that keep fewer results than the
    pool is deep; `partial` are runs that lack some of the queries. `drawn` of the pairs come in at random.
    """

    queries: int
    at_most: int
    to_run: list[System]
    reused: list[Run]
    shallow: list[Run]
    partial: list[Run]
    drawn: int = 0


def batches(ids: Sequence[Any], size: int = IDS_AT_ONCE) -> Iterator[Sequence[Any]]:
    """The ids in order, at most `size` at a time: a statement takes only so many parameters."""
    for start in range(0, len(ids), size):
        yield ids[start : start + size]


def systems_in(project: Project) -> QuerySet[System]:
    """The project's systems by name, each with `run_count`."""
    return System.objects.filter(project=project).annotate(run_count=Count("runs")).order_by("name")


def system_in(project: Project, pk: int) -> System:
    return _found(System.objects.filter(project=project, pk=pk))


def engines_in(project: Project) -> QuerySet[System]:
    """Systems that Karat can run itself."""
    return System.objects.filter(project=project).exclude(kind=SystemKind.UPLOADED).order_by("name")


def fused_by(system: System) -> list[System]:
    """The systems that a fusion draws on, by name."""
    digests = system.config["engine"]["systems"]
    return list(System.objects.filter(project_id=system.project_id, digest__in=digests).order_by("name"))


def indexed_in(project: Project) -> QuerySet[System]:
    """Systems that can answer inside a request from an index of Karat's own."""
    return System.objects.filter(project=project, kind__in=AT_ONCE).order_by("name")


def indexing_job(snapshot: Snapshot) -> Job | None:
    """The job under way that builds the indexes of the snapshot."""
    jobs = Job.objects.filter(kind=INDEX, params__snapshot_id=snapshot.pk).exclude(state__in=ENDED)
    return jobs.order_by("-pk").first()


def missing_job(pool: Pool) -> Job | None:
    """The job under way that estimates what the pool misses."""
    jobs = Job.objects.filter(kind=MISSING, params__pool_id=pool.pk).exclude(state__in=ENDED)
    return jobs.order_by("-pk").first()


def runs_in(project: Project) -> QuerySet[Run]:
    """The project's runs, newest first."""
    runs = Run.objects.filter(project=project)
    return runs.select_related("system", "snapshot__corpus", "created_by", "job").order_by("-pk")


def run_in(project: Project, pk: int) -> Run:
    return _found(runs_in(project).filter(pk=pk))


def complete_runs_on(snapshot: Snapshot) -> QuerySet[Run]:
    runs = Run.objects.filter(snapshot=snapshot, state=RunState.COMPLETE)
    return runs.select_related("system").order_by("tag")


def stored_tops(snapshot: Snapshot, query_id: int, depth: int) -> list[tuple[System, NDArray[np.int32]]]:
    """What the newest complete run of each system on the snapshot put on top for the query, by the system's name."""
    rows = Ranking.objects.filter(query=query_id, run__snapshot=snapshot, run__state=RunState.COMPLETE)
    newest = {row.run.system_id: row for row in rows.select_related("run__system").order_by("run_id")}
    tops = [(row.run.system, ranking.unpack(bytes(row.packed))[0][:depth]) for row in newest.values()]
    return sorted(tops, key=lambda top: top[0].name)


def pools_in(project: Project) -> QuerySet[Pool]:
    """The project's pools, newest first, each with `query_count` and `run_count`."""
    pools = Pool.objects.filter(project=project).select_related("snapshot__corpus", "created_by", "job")
    return pools.annotate(query_count=_counted(PoolQuery), run_count=_counted(PoolRun)).order_by("-pk")


def _counted(links: type[PoolQuery] | type[PoolRun]) -> Coalesce:
    """How many links a pool has, counted apart: joining both would multiply them."""
    rows = links.objects.filter(pool=OuterRef("pk")).order_by().values("pool")
    return Coalesce(Subquery(rows.annotate(rows=Count("*")).values("rows")), 0)


def pool_in(project: Project, pk: int) -> Pool:
    return _found(pools_in(project).filter(pk=pk))


def snapshot_named(project: Project, name: str) -> Snapshot | None:
    """The snapshot people mean by `name`: its digest or at least 8 characters of it, `corpus@number`, or its
    name when only one has it. None when there is none, or more than one.
    """
    corpus, _, number = name.rpartition("@")
    meant = Q(name=name)
    if corpus and number.isdecimal() and len(number) < 9:
        meant |= Q(corpus__slug=corpus, number=int(number))
    if len(name) >= 8:
        meant |= Q(digest__startswith=name.lower())
    found = list(snapshots_in(project).filter(meant)[:2])
    return found[0] if len(found) == 1 else None


def queries_in(project: Project, choice: QueryChoice = ALL_QUERIES) -> QuerySet[Query]:
    """The chosen queries that are not retired, by outside id."""
    queries = Query.objects.filter(project=project, retired_at=None).order_by("outside_id")
    if choice.source_id is not None:
        queries = queries.filter(source_id=choice.source_id)
    for field in ("domain", "difficulty", "query_type"):
        if value := getattr(choice, field):
            queries = queries.filter(**{field: value})
    return queries


def query_strata(project: Project, field: str) -> list[str]:
    """The values of a stratum field that live queries have, in order."""
    values = Query.objects.filter(project=project, retired_at=None).exclude(**{field: ""})
    return sorted(set(values.values_list(field, flat=True)))


def query_texts(query_ids: Sequence[int]) -> list[str]:
    """The words of the queries, in the order of the ids."""
    texts: dict[int, str] = {}
    for part in batches(query_ids):
        texts.update(Query.objects.filter(pk__in=part).values_list("pk", "text"))
    return [texts[pk] for pk in query_ids]


def queries_as_asked(query_ids: Sequence[int]) -> list[tuple[str, str]]:
    """Outside id and words of the queries, in the order of the ids."""
    rows: dict[int, tuple[str, str]] = {}
    for part in batches(query_ids):
        found = Query.objects.filter(pk__in=part).values_list("pk", "outside_id", "text")
        rows.update((pk, (outside_id, text)) for pk, outside_id, text in found)
    return [rows[pk] for pk in query_ids]


def block_texts(snapshot: Snapshot, words: str) -> Iterator[str]:
    """What a system reads of each block, in the order of positions."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot).order_by("position")
    if words == BlockText.TEXT:
        yield from rows.values_list("version__text", flat=True).iterator(chunk_size=2_000)
        return
    columns = rows.values_list("version__title", "version__section_path", "version__text")
    for title, section_path, text in columns.iterator(chunk_size=2_000):
        yield "\n".join([title, *section_path, text])


def version_ids(snapshot: Snapshot) -> NDArray[np.int64]:
    """The block version at each position."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot).order_by("position")
    return np.fromiter(rows.values_list("version_id", flat=True).iterator(), dtype=np.int64)


def job_of_upload(upload: Upload) -> Job | None:
    """The latest job about a run file; None while there was none, because the file is small."""
    return Job.objects.filter(project_id=upload.project_id, pk=upload.options.get("job")).first()


def push_in(project: Project, pk: int) -> Job:
    """The job that takes in a pushed run; Http404 for any other."""
    try:
        return Job.objects.get(project=project, kind=TAKE_FILE, pk=pk)
    except Job.DoesNotExist:
        raise Http404("No such push.") from None


def position_of_blocks(snapshot: Snapshot) -> dict[str, int]:
    """Position by the block's outside id."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot)
    return dict(rows.values_list("block__outside_id", "position").iterator())


def positions_of(snapshot: Snapshot, block_ids: Collection[str]) -> dict[str, int]:
    """The positions of those outside ids that are blocks of the snapshot."""
    found: dict[str, int] = {}
    for part in batches(sorted(block_ids)):
        named = Block.objects.filter(corpus=snapshot.corpus_id, outside_id__in=part)
        rows = SnapshotBlock.objects.filter(snapshot=snapshot, block__in=named)
        found.update(rows.values_list("block__outside_id", "position"))
    return found


def components_of(run: Run) -> list[Run]:
    """The runs that a fused run draws on, in the order of its system's components; none for other runs."""
    ids = (run.report or {}).get("components", [])
    runs = Run.objects.select_related("system", "snapshot", "project").in_bulk(ids)
    return [runs[pk] for pk in ids]


def to_make(run: Run) -> list[Run]:
    """The runs that are still to be made for this one, itself last: what a fusion draws on comes before it."""
    if run.state != RunState.PENDING:
        return []
    before = [part for component in components_of(run) for part in to_make(component)]
    return list({part.pk: part for part in [*before, run]}.values())


def ranked_queries(run_id: int) -> set[int]:
    """The queries a run has answered so far."""
    return set(Ranking.objects.filter(run_id=run_id).values_list("query_id", flat=True))


def result_counts(run_id: int) -> dict[int, int]:
    """How many blocks a run returned for each query it answered."""
    return dict(Ranking.objects.filter(run_id=run_id).values_list("query_id", "length"))


def pool_query_ids(pool: Pool) -> list[int]:
    """The queries a pool covers, ascending."""
    return list(pool.pool_queries.order_by("query_id").values_list("query_id", flat=True))


def pool_runs(pool: Pool) -> list[Run]:
    """The runs a pool draws from, ascending by id."""
    links = PoolRun.objects.filter(pool=pool).select_related("run__system", "run__snapshot")
    return [link.run for link in links.order_by("run_id")]


def pools_with(run: Run) -> QuerySet[Pool]:
    return Pool.objects.filter(pool_runs__run=run, kind=PoolKind.DEPTH).order_by("-pk")


def run_that_serves(system: System, snapshot: Snapshot, depth: int, query_ids: Sequence[int]) -> Run | None:
    """A complete run of the system on the snapshot that is deep enough and answers every query."""
    runs = Run.objects.filter(system=system, snapshot=snapshot, state=RunState.COMPLETE, depth__gte=depth)
    for run in runs.order_by("-pk"):
        if ranked_queries(run.pk).issuperset(query_ids):
            return run
    return None


def estimate_pool(
    snapshot: Snapshot,
    systems: Sequence[System],
    runs: Sequence[Run],
    depth: int,
    query_ids: Sequence[int],
    plan: PoolPlan = PLAIN,
) -> Estimate:
    """How many pairs such a pool can have at most. Rankings that exist are counted, others taken as full."""
    served = {system.pk: run_that_serves(system, snapshot, depth, query_ids) for system in systems}
    reused = [run for run in served.values() if run is not None]
    known = {run.pk: run for run in (*runs, *reused)}
    lengths, partial = [], []
    for run in known.values():
        counts = result_counts(run.pk)
        lengths.append([counts.get(pk, 0) for pk in query_ids])
        if not counts.keys() >= set(query_ids):
            partial.append(run)
    to_run = [system for system in systems if served[system.pk] is None]
    lengths += [[depth] * len(query_ids) for _ in to_run]
    table = np.array(lengths, dtype=np.int64).reshape(len(lengths), len(query_ids))
    each = pooling.most_each(table, depth, snapshot.block_count)
    if plan.has_budget and plan.each:
        each = np.minimum(each, plan.pairs)
    found = min(int(each.sum()), plan.pairs) if plan.has_budget and not plan.each else int(each.sum())
    wanted = plan.random + plan.edge + plan.easy
    drawn = int(np.minimum(wanted, snapshot.block_count - each).sum()) if wanted else 0
    shallow = [run for run in runs if run.depth < depth]
    return Estimate(len(query_ids), found + drawn, to_run, reused, shallow, partial, drawn)


def entries_of(pool: Pool, query_id: int) -> QuerySet[PoolEntry]:
    """The pairs of one query, by the block's outside id."""
    entries = PoolEntry.objects.filter(pool=pool, query_id=query_id)
    return entries.select_related("version__block").order_by("version__block__outside_id")


def _found(rows: QuerySet[Any]) -> Any:
    row = rows.first()
    if row is None:
        raise Http404("Not found in this project.")
    return row
