"""Private files and folders (mode 0600, and 0700 for folders), and files that are written whole or not at all."""

import logging
import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

log = logging.getLogger(__name__)

FOLDER, FILE = 0o700, 0o600
SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")
KEYS = ("secret-key", "audit-key")
HOST = "host-id"
UNFINISHED_RESTORE = "restoring"
"""A data directory has a file of this name while, and only while, a restore into it has not finished."""
CLOSED_FOLDERS = ("backups", "audit-heads", "files", "broker", "indexes", "figures", "received", "fetched")


def close_data_dir(folder: Path) -> None:
    """Make an existing data directory private: the folder, its keys, databases and copies, and the folders below it.

    A folder that all may write to by design, such as /tmp, keeps its mode, and so does the root of a disk; the files in
    it are made private all the same.
    """
    for path, mode in _private_places(folder):
        _close(path, mode)


def open_to_others(folder: Path) -> list[Path]:
    """What in a data directory is to be private and is not, since its mode could not be changed or was changed back."""
    return [path for path, _ in _private_places(folder) if not path.is_symlink() and _is_open(path)]


def closed_to_us(folder: Path) -> list[Path]:
    """What in a data directory this process cannot write to, such as what another user of the machine has made."""
    return [path for path, _ in _private_places(folder) if not os.access(path, os.R_OK | os.W_OK)]


def _private_places(folder: Path) -> Iterator[tuple[Path, int]]:
    """What in a data directory is private, with its mode."""
    if not folder.is_dir():
        return
    if len(folder.parts) > 2 and not folder.stat().st_mode & stat.S_ISVTX:
        yield folder, FOLDER
    for name in CLOSED_FOLDERS:
        if (folder / name).is_dir():
            yield folder / name, FOLDER
    for path in [*(folder / name for name in KEYS), *folder.glob("*.sqlite3*"), *folder.glob("backups/*")]:
        if path.is_file():
            yield path, FILE


_restored_here: set[Path] = set()


def restore_here(folder: Path) -> None:
    """This process is the one that restores into the folder."""
    _restored_here.add(folder)


def unfinished_restore(folder: Path) -> str:
    """Why nothing may run in this data directory, where a restore into it has not finished; "" elsewhere."""
    if folder in _restored_here or not (folder / UNFINISHED_RESTORE).exists():
        return ""
    return f"A restore into {folder} has not finished. Run the same `karat restore` again, or choose another folder."


def close_database(path: Path) -> None:
    """Create an SQLite file, private, or make an existing one private. SQLite gives its companions the same mode."""
    if not path.exists() and path.parent.is_dir():
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, FILE))
    for suffix in SQLITE_SUFFIXES:
        companion = path.with_name(path.name + suffix)
        if companion.exists():
            _close(companion, FILE)


def _close(path: Path, mode: int) -> None:
    try:
        if _is_open(path) and not path.is_symlink():
            path.chmod(mode)
    except FileNotFoundError:  # a companion that SQLite has just removed
        return
    except OSError as problem:
        log.warning("Other users may read %s, and its mode could not be changed (%s).", path, problem.strerror)


def _is_open(path: Path) -> bool:
    try:
        return bool(stat.S_IMODE(path.lstat().st_mode) & 0o077)
    except FileNotFoundError:
        return False


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A private file to write and read, which replaces `path` once the block has ended without an error."""
    scratch = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        with os.fdopen(os.open(scratch, os.O_RDWR | os.O_CREAT | os.O_EXCL, FILE), "w+b") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        scratch.replace(path)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise
