"""What was read of an upload of documents, stored in a file of its own, so that it can be cut again without reading.

The file is a line with the SHA-256 of all that follows, and JSON lines packed by gzip: a head with the basis, then one
line for each document, given passage, file that stays unread, and mistake. Nothing of it is in memory at once.
"""

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import as_row
from apps.common.files.private import whole_file
from apps.corpus.core.documents import Document, ReadingNote, TableColumns, UnreadFile
from apps.corpus.formats.rows import BlockRow

FORMAT = 6
"""Goes up when readers change what they make of a file, so that older readings are made again."""
PIECE = 1024 * 1024
DIGEST_LETTERS = 64


class ReadFile(NamedTuple):
    """A file that was read: it stands before its documents and passages."""

    path: str
    kind: str


class ReadCommit(NamedTuple):
    """The Git commit that the files were checked out at."""

    commit: str


Item = ReadFile | ReadCommit | Document | BlockRow | ReadingNote | TableColumns | UnreadFile | InputError
_TYPES: dict[str, type[Any]] = {
    "file": ReadFile,
    "commit": ReadCommit,
    "document": Document,
    "block": BlockRow,
    "note": ReadingNote,
    "columns": TableColumns,
    "unread": UnreadFile,
}
_NAMES = {kind: name for name, kind in _TYPES.items()}


def as_line(item: Item) -> bytes:
    if isinstance(item, InputError):
        return json.dumps(["error", as_row(item)]).encode() + b"\n"
    return json.dumps([_NAMES[type(item)], *item]).encode() + b"\n"


def store(path: Path, lines: Iterable[bytes], basis: Mapping[str, str]) -> None:
    """Write a reading, whole or not at all. `basis`: the digest of the upload and how it was read."""
    with whole_file(path) as out:
        _write(out, lines, basis)


def is_stored(path: Path, basis: Mapping[str, str]) -> bool:
    """Whether there is an undamaged reading on this basis."""
    try:
        with path.open("rb") as file:
            if not _is_whole(file):
                return False
            with gzip.GzipFile(fileobj=file) as packed:
                return bool(json.loads(packed.readline()) == _head(basis))
    except FileNotFoundError:
        return False


def items(path: Path) -> Iterator[Item]:
    """What is stored, in the order in which it was read."""
    with path.open("rb") as file:
        file.seek(DIGEST_LETTERS + 1)
        with gzip.GzipFile(fileobj=file) as packed:
            packed.readline()
            for line in packed:
                yield _item(json.loads(line))


def _item(row: list[Any]) -> Item:
    name, *fields = row
    if name == "error":
        return InputError(**fields[0])
    item: Item = _TYPES[name](*fields)
    if isinstance(item, Document):
        return item._replace(page_starts=tuple(item.page_starts))
    return item._replace(section_path=tuple(item.section_path)) if isinstance(item, BlockRow) else item


def _head(basis: Mapping[str, str]) -> dict[str, Any]:
    return {"format": FORMAT, "basis": dict(basis)}


def _write(out: BinaryIO, lines: Iterable[bytes], basis: Mapping[str, str]) -> None:
    out.write(b"0" * DIGEST_LETTERS + b"\n")
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=3, mtime=0) as packed:
        packed.write(json.dumps(_head(basis)).encode() + b"\n")
        for line in lines:
            packed.write(line)
    out.seek(DIGEST_LETTERS + 1)
    digest = _digest_of_rest(out)
    out.seek(0)
    out.write(digest.encode())


def _is_whole(file: BinaryIO) -> bool:
    """Whether the file is as it was written; afterwards it is at the packed lines."""
    stated = file.read(DIGEST_LETTERS + 1).strip().decode("ascii", "replace")
    is_whole = _digest_of_rest(file) == stated
    file.seek(DIGEST_LETTERS + 1)
    return is_whole


def _digest_of_rest(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    while piece := file.read(PIECE):
        digest.update(piece)
    return digest.hexdigest()
