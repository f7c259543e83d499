"""The indexes of systems on snapshots, as files under the data directory."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings

from apps.common.digests import digest_of
from apps.corpus.core.near_duplicates import REVISION as SIGNATURES_REVISION
from apps.corpus.core.near_duplicates import NearDuplicates, Signatures
from apps.corpus.models import Snapshot
from apps.jobs.execution.context import JobFailed
from apps.retrieval import selectors
from apps.retrieval.core.engines import Engine, NotReady, make
from apps.retrieval.core.engines.fusion import Fusion
from apps.retrieval.core.engines.store import Indexer, Kept, kept, open_index, tidy, touch, using_index
from apps.retrieval.enums import INDEXED, BlockText
from apps.retrieval.models import System

KEPT_OPEN = 8


def engine_of(system: System) -> Engine:
    """The engine that a system's configuration describes."""
    return make(system.kind, system.config["engine"], settings.MODELS_DIR)


def fusion_of(system: System) -> Fusion:
    """The fusion that a system's configuration describes."""
    given = system.config["engine"]
    return Fusion(tuple(given["systems"]), given["k"])


@contextmanager
def using_system(system: System, snapshot: Snapshot) -> Iterator[Any]:
    """The system's index of the snapshot, built when it is not on disk yet, and not removed meanwhile.

    Raises JobFailed when its engine lacks what it needs, be it to build the index or to search it.
    """
    texts = partial(selectors.block_texts, snapshot, system.config["words"])
    try:
        with using_index(folder(), digest_of_index(system, snapshot), engine_of(system), texts) as handle:
            yield handle
    except NotReady as lack:
        raise JobFailed(str(lack)) from lack


def open_system(system: System, snapshot: Snapshot) -> Any:
    """The system's index of the snapshot, built when it is not on disk yet."""
    with using_system(system, snapshot) as handle:
        return handle


def open_built(system: System, snapshot: Snapshot) -> Any | None:
    """The system's index of the snapshot when it is on disk, else None: fit to be asked for inside a request."""
    return _built(digest_of_index(system, snapshot), engine_of(system))


def open_signatures(snapshot: Snapshot) -> Signatures:
    """What tells near-duplicates among the snapshot's texts, by position; built when it is not on disk yet."""
    texts = partial(selectors.block_texts, snapshot, BlockText.TEXT)
    return open_index(folder(), digest_of_signatures(snapshot), NearDuplicates(), texts)


def built_signatures(snapshot: Snapshot) -> Signatures | None:
    """The snapshot's signatures when they are on disk, else None."""
    return _built(digest_of_signatures(snapshot), NearDuplicates())


def folder() -> Path:
    """Where the indexes are."""
    return Path(settings.DATA_DIR) / "indexes"


def digest_of_index(system: System, snapshot: Snapshot) -> str:
    """The name of an index: another configuration or another snapshot is another index."""
    return digest_of([system.digest, snapshot.digest])


def digest_of_signatures(snapshot: Snapshot) -> str:
    """The name of the signatures; a new way to make them is a new name."""
    return digest_of(["near-duplicates", SIGNATURES_REVISION, snapshot.digest])


class IndexSubject(NamedTuple):
    """What an index is an index of; `reader` is the system's name, or what else reads it."""

    project: str
    snapshot: str
    reader: str


def known_indexes() -> dict[str, IndexSubject]:
    """Every index that there could be, by digest."""
    systems: dict[int, list[System]] = {}
    for system in System.objects.filter(kind__in=INDEXED).order_by("pk"):
        systems.setdefault(system.project_id, []).append(system)
    found = {}
    for snapshot in Snapshot.objects.select_related("corpus__project").order_by("pk"):
        project = snapshot.corpus.project
        found[digest_of_signatures(snapshot)] = IndexSubject(project.name, snapshot.name, "near-duplicates")
        for system in systems.get(project.pk, []):
            found[digest_of_index(system, snapshot)] = IndexSubject(project.name, snapshot.name, system.name)
    return found


def tidy_indexes(at: datetime) -> list[Kept]:
    """Remove what the settings give no room, what nothing leads to any more, and what killed builds have left.

    Returns what was removed. What is removed is built again when it is needed.
    """
    there = kept(folder())
    days, size = settings.INDEX_MAX_DAYS, settings.INDEX_MAX_BYTES
    used_since = at.timestamp() - days * 86_400 if days else -inf
    return tidy(folder(), there, known=known_indexes(), max_bytes=size or inf, used_since=used_since)


_open: OrderedDict[str, Any] = OrderedDict()


def _built(digest: str, engine: Indexer) -> Any | None:
    """The handle of an index on disk. A few stay open: an index never changes, and its words take time to read."""
    handle = _open.pop(digest, None)
    if not (folder() / digest).is_dir():
        return None
    if handle is None:
        with using_index(folder(), digest, engine) as handle:
            if handle is None:
                return None
    touch(folder(), digest)
    _open[digest] = handle
    if len(_open) > KEPT_OPEN:
        _open.popitem(last=False)
    return handle
