"""The size of a file's content, counted without reading more than necessary."""

import gzip
import zlib
from pathlib import Path
from typing import NamedTuple

PIECE = 64 * 1024
GZIP_MAGIC = b"\x1f\x8b"


class Extent(NamedTuple):
    """Number of bytes (uncompressed, if the file is gzip) and of line ends among them."""

    size: int
    lines: int


def is_within(path: Path, most: Extent) -> bool:
    """Whether a file, plain or gzip, contains no more than `most`. Unpacks at most `most.size` bytes and one chunk.

    The size stored in a gzip file cannot be trusted. A damaged file counts as small: its reader reports the damage.
    """
    if path.stat().st_size > most.size:
        return False
    size = lines = 0
    with path.open("rb") as raw:
        is_gzip = raw.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        raw.seek(0)
        stream = gzip.GzipFile(fileobj=raw) if is_gzip else raw
        try:
            while piece := stream.read(PIECE):
                size += len(piece)
                lines += max(piece.count(b"\n"), piece.count(b"\r"))  # either may end a line
                if size > most.size or lines > most.lines:
                    return False
        except (OSError, EOFError, zlib.error):
            return True
    return True
