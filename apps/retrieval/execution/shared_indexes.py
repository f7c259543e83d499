"""Indexes in the store of several hosts: one host builds an index, the others fetch it.

An index is one object: a tar archive of its files, the first of which has the digests of the others. What does not
arrive whole is built, as if there were no store.
"""

import hashlib
import io
import json
import logging
import shutil
import tarfile
import threading
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from apps.common.errors import Refusal
from apps.common.files import store
from apps.common.files.buckets import Bucket, NoObject
from apps.retrieval.core.engines.store import Indexer, open_index

FOLDER, ENDING = "indexes", ".tar"
DIGESTS = "digests.json"
BEGUN_EVERY_SECONDS = 30.0
UNKNOWN_FOR = timedelta(days=1)
"""An index of a system that was made a moment ago may not be among those that somebody has listed before."""

log = logging.getLogger(__name__)


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
