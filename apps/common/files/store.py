"""Files that every host of a server can read: in the data directory, and in the bucket that KARAT_STORE names, if any.

Without a bucket the data directory has all of them. With one, a file is in the bucket before anything names it, and a
data directory has copies, which can be made again. A file is never changed once it has a name.
"""

import hashlib
import logging
import os
import stat
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from django.conf import settings

from apps.common.errors import Refusal
from apps.common.files.buckets import Bucket, Listed, NoObject
from apps.common.files.private import FILE, FOLDER

FILES = "files"
"""The folder of files in the bucket."""
OWNER = "server"
"""An object that tells whose the folder is."""
FETCHED = ".fetched"
COPY = 0o400
"""The mode of a file that the bucket has had: one that was here before there was a bucket can be written to."""
COPIES_STORED_DAYS = 7
CLEARED_EVERY_SECONDS = 3_600

log = logging.getLogger(__name__)


class FileGone(Refusal):
    """A file that neither this host nor the bucket has, or not as it was."""


def bucket() -> Bucket | None:
    """The bucket of this server; None where its only host has all files."""
    return Bucket(settings.STORE) if settings.STORE else None


def path_of(name: str) -> Path:
    """Where this host has a file, or would have it. Raises FileGone for a name that leads out of the folder."""
    if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
        raise FileGone(f"The file {name} is not one that Karat has written.", code="file_gone")
    return Path(settings.MEDIA_ROOT) / name


def keep(name: str) -> None:
    """Put a file that this host has written where all hosts can read it. Raises BucketAway."""
    if store := bucket():
        _clear_copies_now_and_then(store)
        store.send(f"{FILES}/{name}", path_of(name))
        path_of(name).chmod(COPY)


def here(name: str, *, sha256: str) -> Path:
    """The path of a file on this host, fetched when another one has written it. Raises FileGone and BucketAway.

    What is fetched is compared with its digest, and appears complete or not at all.
    """
    path, store = path_of(name), bucket()
    if store is None:
        return path
    with suppress(FileNotFoundError):
        os.utime(path)  # a copy that is used is not cleared
        return path
    _clear_copies_now_and_then(store)
    _fetch(store, name, path, sha256)
    return path


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """A file to read from first to last, of which no copy is made. Raises FileNotFoundError and BucketAway."""
    path, store = path_of(name), bucket()
    if store is None or path.exists():
        with path.open("rb") as stream:
            yield stream
        return
    try:
        with store.arriving(f"{FILES}/{name}") as stream:
            yield stream
    except NoObject as none:
        raise FileNotFoundError(none.sentence) from none


def remove(*names: str) -> None:
    """Remove files, everywhere but for the copies of other hosts, which end by themselves. Raises BucketAway."""
    for name in names:
        path_of(name).unlink(missing_ok=True)
    if store := bucket():
        store.remove(*[f"{FILES}/{name}" for name in names])


def is_ours(store: Bucket) -> bool:
    """Whether this server was the first to use the folder in the bucket; others would remove what they do not know.

    The hosts of one server have the same keys.
    """
    own = hashlib.sha256(f"karat store {settings.AUDIT_KEY}".encode()).hexdigest()
    try:
        return b"".join(store.pieces(OWNER)).decode() == own
    except NoObject:
        with store.replacing(OWNER) as stream:
            stream.write(own.encode())
        return True


def stored() -> Iterator[Listed]:
    """The files in the bucket, by their names; none where there is no bucket."""
    if store := bucket():
        for each in store.listed(FILES):
            yield each._replace(name=each.name.removeprefix(f"{FILES}/"))


def clear_copies(store: Bucket) -> None:
    """Remove what nobody has read on this host for a week: what is made again, and what the bucket has or had.

    A copy of what is gone from there was removed on another host. Files with an ending are made of others.
    """
    oldest = time.time() - COPIES_STORED_DAYS * 86_400
    root = Path(settings.MEDIA_ROOT)
    for path in root.glob("*/*/*"):
        with suppress(FileNotFoundError):  # removed meanwhile
            found = path.stat()
            if found.st_mtime >= oldest:
                continue
            if path.suffix or _is_stored(store, f"{FILES}/{path.relative_to(root)}", found):
                path.unlink()


def _is_stored(store: Bucket, name: str, found: os.stat_result) -> bool:
    size = store.size(name)
    return size == found.st_size or (size is None and stat.S_IMODE(found.st_mode) == COPY)


_cleared_at = 0.0


def _clear_copies_now_and_then(store: Bucket) -> None:
    """Whoever adds a file makes room, beside what they do: no schedule knows the hosts."""
    global _cleared_at
    if time.monotonic() - _cleared_at >= CLEARED_EVERY_SECONDS or not _cleared_at:
        _cleared_at = time.monotonic()
        threading.Thread(target=_clear_and_tell, args=(store,), name="clear copies", daemon=True).start()


def _clear_and_tell(store: Bucket) -> None:
    try:
        clear_copies(store)
    except Exception:
        log.exception("Old copies of files could not be cleared. It is tried again in an hour.")


def _fetch(store: Bucket, name: str, path: Path, sha256: str) -> None:
    path.parent.mkdir(mode=FOLDER, parents=True, exist_ok=True)
    scratch = path.with_name(f"{path.name}.{uuid.uuid4().hex}{FETCHED}")
    try:
        if _written(store, name, scratch) != sha256:
            raise FileGone(f"{store.address}/{FILES}/{name} is not the file that was uploaded.", code="file_changed")
        scratch.chmod(COPY)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def _written(store: Bucket, name: str, path: Path) -> str:
    """Write an object to a file, and return its SHA-256."""
    digest = hashlib.sha256()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE), "wb") as out:
        try:
            for piece in store.pieces(f"{FILES}/{name}"):
                digest.update(piece)
                out.write(piece)
        except NoObject:
            raise FileGone(
                f"The file {name} is neither on this host nor in {store.address}. Where it was uploaded before the "
                "store was set, run `karat fill-store` on that host.",
                code="file_gone",
            ) from None
        out.flush()
        os.fsync(out.fileno())
    return digest.hexdigest()
