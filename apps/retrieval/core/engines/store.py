"""Indexes on disk: built once, named by digest, memory-mapped when used, and removed when nobody needs them.

Each index has a folder and a lock file. Readers take a shared lock; whoever builds or removes the index takes an
exclusive one. The kernel releases a lock when its process dies. The lock file's time is when the index was last used.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from apps.common.files.private import FOLDER

TOUCHED_EVERY_SECONDS = 3_600


class Indexer(Protocol):
    """Builds and loads an index: an engine, or anything else that is built once from the texts of a snapshot."""

    def build(self, blocks: Iterable[str], folder: Path) -> None: ...

    def load(self, folder: Path) -> Any: ...


class StoredIndex(NamedTuple):
    """An index on disk: its digest, its size in bytes, and when it was last used (seconds since 1970)."""

    digest: str
    size: int
    used_at: float


@contextmanager
def using_index(
    root: Path, digest: str, engine: Indexer, blocks: Callable[[], Iterable[str]] | None = None
) -> Iterator[Any]:
    """The handle of the index `digest` in the folder `root`, locked so that nobody removes it meanwhile.

    A missing index is built first; without `blocks` the handle is None instead. `digest` covers the engine's identity
    and the blocks, so a folder that exists is right. Of several processes one builds and the others wait. A folder
    appears complete, by rename, or not at all: a process killed while building leaves only a scratch folder, which
    the next build removes.
    """
    folder = root / digest
    while True:
        if blocks is None and not folder.is_dir():
            yield None
            return
        root.mkdir(mode=FOLDER, parents=True, exist_ok=True)
        with _locked(root, digest, fcntl.LOCK_SH) as lock:
            if folder.is_dir():
                os.utime(lock.fileno())
                yield engine.load(folder)
                return
        if blocks is not None:
            with _locked(root, digest, fcntl.LOCK_EX):
                if not folder.is_dir():
                    _build(folder, engine, blocks())


def open_index(root: Path, digest: str, engine: Indexer, blocks: Callable[[], Iterable[str]]) -> Any:
    """The handle of an index, built first when it is missing. It stays readable when the index is removed."""
    with using_index(root, digest, engine, blocks) as handle:
        return handle


def stored_indexes(root: Path) -> list[StoredIndex]:
    """The indexes on disk, least recently used first."""
    if not root.is_dir():
        return []
    indexes = []
    for folder in root.iterdir():
        with suppress(FileNotFoundError, NotADirectoryError):  # removed meanwhile, or not an index
            if ".part-" not in folder.name:
                size = sum(file.stat().st_size for file in folder.iterdir())
                used_at = _lock_of(root, folder.name).stat().st_mtime
                indexes.append(StoredIndex(folder.name, size, used_at))
    return sorted(indexes, key=lambda index: (index.used_at, index.digest))


def touch(root: Path, digest: str) -> None:
    """Record that an open index is in use, at most once an hour."""
    with suppress(FileNotFoundError):
        lock = _lock_of(root, digest)
        if lock.stat().st_mtime < time.time() - TOUCHED_EVERY_SECONDS:
            os.utime(lock)


def tidy(
    root: Path, indexes: Sequence[StoredIndex], *, known: Collection[str], max_bytes: float, used_since: float
) -> list[StoredIndex]:
    """Remove the indexes that are not `known`, those last used before `used_since`, and then the least recently used
    until the rest has at most `max_bytes`. Also removes the remains of killed builds. An index in use stays.

    Returns what was removed. List `indexes` before `known`, or an index built in between would look unknown.
    """
    unwanted: list[StoredIndex] = []
    wanted: list[StoredIndex] = []
    for index in indexes:
        is_wanted = index.digest in known and index.used_at >= used_since
        (wanted if is_wanted else unwanted).append(index)
    excess = sum(index.size for index in wanted) - max_bytes
    for index in wanted:
        if excess <= 0:
            break
        unwanted.append(index)
        excess -= index.size
    removed = [index for index in unwanted if remove(root, index.digest)]
    _remove_leftovers(root)
    return removed


def remove(root: Path, digest: str) -> bool:
    """Remove an index and its lock file; False when it is being used or built."""
    with _try_lock(root, digest) as lock:
        if lock is None:
            return False
        folder = root / digest
        if folder.is_dir():
            # Renamed first, so that nobody ever sees a part of an index.
            scratch = Path(tempfile.mkdtemp(prefix=f"{digest}.part-", dir=root))
            folder.rename(scratch / digest)
            shutil.rmtree(scratch)
        _lock_of(root, digest).unlink(missing_ok=True)
    return True


def _remove_leftovers(root: Path) -> None:
    """Remove scratch folders and lock files that no running process uses."""
    if not root.is_dir():
        return
    leftovers = [path for path in root.iterdir() if ".part-" in path.name or path.suffix == ".lock"]
    for digest in sorted({path.name.partition(".")[0] for path in leftovers}):
        with _try_lock(root, digest) as lock:
            if lock is None:
                continue
            for scratch in root.glob(f"{digest}.part-*"):
                shutil.rmtree(scratch, ignore_errors=True)
            if not (root / digest).is_dir():
                _lock_of(root, digest).unlink(missing_ok=True)


def _lock_of(root: Path, digest: str) -> Path:
    return root / f"{digest}.lock"


@contextmanager
def _locked(root: Path, digest: str, mode: int) -> Iterator[IO[str]]:
    """Wait for the lock of an index and take it; `mode` is LOCK_SH or LOCK_EX."""
    path = _lock_of(root, digest)
    while True:
        with path.open("a") as file:
            fcntl.flock(file, mode)
            if _is_current(file, path):
                yield file
                return


@contextmanager
def _try_lock(root: Path, digest: str) -> Iterator[IO[str] | None]:
    """Take the exclusive lock of an index without waiting; None when somebody else has a lock."""
    path = _lock_of(root, digest)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        yield file if _is_current(file, path) else None


def _is_current(file: IO[str], path: Path) -> bool:
    """Whether the path still names this file. Removing an index removes its lock file too, and a lock on a removed
    file excludes nobody.
    """
    try:
        return os.fstat(file.fileno()).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False


def _build(folder: Path, engine: Indexer, blocks: Iterable[str]) -> None:
    for leftover in folder.parent.glob(f"{folder.name}.part-*"):
        shutil.rmtree(leftover)
    scratch = Path(tempfile.mkdtemp(prefix=f"{folder.name}.part-", dir=folder.parent))
    engine.build(blocks, scratch)
    for file in scratch.iterdir():
        _sync_to_disk(file)
    _sync_to_disk(scratch)
    scratch.rename(folder)
    _sync_to_disk(folder.parent)


def _sync_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
