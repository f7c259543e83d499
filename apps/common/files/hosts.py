"""Which host this is: the processes that use one data directory."""

import os
import uuid
from contextlib import suppress
from functools import cache
from pathlib import Path

from django.conf import settings

from apps.common.files.private import FILE, FOLDER, HOST


def host_id() -> str:
    """A random id, which the data directory has from its first use on."""
    return _id_in(Path(settings.DATA_DIR))


def own_id() -> str:
    """The same without making one; "" where no worker has run yet."""
    path = Path(settings.DATA_DIR) / HOST
    return path.read_text() if path.exists() else ""


@cache
def _id_in(folder: Path) -> str:
    path = folder / HOST
    if not path.exists():
        folder.mkdir(mode=FOLDER, parents=True, exist_ok=True)
        _write_first(path)
    return path.read_text()


def _write_first(path: Path) -> None:
    """Write a new id, unless another process is first. Who reads it finds all of it."""
    scratch = path.with_name(f"{HOST}.{uuid.uuid4().hex}")
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE), "w") as stream:
        stream.write(uuid.uuid4().hex)
    with suppress(FileExistsError):
        os.link(scratch, path)
    scratch.unlink()
