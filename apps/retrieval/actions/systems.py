"""Creating systems: those that Karat runs itself, fusions of runs, and systems elsewhere.

Also requesting the indexes of a snapshot in Karat, and loading it into OpenSearch or Elasticsearch.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from secrets import token_hex
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.web.addresses import BadAddress, parse_url
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshot_in
from apps.jobs.actions.jobs import enqueue
from apps.jobs.models import Job
from apps.retrieval import rules
from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.registry import DEFAULT_K, Fusion, make
from apps.retrieval.core.engines.remote import REMOTE, make_remote
from apps.retrieval.core.engines.remote.base import RemoteEngine
from apps.retrieval.core.engines.remote.search import Pace
from apps.retrieval.core.engines.remote.servers import BM25, SEARCHES, TITLES
from apps.retrieval.enums import BUILT_IN, DROP, ELSEWHERE, INDEX, LOAD, BlockText, IndexState, SystemKind
from apps.retrieval.execution.loading import engine_at
from apps.retrieval.execution.run_reading import add_system
from apps.retrieval.models import LoadedIndex, System
from apps.retrieval.rules import LONGEST, LoadRefused, SystemRefused, secret_refusal
from apps.retrieval.selectors.systems import indexing_job, loaded_index_in, system_in


@transaction.atomic
def create_fusion(
    *, project: Project, name: str, system_ids: Sequence[int], k: float = DEFAULT_K, actor: User, at: datetime
) -> System:
    """Create a system that fuses the rankings of others by reciprocal rank. Its identity is the systems and k.

    Raises SystemRefused.
    """
    systems = [system_in(project, pk) for pk in dict.fromkeys(system_ids)]
    if reason := next(filter(None, map(rules.blocks_refusal, systems)), None):
        raise SystemRefused(reason, code="own_passages")
    try:
        identity = Fusion(tuple(system.digest for system in systems), k).identity()
    except BadParameters as error:
        raise SystemRefused(str(error), code="bad_parameters") from error
    parameters = {"systems": identity["systems"], "k": identity["k"]}
    config = {"engine": parameters, "revision": identity["revision"]}
    return add_system(project, name.strip(), SystemKind.FUSION, config, actor, at)


@transaction.atomic
def create_remote_system(
    *,
    project: Project,
    name: str,
    kind: str,
    parameters: Mapping[str, Any],
    pace: Mapping[str, Any] | None = None,
    actor: User,
    at: datetime,
) -> System:
    """Create a system that Karat queries over HTTP. The pace is not part of its identity. Raises SystemRefused."""
    try:
        engine, limits = _engine(kind, parameters), Pace.of(pace or {})
        parse_url(engine.address)
    except (BadParameters, BadAddress) as error:
        raise SystemRefused(str(error), code="bad_parameters") from error
    if reason := secret_refusal(project, engine.auth.secret):
        raise SystemRefused(reason, code="no_secret")
    identity = engine.identity()
    own = {key: value for key, value in identity.items() if key not in {"engine", "revision"}}
    config = {"engine": own, "revision": identity["revision"]}
    return add_system(project, name.strip(), kind, config, actor, at, settings={"pace": limits.values()})


def _engine(kind: str, parameters: Mapping[str, Any]) -> RemoteEngine:
    if kind not in REMOTE:
        raise SystemRefused(f"{kind!r} is not an external system; choose one of {', '.join(REMOTE)}.", code="bad_kind")
    return make_remote(kind, parameters)


@transaction.atomic
def change_pace(*, system: System, pace: Mapping[str, Any], actor: User, at: datetime) -> System:
    """Change the request limits of a system from its next run on; limits that are not in `pace` stay."""
    row = System.objects.select_for_update().get(pk=system.pk)
    if row.kind not in ELSEWHERE:
        raise SystemRefused(f"Karat runs {row.name} itself; it has no request limits.", code="no_pace")
    before = row.config.get("pace", {})
    try:
        after = Pace.of({**before, **pace}).values()
    except BadParameters as error:
        raise SystemRefused(str(error), code="bad_parameters") from error
    row.config = {**row.config, "pace": after}
    row.save(update_fields=["config"])
    if after != before:
        record(project=row.project, actor=actor, action="system.paced", obj=row, before=before, after=after, at=at)
    return row


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
    """Create a system that Karat runs itself. Its kind, parameters and `words` (a `BlockText`) are its identity.

    Raises SystemRefused.
    """
    try:
        engine = make(kind, parameters, settings.MODELS_DIR)
    except BadParameters as error:
        raise SystemRefused(str(error), code="bad_parameters") from error
    if words not in BlockText.values:
        raise SystemRefused(f"words must be one of {', '.join(BlockText.values)}, not {words!r}.")
    identity = engine.identity()
    own = {key: value for key, value in identity.items() if key not in {"engine", "revision"}}
    config = {"engine": own, "revision": identity["revision"], "words": str(words)}
    return add_system(project, name.strip(), kind, config, actor, at)


@transaction.atomic
def create_built_in_systems(*, project: Project, actor: User, at: datetime) -> list[System]:
    """Create BM25 and TF-IDF with default parameters, for a project without a system that Karat can run.

    Raises SystemRefused.
    """
    return [create_system(project=project, name=kind.label, kind=kind, actor=actor, at=at) for kind in BUILT_IN]


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
