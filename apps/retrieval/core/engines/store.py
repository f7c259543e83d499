"""Indexes on disk: built once, named by digest, memory-mapped when used, and cleared away when nobody needs them.

Beside the folder of each index lies a lock file. Who reads an index holds the lock shared, who builds or removes it
holds it alone; the kernel lets go of a lock when its process dies. The file's time says when the index was last used.
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

TOUCHED_EVERY_SECONDS = 3_600


class Indexer(Protocol):
    """What is kept here: an engine, or anything else that is built once from all texts of a snapshot."""

    def index(self, blocks: Iterable[str]) -> Any: ...

    def save(self, handle: Any, folder: Path) -> None: ...

    def load(self, folder: Path) -> Any: ...


class Kept(NamedTuple):
    """An index on disk: its digest, its size in bytes, and when it was last used (seconds since 1970)."""

    digest: str
    size: int
    used_at: float


@contextmanager
def using_index(
    root: Path, digest: str, engine: Indexer, blocks: Callable[[], Iterable[str]] | None = None
) -> Iterator[Any]:
    """The handle of the index called `digest` under `root`, which nobody removes meanwhile.

    When it is not there, it is built first; without `blocks` the handle is None instead. `digest` names the engine's
    identity together with the blocks, so a folder that exists is right. However many processes ask at once, one
    builds and the others wait. A folder appears whole, by rename, or not at all: a process killed while building
    leaves only a scratch folder, which the next one removes.
    """
    folder = root / digest
    while True:
        if blocks is None and not folder.is_dir():
            yield None
            return
        root.mkdir(parents=True, exist_ok=True)
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
    """The handle of an index, built first when it is not there. It stays readable when the index is removed."""
    with using_index(root, digest, engine, blocks) as handle:
        return handle


def kept(root: Path) -> list[Kept]:
    """What is on disk, the index longest unused first."""
    if not root.is_dir():
        return []
    found = []
    for folder in root.iterdir():
        with suppress(FileNotFoundError, NotADirectoryError):  # removed while we look, or no index at all
            if ".part-" not in folder.name:
                size = sum(file.stat().st_size for file in folder.iterdir())
                found.append(Kept(folder.name, size, _lock_of(root, folder.name).stat().st_mtime))
    return sorted(found, key=lambda index: (index.used_at, index.digest))


def touch(root: Path, digest: str) -> None:
    """Note that an index that was opened before is being used, to the hour."""
    with suppress(FileNotFoundError):
        lock = _lock_of(root, digest)
        if lock.stat().st_mtime < time.time() - TOUCHED_EVERY_SECONDS:
            os.utime(lock)


def tidy(
    root: Path, indexes: Sequence[Kept], *, known: Collection[str], max_bytes: float, used_since: float
) -> list[Kept]:
    """Of `indexes`, remove those that are not `known`, those last used before `used_since`, and then the longest
    unused until the rest takes no more than `max_bytes`; and what killed builds have left. What is in use stays.

    Returns what was removed. Look for indexes first and for what is known then: so one built meanwhile is not judged.
    """
    removed: list[Kept] = []
    rest: list[Kept] = []
    for index in indexes:
        is_wanted = index.digest in known and index.used_at >= used_since
        (rest if is_wanted else removed).append(index)
    excess = sum(index.size for index in rest) - max_bytes
    for index in rest:
        if excess <= 0:
            break
        removed.append(index)
        excess -= index.size
    gone = [index for index in removed if remove(root, index.digest)]
    _sweep(root)
    return gone


def remove(root: Path, digest: str) -> bool:
    """Remove an index with its lock file, unless somebody is using or building it."""
    with _at_once(root, digest) as lock:
        if lock is None:
            return False
        folder = root / digest
        if folder.is_dir():
            # By another name first: whoever looks sees a whole index or none.
            going = Path(tempfile.mkdtemp(prefix=f"{digest}.part-", dir=root))
            folder.rename(going / digest)
            shutil.rmtree(going)
        _lock_of(root, digest).unlink(missing_ok=True)
    return True


def _sweep(root: Path) -> None:
    """Remove scratch folders and lock files that no living process is behind."""
    if not root.is_dir():
        return
    leftovers = [path for path in root.iterdir() if ".part-" in path.name or path.suffix == ".lock"]
    for digest in sorted({path.name.partition(".")[0] for path in leftovers}):
        with _at_once(root, digest) as lock:
            if lock is None:
                continue
            for scratch in root.glob(f"{digest}.part-*"):
                shutil.rmtree(scratch, ignore_errors=True)
            if not (root / digest).is_dir():
                _lock_of(root, digest).unlink(missing_ok=True)


def _lock_of(root: Path, digest: str) -> Path:
    return root / f"{digest}.lock"


@contextmanager
def _locked(root: Path, digest: str, how: int) -> Iterator[IO[str]]:
    """Hold the lock of an index, waiting for it."""
    path = _lock_of(root, digest)
    while True:
        with path.open("a") as file:
            fcntl.flock(file, how)
            if _is_still(file, path):
                yield file
                return


@contextmanager
def _at_once(root: Path, digest: str) -> Iterator[IO[str] | None]:
    """Hold the lock of an index alone, or get None at once when others hold it."""
    path = _lock_of(root, digest)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        yield file if _is_still(file, path) else None


def _is_still(file: IO[str], path: Path) -> bool:
    """Whether the name still leads to the file: who removes an index removes its lock file too, and a lock on a
    removed file keeps nobody out.
    """
    try:
        return os.fstat(file.fileno()).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False


def _build(folder: Path, engine: Indexer, blocks: Iterable[str]) -> None:
    for leftover in folder.parent.glob(f"{folder.name}.part-*"):
        shutil.rmtree(leftover)
    scratch = Path(tempfile.mkdtemp(prefix=f"{folder.name}.part-", dir=folder.parent))
    engine.save(engine.index(blocks), scratch)
    for file in scratch.iterdir():
        _settle_on_disk(file)
    _settle_on_disk(scratch)
    scratch.rename(folder)
    _settle_on_disk(folder.parent)


def _settle_on_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
