"""The digests of a report's input files."""

from __future__ import annotations

import hashlib
import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self

from apps.common.files.linefiles import name_of

NO_DIGEST = "none: a pipe is read only once"


class Input(NamedTuple):
    """An input file: its role, its name, and the SHA-256 of its bytes on disk."""

    role: str
    name: str
    sha256: str


class Digests:
    """SHA-256 of files, given by role and path, and of standard input as it is read inside the `with` block."""

    def __init__(self, files: Sequence[tuple[str, str]]) -> None:
        self.files = files
        self._stdin = sys.stdin
        self._passed = hashlib.sha256()

    def __enter__(self) -> Self:
        if any(path == "-" for _, path in self.files):
            sys.stdin = io.TextIOWrapper(io.BufferedReader(_Watched(sys.stdin.buffer, self._passed)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.stdin = self._stdin

    def taken(self) -> Iterator[Input]:
        """The role, name and digest of each file; complete once everything has been read."""
        for role, path in self.files:
            if path == "-":
                yield Input(role, name_of(path), self._passed.hexdigest())
                continue
            if not Path(path).is_file():
                yield Input(role, path, NO_DIGEST)
                continue
            with Path(path).open("rb") as stream:
                yield Input(role, Path(path).name, hashlib.file_digest(stream, "sha256").hexdigest())


class _Watched(io.RawIOBase):
    """The bytes of another stream, each added to a digest as it is read."""

    def __init__(self, stream: BinaryIO, digest: hashlib._Hash) -> None:
        self._from = stream
        self._digest = digest

    def readable(self) -> bool:
        return True

    def readinto(self, into: bytearray) -> int:  # type: ignore[override]
        taken = self._from.read(len(into))
        self._digest.update(taken)
        into[: len(taken)] = taken
        return len(taken)
