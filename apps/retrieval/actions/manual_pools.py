"""Pools of pairs that somebody chose, for example to judge them again."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.database.bulk import chunks
from apps.common.errors import Refusal
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.queries.actions import lock_queries
from apps.queries.models import Query
from apps.retrieval.enums import PoolKind, PoolState
from apps.retrieval.execution.pool_building import ROWS_AT_ONCE
from apps.retrieval.models import Pool, PoolEntry, PoolQuery

MOST_CHOSEN = 50_000


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
