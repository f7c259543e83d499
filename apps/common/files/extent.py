"""How much there is to read in a file, found out by reading no more than matters."""

import gzip
import zlib
from pathlib import Path
from typing import NamedTuple

PIECE = 64 * 1024
GZIP_MAGIC = b"\x1f\x8b"


class Extent(NamedTuple):
    """Bytes, unpacked where the file is gzip, and line ends among them."""

    size: int
    lines: int


def is_within(path: Path, most: Extent) -> bool:
    """Whether a file, plain or gzip, holds no more than that. At most `most.size` bytes of it and a piece are unpacked.

    A packed file says nothing about itself that could be trusted. What is damaged is small: whoever reads it will say
    so at once.
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
                lines += piece.count(b"\n")
                if size > most.size or lines > most.lines:
                    return False
        except (OSError, EOFError, zlib.error):
            return True
    return True
