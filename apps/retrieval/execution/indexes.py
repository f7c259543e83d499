"""The indexes of systems on snapshots, as files in the data directory."""

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
from apps.retrieval.core.engines.base import Engine, NotReady
from apps.retrieval.core.engines.fusion import Fusion
from apps.retrieval.core.engines.registry import make
from apps.retrieval.core.engines.store import Indexer, StoredIndex, open_index, stored_indexes, tidy, touch, using_index
from apps.retrieval.enums import INDEXED, BlockText
from apps.retrieval.execution.shared_indexes import Shared, fetch, fetch_beside
from apps.retrieval.models import System
from apps.retrieval.selectors.snapshots import block_texts

MOST_OPEN = 8
RESTING_DAYS = 7
"""An index that was not used for so long can be cleared by hand: probably nobody waits for it."""


def engine_of(system: System) -> Engine:
    """The engine of a system's configuration. Raises BadParameters."""
    return make(system.kind, system.config["engine"], settings.MODELS_DIR)


def fusion_of(system: System) -> Fusion:
    """The fusion of a system's configuration."""
    parameters = system.config["engine"]
    return Fusion(tuple(parameters["systems"]), parameters["k"])


@contextmanager
def using_system(system: System, snapshot: Snapshot) -> Iterator[Any]:
    """The system's index of the snapshot, built when it is not on disk, and locked against removal.

    Raises JobFailed when the engine raises NotReady while building or searching the index.
    """
    texts = partial(block_texts, snapshot, system.config["words"])
    try:
        digest = digest_of_index(system, snapshot)
        with using_index(folder(), digest, Shared(engine_of(system), digest), texts) as handle:
            yield handle
    except NotReady as error:
        raise JobFailed(str(error)) from error


def open_system(system: System, snapshot: Snapshot) -> Any:
    """The system's index of the snapshot, built when it is not on disk. Raises JobFailed."""
    with using_system(system, snapshot) as handle:
        return handle


def open_built(system: System, snapshot: Snapshot) -> Any | None:
    """The system's index of the snapshot if it is on disk, else None; fast enough for a request."""
    return _built(digest_of_index(system, snapshot), engine_of(system))


def open_signatures(snapshot: Snapshot) -> Signatures:
    """The near-duplicate signatures of the snapshot's texts, by position; built when they are not on disk."""
    texts = partial(block_texts, snapshot, BlockText.TEXT)
    digest = digest_of_signatures(snapshot)
    return open_index(folder(), digest, Shared(NearDuplicates(), digest), texts)


def built_signatures(snapshot: Snapshot) -> Signatures | None:
    """The snapshot's signatures if they are on disk, else None; fast enough for a request."""
    return _built(digest_of_signatures(snapshot), NearDuplicates())


def signatures_if_any(snapshot: Snapshot) -> Signatures | None:
    """The snapshot's signatures if any host has built them, else None; a job can wait until they are here."""
    digest = digest_of_signatures(snapshot)
    fetch(folder(), digest, NearDuplicates())
    return _built(digest, NearDuplicates())


def folder() -> Path:
    """The folder of all indexes."""
    return Path(settings.DATA_DIR) / "indexes"


def digest_of_index(system: System, snapshot: Snapshot) -> str:
    """The name of an index, from the digests of system and snapshot."""
    return digest_of([system.digest, snapshot.digest])


def digest_of_signatures(snapshot: Snapshot) -> str:
    """The name of the signatures, from the snapshot's digest and the revision of their computation."""
    return digest_of(["near-duplicates", SIGNATURES_REVISION, snapshot.digest])


class IndexSubject(NamedTuple):
    """What an index belongs to; `reader` is the name of the system, or "near-duplicates"."""

    project: str
    snapshot: str
    reader: str


def known_indexes() -> dict[str, IndexSubject]:
    """Every index that a system or snapshot may use, by digest, whether it is on disk or not."""
    systems: dict[int, list[System]] = {}
    for system in System.objects.filter(kind__in=INDEXED).order_by("pk"):
        systems.setdefault(system.project_id, []).append(system)
    subjects = {}
    for snapshot in Snapshot.objects.select_related("corpus__project").order_by("pk"):
        project = snapshot.corpus.project
        subjects[digest_of_signatures(snapshot)] = IndexSubject(project.name, snapshot.name, "near-duplicates")
        for system in systems.get(project.pk, []):
            subjects[digest_of_index(system, snapshot)] = IndexSubject(project.name, snapshot.name, system.name)
    return subjects


def tidy_indexes(at: datetime) -> list[StoredIndex]:
    """Remove indexes beyond the limits of the settings, those that nothing uses any more, and remains of killed builds.

    Returns what was removed. An index is built again when it is needed.
    """
    indexes = stored_indexes(folder())
    days, size = settings.INDEX_MAX_DAYS, settings.INDEX_MAX_BYTES
    used_since = at.timestamp() - days * 86_400 if days else -inf
    return tidy(folder(), indexes, known=known_indexes(), max_bytes=size or inf, used_since=used_since)


def resting_indexes(at: datetime) -> list[StoredIndex]:
    """The indexes that nobody has used for a week."""
    return [index for index in stored_indexes(folder()) if index.used_at < _rests_since(at)]


def clear_resting_indexes(at: datetime) -> list[StoredIndex]:
    """Remove them, those that nothing uses any more, and remains of killed builds. Returns what was removed."""
    indexes = stored_indexes(folder())
    return tidy(folder(), indexes, known=known_indexes(), max_bytes=inf, used_since=_rests_since(at))


def _rests_since(at: datetime) -> float:
    return at.timestamp() - RESTING_DAYS * 86_400


_open: OrderedDict[str, Any] = OrderedDict()


def _built(digest: str, engine: Indexer) -> Any | None:
    """The handle of an index on disk, else None. A few stay open, since indexes never change and loading takes time."""
    handle = _open.pop(digest, None)
    if not (folder() / digest).is_dir():
        fetch_beside(folder(), digest, engine)
        return None
    if handle is None:
        with using_index(folder(), digest, engine) as handle:
            if handle is None:
                return None
    touch(folder(), digest)
    _open[digest] = handle
    if len(_open) > MOST_OPEN:
        _open.popitem(last=False)
    return handle
