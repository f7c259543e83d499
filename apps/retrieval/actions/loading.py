"""Requesting the indexes of a snapshot in Karat, and loading it into OpenSearch or Elasticsearch."""

from collections.abc import Mapping
from datetime import datetime
from secrets import token_hex
from typing import Any

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.web.addresses import BadAddress, parse_url
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshot_in
from apps.jobs.actions.jobs import enqueue
from apps.jobs.models import Job
from apps.retrieval import rules
from apps.retrieval.actions.systems import create_remote_system
from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.remote.servers import BM25, SEARCHES, TITLES
from apps.retrieval.enums import DROP, INDEX, LOAD, IndexState, SystemKind
from apps.retrieval.execution.loading import engine_at
from apps.retrieval.models import LoadedIndex, System
from apps.retrieval.rules import LONGEST, LoadRefused
from apps.retrieval.selectors.systems import indexing_job, loaded_index_in, system_in

LONGEST_ADDRESS = 1_000


@transaction.atomic
def request_indexes(*, project: Project, snapshot_id: int, actor: User, at: datetime) -> Job:
    """Queue a job that builds every index of the project on the snapshot, or return an unfinished one."""
    Project.objects.select_for_update().get(pk=project.pk)
    snapshot: Snapshot = snapshot_in(project, snapshot_id)
    unfinished = indexing_job(snapshot)
    if unfinished is not None:
        return unfinished
    title = f"Index {snapshot.name}"
    return enqueue(kind=INDEX, params={"snapshot_id": snapshot.pk}, project=project, actor=actor, at=at, title=title)


@transaction.atomic
def load_snapshot(
    *,
    project: Project,
    snapshot_id: int,
    url: str,
    auth: Mapping[str, Any] | None = None,
    dense_id: int | None = None,
    actor: User,
    at: datetime,
) -> LoadedIndex:
    """Queue a job that loads a snapshot into the cluster at this address. With the id of a dense system, its vectors
    are loaded too.

    Raises LoadRefused.
    """
    Project.objects.select_for_update().get(pk=project.pk)
    snapshot: Snapshot = snapshot_in(project, snapshot_id)
    dense = system_in(project, dense_id) if dense_id is not None else None
    if reason := rules.load_refusal(snapshot, dense):
        raise LoadRefused(reason, code="load_refused")
    name, address = index_name(snapshot, dense), url.strip().rstrip("/")
    if len(address) > LONGEST_ADDRESS:
        raise LoadRefused(f"The address is longer than {LONGEST_ADDRESS:,} characters.", code="too_long")
    try:
        engine = engine_at(address, name, dict(auth or {}))
        parse_url(engine.address)
    except (BadParameters, BadAddress) as error:
        raise LoadRefused(str(error), code="bad_parameters") from error
    if reason := rules.secret_refusal(project, engine.auth.secret):
        raise LoadRefused(reason, code="no_secret")
    there = LoadedIndex.objects.filter(project=project, url=address, name=name).exclude(state=IndexState.DROPPED)
    if (twin := there.first()) and (reason := rules.loaded_twice_refusal(twin)):
        raise LoadRefused(reason, code="loaded_already")
    index = LoadedIndex.objects.create(
        project=project,
        snapshot=snapshot,
        url=address,
        auth=engine.auth.values(),
        name=name,
        mark=token_hex(16),
        dense=dense,
        created_by=actor,
        created_at=at,
    )
    after = {"name": name, "snapshot": snapshot.digest, "url": address, "state": index.state}
    record(project=project, actor=actor, action="loaded_index.requested", obj=index, after=after, at=at)
    return _queued(index, LOAD, f"Load {snapshot.name} into a search server", actor, at)


def index_name(snapshot: Snapshot, dense: System | None) -> str:
    """The name of a snapshot's index: another one with the vectors of each model."""
    return f"karat-{snapshot.digest[:40]}" + (f"-{dense.digest[:12]}" if dense else "")


@transaction.atomic
def drop_index(*, index: LoadedIndex, actor: User, at: datetime) -> LoadedIndex:
    """Queue a job that deletes the index from its server. Raises LoadRefused."""
    row = LoadedIndex.objects.select_for_update(of=("self",)).select_related("project", "job").get(pk=index.pk)
    if reason := rules.drop_refusal(row):
        raise LoadRefused(reason, code="drop_refused")
    if row.job is not None and row.job.kind == DROP and not row.job.is_ended:
        return row
    return _queued(row, DROP, f"Drop {row.name}", actor, at)


def _queued(index: LoadedIndex, kind: str, title: str, actor: User, at: datetime) -> LoadedIndex:
    params = {"index_id": index.pk}
    index.job = enqueue(kind=kind, params=params, project=index.project, actor=actor, at=at, title=title)
    index.save(update_fields=["job"])
    return index


@transaction.atomic
def create_loaded_system(
    *, project: Project, index_id: int, search: str = BM25, name: str = "", actor: User, at: datetime
) -> System:
    """Create a system that searches a loaded index; without a name it is called after search, server and snapshot.

    Raises LoadRefused and SystemRefused.
    """
    index = loaded_index_in(project, index_id)
    if reason := rules.loaded_search_refusal(index, search):
        raise LoadRefused(reason, code="search_refused")
    parameters = {
        "url": index.url,
        "index": index.name,
        "snapshot": index.snapshot.digest,
        "server": index.server,
        "version": index.server_version,
        "search_type": search,
        "vectors": index.dense.digest if index.dense else "",
        "auth": index.auth,
    }
    own = f"{SEARCHES.get(search, search)} in {TITLES[index.server]}, {index.snapshot.reference}"
    name = name.strip() or own[: LONGEST["name"]]
    kind = SystemKind.LOADED.value
    return create_remote_system(project=project, name=name, kind=kind, parameters=parameters, actor=actor, at=at)
