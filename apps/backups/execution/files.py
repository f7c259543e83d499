"""Writes files from a backup, readable by their owner only."""

import os
from pathlib import Path
from typing import BinaryIO

from apps.backups.formats.archive import Archive
from apps.common.files import store


def take_file(archive: Archive, path: str, *, name: str) -> None:
    """Write an uploaded file under the name that it has here, for every host of the server.

    Raises NoBackup where it is damaged, and BucketAway where hosts share a store that does not take it.
    """
    target = store.path_of(name)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    target.unlink(missing_ok=True)  # of an attempt that was interrupted, perhaps not to be written to
    with private_file(target) as stream:
        archive.copy_file(path, stream)
    store.keep(name)


def private_file(path: Path) -> BinaryIO:
    """A file to write, which is empty now."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
