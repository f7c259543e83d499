"""The indexes of systems on snapshots, as files in the data directory, and in the store that several hosts share.

One host builds an index, the others fetch it. In the store it is one object: a tar archive of its files, the first of
which has the digests of the others. What does not arrive whole is built, as if there were no store.
"""

import hashlib
import io
import json
import logging
import shutil
import tarfile
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from django.conf import settings

from apps.common.digests import digest_of
from apps.common.errors import Refusal
from apps.common.files import store
from apps.common.files.buckets import Bucket, NoObject
from apps.corpus.core.near_duplicates import REVISION as SIGNATURES_REVISION
from apps.corpus.core.near_duplicates import NearDuplicates, Signatures
from apps.corpus.models import Snapshot
from apps.jobs.execution.context import JobFailed
from apps.metrics.by_text.index import REVISION as TEXTS_REVISION
from apps.retrieval.core.engines.base import Engine, NotReady
from apps.retrieval.core.engines.registry import Fusion, make
from apps.retrieval.core.engines.store import Indexer, StoredIndex, open_index, stored_indexes, tidy, touch, using_index
from apps.retrieval.enums import INDEXED, BlockText
from apps.retrieval.models import System
from apps.retrieval.selectors.snapshots import block_texts

FOLDER, ENDING = "indexes", ".tar"
DIGESTS = "digests.json"
BEGUN_EVERY_SECONDS = 30.0
UNKNOWN_FOR = timedelta(days=1)
"""An index of a system that was made a moment ago may not be among those that somebody has listed before."""

log = logging.getLogger(__name__)
MOST_OPEN = 8
RESTING_DAYS = 7
"""An index that was not used for so long can be cleared by hand: probably nobody waits for it."""


class NotShared(Exception):
    """The store does not have an index, or does not answer."""


class Damaged(Exception):
    """An archive that is not one of an index, or not all of it."""


class Shared:
    """An engine whose index of this digest is fetched instead of built where the store has it, and put there else."""

    def __init__(self, engine: Indexer, digest: str) -> None:
        self._engine, self._name = engine, name_of(digest)

    def build(self, blocks: Iterable[str], folder: Path) -> None:
        shared = store.bucket()
        if shared and _fetch(shared, self._name, folder):
            return
        self._engine.build(blocks, folder)
        if shared:
            _send(shared, self._name, folder)

    def load(self, folder: Path) -> Any:
        return self._engine.load(folder)


class Fetched(Shared):
    """The same, but nothing is built. Raises NotShared where the store does not have the index."""

    def build(self, blocks: Iterable[str], folder: Path) -> None:
        shared = store.bucket()
        if shared is None or not _fetch(shared, self._name, folder):
            raise NotShared(self._name)


def fetch(root: Path, digest: str, engine: Indexer) -> None:
    """Get an index that this host does not have from the store, if it is there."""
    if store.bucket() is None or (root / digest).is_dir():
        return
    with suppress(NotShared):
        open_index(root, digest, Fetched(engine, digest), list)


_begun: dict[str, float] = {}


def fetch_beside(root: Path, digest: str, engine: Indexer) -> None:
    """The same for a request, which does not wait: whoever asks again finds it. At most once in half a minute."""
    now = time.monotonic()
    if store.bucket() is None or now < _begun.get(digest, -BEGUN_EVERY_SECONDS) + BEGUN_EVERY_SECONDS:
        return
    _begun[digest] = now
    threading.Thread(target=_fetch_and_tell, args=(root, digest, engine), name="fetch index", daemon=True).start()


def _fetch_and_tell(root: Path, digest: str, engine: Indexer) -> None:
    try:
        fetch(root, digest, engine)
    except Exception:
        log.exception("The index %s could not be fetched.", digest)


def name_of(digest: str) -> str:
    """The name of an index in the store."""
    return f"{FOLDER}/{digest}{ENDING}"


def tidy_shared(known: Collection[str], at: datetime) -> list[str]:
    """Remove from the store the indexes that nothing can use any more, and return their names. Raises BucketAway."""
    shared = store.bucket()
    if shared is None or not store.is_ours(shared):
        return []
    names = {name_of(digest) for digest in known}
    unknown = [each.name for each in shared.listed(FOLDER) if each.name not in names and each.at < at - UNKNOWN_FOR]
    shared.remove(*unknown)
    return unknown


def pack(folder: Path, stream: BinaryIO) -> None:
    """Write the files of an index as an archive."""
    files = sorted(folder.iterdir())
    digests = json.dumps({file.name: _digest(file) for file in files}).encode()
    with tarfile.open(fileobj=stream, mode="w|") as archive:
        head = tarfile.TarInfo(DIGESTS)
        head.size = len(digests)
        archive.addfile(head, io.BytesIO(digests))
        for file in files:
            member = tarfile.TarInfo(file.name)
            member.size = file.stat().st_size
            with file.open("rb") as content:
                archive.addfile(member, content)


def unpack(stream: BinaryIO, folder: Path) -> None:
    """Write the files of an archive into an empty folder. Raises Damaged, and then some of them may be there."""
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            digests = _head(archive)
            while (member := archive.next()) is not None:
                if digests.pop(member.name, None) != _written(archive, member, folder):
                    raise Damaged(f"{member.name} is not as it was written")
    except (tarfile.TarError, EOFError) as error:
        raise Damaged(str(error)) from error
    if digests:
        raise Damaged(f"{min(digests)} is missing")


def _head(archive: tarfile.TarFile) -> dict[str, str]:
    first = archive.next()
    content = archive.extractfile(first) if first and first.name == DIGESTS else None
    if content is None:
        raise Damaged("its first file is another one")
    try:
        return dict(json.loads(content.read()))
    except ValueError as error:
        raise Damaged("its first file cannot be read") from error


def _written(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> str:
    content = archive.extractfile(member) if member.isfile() and member.name == Path(member.name).name else None
    if content is None:
        raise Damaged(f"{member.name} is no file of an index")
    with (folder / member.name).open("xb") as out:
        shutil.copyfileobj(content, out, 1 << 20)
    return _digest(folder / member.name)


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fetch(shared: Bucket, name: str, folder: Path) -> bool:
    """False where it is not there, or does not come whole: then the folder is as empty as before."""
    try:
        with shared.arriving(name) as stream:
            unpack(stream, folder)
        return True
    except NoObject:
        return False
    except (Refusal, Damaged) as problem:
        log.warning("The index %s could not be fetched, and is built: %s", shared.address_of(name), problem)
        for file in folder.iterdir():
            file.unlink()
        return False


def _send(shared: Bucket, name: str, folder: Path) -> None:
    """Whoever cannot send it has built it all the same."""
    try:
        with shared.replacing(name) as stream:
            pack(folder, stream)
    except Refusal as problem:
        log.warning("The index %s could not be put in the store: %s", shared.address_of(name), problem)


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
    return Path(settings.DATA_DIR) / "indexes"


def digest_of_index(system: System, snapshot: Snapshot) -> str:
    """The name of an index, from the digests of system and snapshot."""
    return digest_of([system.digest, snapshot.digest])


def digest_of_signatures(snapshot: Snapshot) -> str:
    """The name of the signatures, from the snapshot's digest and the revision of their computation."""
    return digest_of(["near-duplicates", SIGNATURES_REVISION, snapshot.digest])


def digest_of_texts(snapshot: Snapshot) -> str:
    """The name of the index of the snapshot's words, from its digest and the revision of the files."""
    return digest_of(["texts", TEXTS_REVISION, snapshot.digest])


class IndexSubject(NamedTuple):
    """What an index belongs to; `reader` is the name of the system, "near-duplicates" or "texts"."""

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
        subjects[digest_of_texts(snapshot)] = IndexSubject(project.name, snapshot.name, "texts")
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
