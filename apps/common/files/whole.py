"""Files that are written whole or not at all."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from apps.common.files.private import FILE


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
