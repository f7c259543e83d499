"""A backup as one file: a zip with the rows of each table as lines, uploaded files, and a manifest with every digest.

The manifest is written last and the list of a zip's members after it, so half a backup cannot be taken for a whole one.
"""

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from apps.backups.core.kinds import Kind
from apps.backups.core.rows import Column, Lines, Table, TableState, read_lines
from apps.common.digests import canonical_json
from apps.common.errors import Refusal

FORMAT = 1
MANIFEST, SECRETS = "manifest.json", "secrets"
ROWS, FILES, HEADS = "rows", "files", "audit-heads"
PIECE = 1 << 20
FASTEST = 1
"""Of the levels of compression. The best takes many times as long and saves little more."""


UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, NotImplementedError, RuntimeError)
"""What Python's reader of zips raises for bytes that are not what was written."""


class NoBackup(Refusal):
    """A file that is no backup, not a whole one, or not as it was written."""


@dataclass(frozen=True)
class StoredTable:
    """A table in a backup. `next_key` is the key that its next row would have got."""

    table: Table
    state: TableState
    next_key: int


@dataclass(frozen=True)
class StoredFile:
    """A file in a backup."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a backup contains. `migrations` are those that were applied, as pairs of app and name.

    `missing` are uploaded files that were no longer on the disk. `files` are by their path below the files folder.
    """

    karat: str
    made_at: str
    database: str
    migrations: list[tuple[str, str]]
    tables: dict[str, StoredTable] = field(default_factory=dict)
    files: dict[str, StoredFile] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    has_secrets: bool = False

    @property
    def rows(self) -> int:
        """The number of rows of all tables."""
        return sum(stored.state.rows for stored in self.tables.values())

    @property
    def digest(self) -> str:
        """SHA-256 over the digests of all tables and files: equal for equal contents, on either database."""
        tables = {name: [stored.state.rows, stored.state.sha256] for name, stored in self.tables.items()}
        files = {path: [stored.size, stored.sha256] for path, stored in self.files.items()}
        return hashlib.sha256(canonical_json([tables, files])).hexdigest()


class ArchiveWriter:
    """Writes the parts of a backup to a stream, which need not be seekable, in any order, and the manifest last."""

    def __init__(self, stream: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=FASTEST)

    @contextmanager
    def table(self, table: Table) -> Iterator["TableWriter"]:
        """Write the rows of a table within this block."""
        with self._zip.open(f"{ROWS}/{table.name}.jsonl", "w", force_zip64=True) as member:
            yield TableWriter(member, Lines(table))

    def file(self, path: str, source: BinaryIO) -> StoredFile:
        """Copy an uploaded file."""
        digest, size = hashlib.sha256(), 0
        with self._zip.open(f"{FILES}/{path}", "w", force_zip64=True) as member:
            while piece := source.read(PIECE):
                member.write(piece)
                digest.update(piece)
                size += len(piece)
        return StoredFile(size, digest.hexdigest())

    def head(self, name: str, content: bytes) -> None:
        """Copy a record of the head of an audit chain."""
        self._zip.writestr(f"{HEADS}/{name}", content)

    def secrets(self, sealed: bytes) -> None:
        self._zip.writestr(SECRETS, sealed)

    def close(self, manifest: Manifest) -> None:
        """Write the manifest, without which the file is no backup."""
        content = {"format": FORMAT, "digest": manifest.digest, **asdict(manifest)}
        self._zip.writestr(MANIFEST, json.dumps(content, indent=1, ensure_ascii=False))
        self._zip.close()


class TableWriter:
    """Writes rows in the common form, in the order of keys."""

    def __init__(self, member: Any, lines: Lines) -> None:
        self._member = member
        self._lines = lines

    def write(self, rows: Iterable[list[Any]]) -> None:
        self._member.write(self._lines.of(rows))

    @property
    def state(self) -> TableState:
        return self._lines.state


class Archive:
    """A backup that is read. Use it as a context manager.

    Where a `stream` is given, `path` is only what it is called. Raises NoBackup for a file that is none, that is not
    whole, or that a newer Karat wrote in another format.
    """

    def __init__(self, path: Path | str, stream: BinaryIO | None = None) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(stream or path)
            content = json.loads(self._zip.read(MANIFEST))
        except OSError as problem:
            raise NoBackup(f"{path} cannot be read: {problem.strerror}.", code="backup_unreadable") from None
        except UNREADABLE:
            raise NoBackup(
                f"{path} is no backup of Karat, or not a whole one: a backup that was not finished has no end.",
                code="backup_not_whole",
            ) from None
        self.manifest = _manifest(path, content)

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *error: object) -> None:
        self._zip.close()

    def rows(self, name: str) -> Iterator[list[Any]]:
        """The rows of a table in the common form. Raises NoBackup where they are damaged."""
        with self._member(f"{ROWS}/{name}.jsonl") as member:
            yield from read_lines(member)

    def is_of_one_project(self) -> bool:
        """Whether `karat project export` wrote it: it has no operator of the server, and no history of its own."""
        operators = self._values("accounts_user", "is_operator")
        return not any(operators) and None not in self._values("audit_chain", "project_id")

    def _values(self, name: str, column: str) -> list[Any]:
        """Of one column of a small table; none where there is no such table, as in an older backup."""
        if (stored := self.manifest.tables.get(name)) is None:
            return []
        place = [each.name for each in stored.table.columns].index(column)
        return [row[place] for row in self.rows(name)]

    def copy_file(self, path: str, target: BinaryIO) -> None:
        """Write an uploaded file to `target`. Raises NoBackup where it is damaged."""
        digest = hashlib.sha256()
        with self._member(f"{FILES}/{path}") as member:
            while piece := member.read(PIECE):
                target.write(piece)
                digest.update(piece)
        if digest.hexdigest() != self.manifest.files[path].sha256:
            raise self._damaged(f"{FILES}/{path}")

    def heads(self) -> dict[str, bytes]:
        """The records of heads of audit chains, by file name."""
        paths = [PurePosixPath(name) for name in self._zip.namelist()]
        return {path.name: self._zip.read(str(path)) for path in paths if path.parent == PurePosixPath(HEADS)}

    def secrets(self) -> bytes:
        with self._member(SECRETS) as member:
            content: bytes = member.read()
        return content

    @contextmanager
    def _member(self, name: str) -> Iterator[Any]:
        try:
            with self._zip.open(name) as member:
                yield member
        except UNREADABLE as problem:
            raise self._damaged(name) from problem

    def _damaged(self, name: str) -> NoBackup:
        return NoBackup(
            f"{self.path} is damaged: {name} is not what was written. Use another backup.", code="backup_damaged"
        )


def _manifest(path: Path | str, content: dict[str, Any]) -> Manifest:
    if content.get("format") != FORMAT:
        raise NoBackup(
            f"{path} was written by Karat {content.get('karat')} in a format that this version does not know. "
            "Install that version, or a newer one.",
            code="backup_newer",
        )
    content.pop("format")
    digest = content.pop("digest")
    content["migrations"] = [(app, name) for app, name in content["migrations"]]
    content["tables"] = {name: _stored_table(table) for name, table in content["tables"].items()}
    content["files"] = {name: StoredFile(**file) for name, file in content["files"].items()}
    manifest = Manifest(**content)
    if manifest.digest != digest or not all(map(_stays_inside, manifest.files)):
        raise NoBackup(f"{path} is damaged: its manifest was changed. Use another backup.", code="backup_damaged")
    return manifest


def _stays_inside(path: str) -> bool:
    parts = PurePosixPath(path)
    return not parts.is_absolute() and ".." not in parts.parts and "\\" not in path and path != "."


def _stored_table(content: dict[str, Any]) -> StoredTable:
    name, key, columns = content["table"]
    table = Table(name, key, tuple(Column(column, Kind(kind)) for column, kind in columns))
    return StoredTable(table, TableState(*content["state"]), content["next_key"])
