import hashlib
import io
import json
import zipfile
from contextlib import suppress
from itertools import product

import pytest

from apps.backups.core.rows import Column, Kind, Lines, Table
from apps.backups.formats.archive import (
    MOST_MANIFEST,
    Archive,
    ArchiveWriter,
    Manifest,
    NoBackup,
    StoredFile,
    StoredTable,
)
from apps.common.digests import canonical_json

TABLE = Table("plain", "id", (Column("id", Kind.INTEGER), Column("name", Kind.TEXT)))
ROWS = [[1, "a"], [2, None], [3, "c" * 500]]


class Pipe(io.RawIOBase):
    """A stream that cannot be sought in, as a socket is."""

    def __init__(self) -> None:
        self.content = b""

    def writable(self) -> bool:
        return True

    def write(self, piece) -> int:
        self.content += bytes(piece)
        return len(piece)


def written(**changed) -> bytes:
    """A backup of one table, one file, one head and some secrets."""
    stream = Pipe()
    writer = ArchiveWriter(stream)
    manifest = Manifest("0.1.0", "2026-03-02T09:00:00+00:00", "SQLite", [("plain", "0001_initial")], has_secrets=True)
    writer.head("site.json", b'{"length": 1}')
    with writer.table(TABLE) as table:
        table.write(ROWS[:2])
        table.write(ROWS[2:])
    manifest.tables["plain"] = StoredTable(TABLE, table.state, 4)
    manifest.files["uploads/2026-03/ab"] = writer.file("uploads/2026-03/ab", io.BytesIO(b"content" * 100))
    writer.secrets(b"sealed")
    manifest.files.update(changed.get("files", {}))
    writer.close(manifest)
    return stream.content


@pytest.fixture(scope="module")
def whole() -> bytes:
    return written()


@pytest.fixture
def file(tmp_path, whole):
    path = tmp_path / "backup.zip"
    path.write_bytes(whole)
    return path


def test_everything_is_read_back_by_us_and_by_other_programs(file):
    with zipfile.ZipFile(file) as other:
        assert other.testzip() is None
        assert other.read("rows/plain.jsonl").startswith(b'[1,"a"]\n[2,null]\n')
    with Archive(file) as archive:
        target = io.BytesIO()
        archive.copy_file("uploads/2026-03/ab", target)

        assert [*archive.rows("plain")] == ROWS
        assert target.getvalue() == b"content" * 100
        assert dict(archive.heads()) == {"site.json": b'{"length": 1}'}
        assert archive.secrets() == b"sealed"
        assert archive.manifest.rows == 3
        assert archive.manifest.tables["plain"].table == TABLE
        assert archive.manifest.migrations == [("plain", "0001_initial")]


def test_a_backup_that_was_cut_off_anywhere_is_refused(tmp_path, whole):
    for length in range(0, len(whole), 37):
        (tmp_path / "cut.zip").write_bytes(whole[:length])
        with pytest.raises(NoBackup, match="not a whole one"):
            Archive(tmp_path / "cut.zip")


def test_a_changed_byte_is_noticed_wherever_it_matters(tmp_path, whole):
    """A byte that nobody reads, such as a time in the list of members, may change."""
    noticed = 0
    for place in range(0, len(whole), 11):
        changed = bytearray(whole)
        changed[place] ^= 0x55
        path = tmp_path / "changed.zip"
        path.write_bytes(bytes(changed))
        try:
            with Archive(path) as archive:
                rows, target = [*archive.rows("plain")], io.BytesIO()
                archive.copy_file("uploads/2026-03/ab", target)
                same = (rows, target.getvalue()) == (ROWS, b"content" * 100)
        except NoBackup:
            noticed += 1
        else:
            assert same, place

    assert noticed > len(whole) / 11 / 3


def test_a_file_that_is_no_backup_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("no zip")
    with pytest.raises(NoBackup, match="is no backup"):
        Archive(tmp_path / "notes.txt")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        other.writestr("notes.txt", "a zip of something else")
    with pytest.raises(NoBackup, match="is no backup"):
        Archive(tmp_path / "other.zip")
    with pytest.raises(NoBackup, match="No such file"):
        Archive(tmp_path / "missing.zip")


def rewritten(path, change) -> None:
    """The same backup with another manifest."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    manifest = json.loads(members["manifest.json"])
    change(manifest)
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda it: it.update(format=2, karat="9.0"),
            r"written by Karat 9\.0 in a format that this version does not",
        ),
        (lambda it: it["tables"]["plain"].update(state=[2, "0" * 64]), "its manifest was changed"),
    ],
)
def test_a_manifest_of_a_later_format_or_with_another_digest_is_refused(file, change, words):
    rewritten(file, change)

    with pytest.raises(NoBackup, match=words):
        Archive(file)


SQL = 'name") FROM PROGRAM (SELECT 1); --'
FORGED = (SQL, "", "a\x1b[2J", "../x", 0, 1, -1, 7, 2**70, 1.5, True, False, None, [], {}, [[SQL]], {"plain": {}})
FREE = {(name,) for name in ("karat", "database", "made_at", "missing", "files", "has_secrets")}
FREE |= {("tables", "plain", "next_key")}
"""What may be another value of its kind: it is shown, or left out, and a key that is too low is raised."""
SCHEMA = (("migrations",), ("tables", "plain", "table"))
"""Names that are compared with the schema: see `test_forged`."""


def places(value, way=()):
    """The way to everything in the manifest."""
    yield way
    if isinstance(value, dict):
        for name, each in value.items():
            yield from places(each, (*way, name))
    elif isinstance(value, list):
        for n, each in enumerate(value):
            yield from places(each, (*way, n))


def forge(manifest, way, value) -> None:
    """Put the value there, and the digest that then goes with it, as a forger would."""
    for step in way[:-1]:
        manifest = manifest[step]
    manifest[way[-1]] = value


def sealed(manifest) -> None:
    with suppress(Exception):
        tables = {name: table["state"] for name, table in manifest["tables"].items()}
        files = {path: [file["size"], file["sha256"]] for path, file in manifest["files"].items()}
        manifest["digest"] = hashlib.sha256(canonical_json([tables, files])).hexdigest()


def by_schema(way) -> bool:
    return any(way[: len(place)] == place for place in SCHEMA)


def read_all(path) -> None:
    with Archive(path) as archive:
        archive.secrets()
        [*archive.rows("plain")]


def is_taken(path) -> bool:
    """Whether the file is read as a whole, its rows are those of the manifest, and what it names is in it."""
    try:
        with Archive(path) as archive:
            for stored in archive.manifest.tables.values():
                lines = Lines(stored.table)
                for rows in archive.parts(stored.table):
                    lines.of(rows)
                if lines.state != stored.state:
                    return False
            for name in archive.manifest.files:
                archive.copy_file(name, io.BytesIO())
    except NoBackup as refusal:
        return not (str(path) in refusal.sentence and refusal.sentence.isprintable())
    return True


def test_no_forged_value_anywhere_in_the_manifest_is_taken(tmp_path, whole):
    with zipfile.ZipFile(io.BytesIO(whole)) as old:
        members = {name: old.read(name) for name in old.namelist()}
    manifest, path = json.loads(members.pop("manifest.json")), tmp_path / "forged.zip"
    ways = [way for way in places(manifest) if way]
    taken = set()
    for way, value in product(ways, FORGED):
        forged = json.loads(json.dumps(manifest))
        forge(forged, way, value)
        if forged == manifest:
            continue
        if way != ("digest",):
            sealed(forged)
        with zipfile.ZipFile(path, "w") as new:
            for name, content in [*members.items(), ("manifest.json", json.dumps(forged).encode())]:
                new.writestr(name, content)
        if is_taken(path):
            taken.add((way, str(value)))

    assert len(ways) > 30
    unexpected = {(way, value) for way, value in taken if way not in FREE and not by_schema(way)}
    assert unexpected == {(("tables",), "{}")}  # without tables it is compared with the schema too


def test_a_name_under_which_another_thing_is_stored_is_refused(tmp_path, whole):
    for kind, name in [("tables", "plain"), ("files", "uploads/2026-03/ab")]:
        path = tmp_path / f"{kind}.zip"
        path.write_bytes(whole)
        rewritten(path, lambda manifest, kind=kind, name=name: (
            manifest[kind].update(other=manifest[kind].pop(name)), sealed(manifest)
        ))  # fmt: skip

        assert not is_taken(path)


def test_a_member_that_unpacks_to_more_than_any_is_refused_and_so_is_another_packing(tmp_path, whole):
    for name, packing in [("manifest.json", zipfile.ZIP_DEFLATED), ("secrets", zipfile.ZIP_DEFLATED),
                          ("rows/plain.jsonl", zipfile.ZIP_LZMA), ("rows/plain.jsonl", zipfile.ZIP_BZIP2)]:  # fmt: skip
        with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(tmp_path / "bomb.zip", "w") as new:
            for each in old.namelist():
                content = old.read(each) + (b" " * (MOST_MANIFEST + 10_000) if packing == zipfile.ZIP_DEFLATED else b"")
                new.writestr(each, content if each == name else old.read(each), packing if each == name else None)

        with pytest.raises(NoBackup):
            read_all(tmp_path / "bomb.zip")


def test_a_record_of_a_head_has_a_name_of_ours(tmp_path, whole):
    (tmp_path / "evil.zip").write_bytes(whole)
    with zipfile.ZipFile(tmp_path / "evil.zip", "a") as more:
        for name in ("..", "../x.json", "/etc/x.json", "a/b.json", "x.sh", ".json"):
            more.writestr(f"audit-heads/{name}", b"{}")

    with Archive(tmp_path / "evil.zip") as archive:
        assert dict(archive.heads()) == {"site.json": b'{"length": 1}'}


@pytest.mark.parametrize("path", ["../secret-key", "/etc/passwd", "a/../../b", ".", "a\\..\\b"])
def test_no_file_is_written_outside_the_folder(tmp_path, path):
    (tmp_path / "evil.zip").write_bytes(written(files={path: StoredFile(0, "0" * 64)}))

    with pytest.raises(NoBackup, match="its manifest was changed"):
        Archive(tmp_path / "evil.zip")
