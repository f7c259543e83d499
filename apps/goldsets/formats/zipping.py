"""The one form of an export: the same files always give the same checksums and the same bytes of a zip."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Iterable
from typing import IO, Any

CHECKSUMS = "SHA256SUMS"
MANIFEST = "manifest.json"


def checksums(manifest: dict[str, Any], manifest_data: bytes) -> bytes:
    """The file, from the manifest and its bytes; lines in the bytewise order of paths."""
    digests = {entry["path"]: entry["sha256"] for entry in manifest["files"]}
    digests[MANIFEST] = hashlib.sha256(manifest_data).hexdigest()
    lines = [f"{digests[path]}  {path}\n" for path in sorted(digests, key=str.encode)]
    return "".join(lines).encode()


BEGINNING_OF_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
CHUNK_BYTES = 1 << 20


def write_zip(files: Iterable[tuple[str, int]], opened: Callable[[str], IO[bytes]], stream: IO[bytes]) -> None:
    """Write the files, given by name and size, to a zip file: names sorted bytewise, times fixed.

    Stored, not deflated: two builds of zlib compress the same bytes differently, and a release has one form only.
    """
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, size in sorted(files, key=lambda file: file[0].encode()):
            entry = zipfile.ZipInfo(name, BEGINNING_OF_ZIP_TIME)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            entry.file_size = size
            with opened(name) as source, archive.open(entry, "w") as target:
                while chunk := source.read(CHUNK_BYTES):
                    target.write(chunk)
