"""A backup as one file: a zip with the rows of each table as lines, uploaded files, and a manifest with every digest.

The manifest is written last and the list of a zip's members after it, so half a backup cannot be taken for a whole one.
"""

import hashlib
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from apps.backups.core.rows import LARGEST_INTEGER, NO_ROW, Column, Kind, Lines, Rows, Table, TableState, read_rows
from apps.common.digests import canonical_json
from apps.common.errors import Refusal

FORMAT = 1
MANIFEST, SECRETS = "manifest.json", "secrets"
ROWS, FILES, HEADS = "rows", "files", "audit-heads"
PIECE = 1 << 20
FASTEST = 1
"""Of the levels of compression. The best takes many times as long and saves little more."""

MOST_MANIFEST, MOST_MANIFEST_A_MEMBER = 16 << 20, 512
"""Bytes of a manifest: it names each member, and files that were missing."""
MOST_SECRETS, MOST_HEAD = 100_000, 1_000
"""Bytes of the server's keys, and of a record of a head."""
OWN_HEAD = re.compile(r"[a-z0-9-]+\.json")
DIGEST = re.compile(r"[0-9a-f]{64}")
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError, *NO_ROW)
"""What Python's reader of zips raises for bytes that are not what was written, and ours for lines that are no rows."""


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
    def bytes_of_files(self) -> int:
        """The size of all uploaded files: no more of them is written."""
        return sum(file.size for file in self.files.values())

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
            most = MOST_MANIFEST + MOST_MANIFEST_A_MEMBER * len(self._zip.infolist())
            content = json.loads(self._small(MANIFEST, most) if MANIFEST in self._zip.namelist() else b"")
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
        for rows in self.parts(self.manifest.tables[name].table):
            yield from rows

    def parts(self, table: Table) -> Iterator[Rows]:
        """The same, some at a time."""
        with self._member(f"{ROWS}/{table.name}.jsonl") as member:
            yield from read_rows(member, table)

    @property
    def bytes_of_rows(self) -> int:
        """The size of all rows as lines: no more of them is read."""
        rows = {f"{ROWS}/{name}.jsonl" for name in self.manifest.tables}
        return sum(info.file_size for info in self._zip.infolist() if info.filename in rows)

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
        digest, stored = hashlib.sha256(), self.manifest.files[path]
        left = stored.size
        with self._member(f"{FILES}/{path}") as member:
            while left >= 0 and (piece := member.read(PIECE)):
                left -= len(piece)
                target.write(piece)
                digest.update(piece)
        if (left, digest.hexdigest()) != (0, stored.sha256):
            raise self.damaged(f"{FILES}/{path}")

    def heads(self) -> Iterator[tuple[str, bytes]]:
        """The records of heads of audit chains, each with its file name."""
        for path in self._zip.namelist():
            folder, _, name = path.partition("/")
            if folder == HEADS and OWN_HEAD.fullmatch(name):
                yield name, self._small(path, MOST_HEAD)

    def secrets(self) -> bytes:
        return self._small(SECRETS, MOST_SECRETS)

    def _small(self, name: str, most: int) -> bytes:
        with self._member(name) as member:
            content: bytes = member.read(most + 1)
        if len(content) > most:
            raise NoBackup(
                f"{self.path} is no backup of Karat: its {name} is longer than any that Karat writes.",
                code="backup_damaged",
            )
        return content

    @contextmanager
    def _member(self, name: str) -> Iterator[Any]:
        try:
            if self._zip.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise zipfile.BadZipFile("packed in another way than Karat does")
            with self._zip.open(name) as member:
                yield member
        except UNREADABLE as problem:
            raise self.damaged(name) from problem

    def damaged(self, name: str) -> NoBackup:
        return NoBackup(
            f"{self.path} is damaged: {name} is not what was written. Use another backup.", code="backup_damaged"
        )


def _manifest(path: Path | str, content: Any) -> Manifest:
    if isinstance(content, dict) and content.get("format") not in (None, FORMAT):
        karat = "".join(filter(str.isprintable, str(content.get("karat"))))
        raise NoBackup(
            f"{path} was written by Karat {karat[:40]} in a format that this version does not "
            "know. Install that version, or a newer one.",
            code="backup_newer",
        )
    try:
        _of(int, content["format"])
        manifest = Manifest(
            karat=_text(content["karat"]),
            made_at=datetime.fromisoformat(content["made_at"]).isoformat(),
            database=_text(content["database"]),
            migrations=[(_text(app), _text(name)) for app, name in content["migrations"]],
            tables={_text(name): _stored_table(name, table) for name, table in content["tables"].items()},
            files={_path(name): _stored_file(file) for name, file in content["files"].items()},
            missing=[_path(name) for name in content["missing"]],
            has_secrets=_of(bool, content["has_secrets"]),
        )
        names = {each.name for each in fields(Manifest)}
        is_whole = content.keys() == {"format", "digest", *names} and manifest.digest == content["digest"]
    except (KeyError, TypeError, ValueError, AttributeError):
        is_whole = False
    if not (is_whole and manifest.migrations):
        raise NoBackup(f"{path} is damaged: its manifest was changed. Use another backup.", code="backup_damaged")
    return manifest


def _of(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(kind)
    return value


def _text(value: Any) -> str:
    """Raises ValueError for what would do something on a terminal."""
    if not (_of(str, value).isprintable() and value):
        raise ValueError("no text")
    return str(value)


def _count(value: Any) -> int:
    if not 0 <= _of(int, value) <= LARGEST_INTEGER:
        raise ValueError("no number of things")
    return int(value)


def _digest(value: Any) -> str:
    if not DIGEST.fullmatch(value):
        raise ValueError("no digest")
    return str(value)


def _path(value: Any) -> str:
    """Raises ValueError for one that leads out of the folder of files."""
    parts = PurePosixPath(_text(value))
    if parts.is_absolute() or ".." in parts.parts or "\\" in value or value == ".":
        raise ValueError("leads out")
    return str(value)


def _stored_file(content: dict[str, Any]) -> StoredFile:
    return StoredFile(**{**content, "size": _count(content["size"]), "sha256": _digest(content["sha256"])})


def _stored_table(name: str, content: dict[str, Any]) -> StoredTable:
    stored, key, columns = content["table"]
    rows, sha256 = content["state"]
    if stored != name:
        raise ValueError("a table under the name of another")
    table = Table(name, _text(key), tuple(Column(_text(column), Kind(kind)) for column, kind in columns))
    return StoredTable(table, TableState(_count(rows), _digest(sha256)), _count(content["next_key"]))
