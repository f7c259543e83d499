"""Everything a person or a machine can do with systems, runs and pools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.digests import digest_of, sha256_hex
from apps.common.errors import InputErrors, Refusal
from apps.corpus.models import Snapshot
from apps.corpus.selectors import snapshot_in
from apps.jobs.actions import enqueue
from apps.jobs.models import Upload
from apps.jobs.uploads import mark_used
from apps.queries.models import Query
from apps.retrieval import ranking, rules, selectors, workflow
from apps.retrieval.engines import BadParameters, make
from apps.retrieval.enums import BlockText, Step, SystemKind
from apps.retrieval.execution import ROWS_AT_ONCE, complete_run, rankings_digest
from apps.retrieval.imports import Draft
from apps.retrieval.models import Pool, PoolQuery, PoolRun, Ranking, Run, System
from apps.retrieval.selectors import ALL_QUERIES, QueryChoice

RUN_DEPTH = 1_000
LONGEST = {"name": 120, "tag": 110, "commit": 80}


class SystemRefused(Refusal):
    """A system cannot be described like that."""


class RunRefused(Refusal):
    """A run cannot be made or taken in."""


class PoolRefused(Refusal):
    """A pool cannot be built or grown."""


@dataclass(frozen=True)
class Imported:
    """What an import came to. `is_new` is False when this very run was there already and nothing was written."""

    run: Run
    is_new: bool


@transaction.atomic
def create_system(
    *,
    project: Project,
    name: str,
    kind: str,
    parameters: Mapping[str, Any] | None = None,
    words: str = BlockText.TITLE_AND_TEXT,
    actor: User,
    at: datetime,
) -> System:
    """Describe a system that Karat runs itself. Its kind, parameters and words read are its identity."""
    try:
        engine = make(kind, parameters)
    except BadParameters as wrong:
        raise SystemRefused(str(wrong), code="bad_parameters") from wrong
    if words not in BlockText.values:
        raise SystemRefused(f"{words!r} is not a text to read; choose one of {', '.join(BlockText.values)}.")
    identity = engine.identity()
    given = {key: value for key, value in identity.items() if key not in {"engine", "revision"}}
    config = {"engine": given, "revision": identity["revision"], "words": str(words)}
    return _add_system(project, name.strip(), kind, config, actor, at)


def _add_system(project: Project, name: str, kind: str, config: dict[str, Any], actor: User, at: datetime) -> System:
    if not name:
        raise SystemRefused("A system needs a name.", code="name_missing")
    _check_lengths(name=name)
    if System.objects.filter(project=project, name=name).exists():
        raise SystemRefused(f"There is already a system called {name}.", code="name_taken")
    digest = digest_of({"kind": kind, "config": config})
    if twin := System.objects.filter(project=project, digest=digest).first():
        raise SystemRefused(f"{twin.name} already has exactly this configuration.", code="system_exists")
    system = System.objects.create(
        project=project, name=name, kind=kind, config=config, digest=digest, created_by=actor, created_at=at
    )
    after = {"name": name, "kind": kind, "digest": digest}
    record(project=project, actor=actor, action="system.created", obj=system, after=after, at=at)
    return system


@transaction.atomic
def request_run(
    *,
    project: Project,
    system_id: int,
    snapshot_id: int,
    choice: QueryChoice = ALL_QUERIES,
    depth: int = RUN_DEPTH,
    tag: str = "",
    note: str = "",
    commit: str = "",
    actor: User,
    at: datetime,
) -> Run:
    """Ask for one execution of a system for the chosen queries; a job does it. The queries' words are locked."""
    system = selectors.system_in(project, system_id)
    snapshot = snapshot_in(project, snapshot_id)
    query_ids = [query.pk for query in selectors.queries_in(project, choice)]
    if reason := rules.run_refusal(system, snapshot, len(query_ids), depth):
        raise RunRefused(reason, code="run_refused")
    run = _add_run(system, snapshot, depth, tag, note, commit, actor, at)
    params = {"run_id": run.pk, "query_ids": query_ids}
    job = enqueue(kind="retrieval.run", params=params, project=project, actor=actor, at=at, title=f"Run {run.tag}")
    run.job = job
    run.save(update_fields=["job"])
    lock_queries(query_ids, at=at)
    return run


def _add_run(
    system: System,
    snapshot: Snapshot,
    depth: int,
    tag: str,
    note: str,
    commit: str,
    actor: User,
    at: datetime,
    origin: str = "",
) -> Run:
    _check_lengths(tag=tag.strip(), commit=commit.strip())
    tag = _free_tag(system, snapshot, tag.strip())
    run = Run.objects.create(
        project_id=system.project_id,
        system=system,
        snapshot=snapshot,
        tag=tag,
        depth=depth,
        note=note.strip(),
        commit=commit.strip(),
        origin=origin,
        created_by=actor,
        created_at=at,
    )
    after = {"tag": tag, "system": system.name, "snapshot": snapshot.digest, "depth": depth, "state": run.state}
    record(project=run.project, actor=actor, action="run.requested", obj=run, after=after, at=at)
    return run


def _check_lengths(**texts: str) -> None:
    """Refuse what the columns could not hold; a file's tag can be of any length."""
    for name, value in texts.items():
        longest = LONGEST[name]
        if len(value) > longest:
            raise RunRefused(f"The {name} is longer than {longest} characters.", code="too_long")


def _free_tag(system: System, snapshot: Snapshot, wanted: str) -> str:
    """`wanted`, which must be free; without it a tag made of system and snapshot, numbered when taken."""
    runs = Run.objects.filter(project_id=system.project_id)
    if wanted:
        if any(letter.isspace() for letter in wanted):
            raise RunRefused(f"The tag “{wanted}” holds a space; run files could not carry it.", code="bad_tag")
        if runs.filter(tag=wanted).exists():
            raise RunRefused(f"There is already a run called {wanted}. Choose another tag.", code="tag_taken")
        return wanted
    stem = f"{'-'.join(system.name.lower().split())}@{snapshot.number}"[:110]
    taken = set(runs.filter(tag__startswith=stem).values_list("tag", flat=True))
    return next(tag for tag in (stem, *(f"{stem}.{number}" for number in range(2, 10**6))) if tag not in taken)


@transaction.atomic
def import_run(
    *,
    project: Project,
    snapshot: Snapshot,
    draft: Draft,
    system: str = "",
    tag: str = "",
    origin: str = "",
    note: str = "",
    commit: str = "",
    skip_unknown: bool = False,
    actor: User,
    at: datetime,
) -> Imported:
    """Take in somebody else's run, whole or not at all. The same rankings of the same system change nothing.

    System and tag are the file's tag unless named. Rows that name an unknown query or block stop the import
    unless `skip_unknown` says to leave them out. Raises InputErrors with everything that does not fit.
    """
    if draft.is_spoilt or (draft.errors and not skip_unknown):
        listed = list(draft.errors)
        raise InputErrors(listed, capped=draft.errors.unlisted > 0)
    if not draft.rankings:
        raise RunRefused("Nothing is left of this run: none of its queries is in the project.", code="run_empty")
    tag = tag.strip() or draft.tags[0]
    if same := same_run(project=project, snapshot=snapshot, draft=draft, system=system.strip() or tag):
        return Imported(same, is_new=False)
    owner = _uploaded_system(project, system.strip() or tag, actor, at)
    run = _add_run(owner, snapshot, draft.depth, tag, note, commit, actor, at, origin[:300])
    _store_rankings(run, draft)
    after = {"origin": run.origin, "rows": draft.rows, "left_out": draft.skipped}
    record(project=project, actor=actor, action="run.imported", obj=run, after=after, at=at)
    lock_queries([found.query for found in draft.rankings], at=at)
    return Imported(complete_run(run, actor=actor, at=at), is_new=True)


@transaction.atomic
def import_upload(*, upload: Upload, draft: Draft, skip_unknown: bool, actor: User, at: datetime) -> Imported:
    """Take in the run of an uploaded file, with the system, tag and note given along with it."""
    options = {key: upload.options[key] for key in ("system", "tag", "note", "commit")}
    imported = import_run(
        project=upload.project,
        snapshot=snapshot_in(upload.project, upload.options["snapshot"]),
        draft=draft,
        origin=f"{upload.filename}, sha256 {upload.sha256}",
        skip_unknown=skip_unknown,
        actor=actor,
        at=at,
        **options,
    )
    mark_used(upload_id=upload.pk, actor=actor, at=at)
    return imported


def same_run(*, project: Project, snapshot: Snapshot, draft: Draft, system: str) -> Run | None:
    """The run of the system called `system` that has exactly the draft's rankings, when there is one."""
    digest = _draft_digest(snapshot, draft)
    runs = Run.objects.filter(project=project, system__name=system, snapshot=snapshot, digest=digest)
    return runs.order_by("pk").first()


def _uploaded_system(project: Project, name: str, actor: User, at: datetime) -> System:
    known = System.objects.filter(project=project, name=name).first()
    if known is None:
        return _add_system(project, name, SystemKind.UPLOADED, {"name": name}, actor, at)
    if known.kind != SystemKind.UPLOADED:
        raise RunRefused(
            f"Karat runs {name} itself. Name another system for an uploaded run.", code="system_not_uploaded"
        )
    return known


def _draft_digest(snapshot: Snapshot, draft: Draft) -> str:
    outside_ids: dict[int, str] = {}
    for part in selectors.batches([found.query for found in draft.rankings]):
        outside_ids.update(Query.objects.filter(pk__in=part).values_list("pk", "outside_id"))
    lines = [
        (outside_ids[found.query], sha256_hex(ranking.pack(found.positions, found.scores))) for found in draft.rankings
    ]
    return rankings_digest(snapshot.digest, lines)


def _store_rankings(run: Run, draft: Draft) -> None:
    rows = (
        Ranking(
            run=run,
            query_id=found.query,
            packed=ranking.pack(found.positions, found.scores),
            length=len(found.positions),
        )
        for found in draft.rankings
    )
    Ranking.objects.bulk_create(rows, batch_size=ROWS_AT_ONCE)


@transaction.atomic
def annotate_run(*, run: Run, note: str, commit: str, actor: User, at: datetime) -> Run:
    """Write a run's line in the ledger: what was tried, and at which commit. Its rankings stay as they are."""
    row = Run.objects.select_for_update().get(pk=run.pk)
    _check_lengths(commit=commit.strip())
    before = {"note": row.note, "commit": row.commit}
    row.note, row.commit = note.strip(), commit.strip()
    row.save(update_fields=["note", "commit"])
    after = {"note": row.note, "commit": row.commit}
    record(project=run.project, actor=actor, action="run.annotated", obj=row, before=before, after=after, at=at)
    return row


@transaction.atomic
def request_pool(
    *,
    project: Project,
    name: str,
    snapshot_id: int,
    system_ids: Sequence[int] = (),
    run_ids: Sequence[int] = (),
    depth: int,
    choice: QueryChoice = ALL_QUERIES,
    actor: User,
    at: datetime,
) -> Pool:
    """Ask for the union of the chosen runs, and of one run for each chosen system; a job builds it.

    A system that has already answered all the queries on this snapshot, deep enough, is not run again.
    """
    snapshot = snapshot_in(project, snapshot_id)
    query_ids = [query.pk for query in selectors.queries_in(project, choice)]
    name = name.strip()
    if not name:
        raise PoolRefused("A pool needs a name.", code="name_missing")
    if Pool.objects.filter(project=project, name=name).exists():
        raise PoolRefused(f"There is already a pool called {name}.", code="name_taken")
    if reason := rules.depth_refusal(depth):
        raise PoolRefused(reason, code="bad_depth")
    if not query_ids:
        raise PoolRefused("No query was chosen, so there is nothing to pool.", code="no_queries")
    pool = Pool.objects.create(
        project=project, snapshot=snapshot, name=name, depth=depth, created_by=actor, created_at=at
    )
    PoolQuery.objects.bulk_create([PoolQuery(pool=pool, query_id=pk) for pk in query_ids], batch_size=ROWS_AT_ONCE)
    pending = _draw_from(pool, query_ids, system_ids, run_ids, actor, at)
    after = {"name": name, "snapshot": snapshot.digest, "depth": depth, "queries": len(query_ids)}
    record(project=project, actor=actor, action="pool.requested", obj=pool, after=after, at=at)
    lock_queries(query_ids, at=at)
    return _enqueue_pool(pool, pending, actor, at)


@transaction.atomic
def grow_pool(
    *,
    project: Project,
    pool_id: int,
    system_ids: Sequence[int] = (),
    run_ids: Sequence[int] = (),
    depth: int | None = None,
    actor: User,
    at: datetime,
) -> Pool:
    """Add runs to a complete pool, or draw deeper from those it has. Pairs already there stay as they are."""
    pool = Pool.objects.select_for_update(of=("self",)).get(pk=selectors.pool_in(project, pool_id).pk)
    depth = depth or pool.depth
    reason = rules.grow_refusal(pool) or rules.depth_refusal(depth)
    if reason is None and depth < pool.depth:
        reason = f"This pool is {pool.depth} deep; a pool never loses pairs, so it cannot become shallower."
    if reason:
        raise PoolRefused(reason, code="pool_cannot_grow")
    is_deeper, pool.depth = depth > pool.depth, depth
    had = set(pool.pool_runs.values_list("run_id", flat=True))
    wanted = [pk for pk in run_ids if pk not in had]
    pending = _draw_from(pool, selectors.pool_query_ids(pool), system_ids, wanted, actor, at, grown=True)
    is_wider = set(pool.pool_runs.values_list("run_id", flat=True)) != had
    if not is_wider and not is_deeper:
        raise PoolRefused("The pool already draws from these runs at this depth.", code="nothing_to_add")
    pool = workflow.move_pool(pool.pk, Step.GROW, actor=actor, at=at, depth=depth)
    return _enqueue_pool(pool, pending, actor, at)


def _draw_from(
    pool: Pool,
    query_ids: Sequence[int],
    system_ids: Sequence[int],
    run_ids: Sequence[int],
    actor: User,
    at: datetime,
    grown: bool = False,
) -> list[Run]:
    """Link the pool to its runs; returns those that have yet to be made."""
    runs = [selectors.run_in(pool.project, pk) for pk in dict.fromkeys(run_ids)]
    for run in runs:
        if reason := rules.pool_source_refusal(run, pool.snapshot):
            raise PoolRefused(reason, code="run_refused")
    pending = []
    for pk in dict.fromkeys(system_ids):
        system = selectors.system_in(pool.project, pk)
        if reason := rules.run_refusal(system, pool.snapshot, len(query_ids), pool.depth):
            raise PoolRefused(reason, code="run_refused")
        run = selectors.run_that_serves(system, pool.snapshot, pool.depth, query_ids)
        if run is None:
            run = _add_run(system, pool.snapshot, max(pool.depth, RUN_DEPTH), "", "", "", actor, at)
            pending.append(run)
        runs.append(run)
    if not runs and not grown:
        raise PoolRefused("Choose at least one system or run to pool from.", code="no_runs")
    had = set(pool.pool_runs.values_list("run_id", flat=True))
    new = {run.pk for run in runs} - had
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


def lock_queries(query_ids: Sequence[int], *, at: datetime) -> None:
    """From its first run on, a query's words are fixed."""
    for part in selectors.batches(query_ids):
        Query.objects.filter(pk__in=part, locked_at=None).update(locked_at=at)
