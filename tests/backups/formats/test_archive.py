import io
import json
import zipfile

import pytest

from apps.backups.core.kinds import Kind
from apps.backups.core.rows import Column, Table
from apps.backups.formats.archive import Archive, ArchiveWriter, Manifest, NoBackup, StoredFile, StoredTable

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


def test_everything_is_read_back(file):
    with Archive(file) as archive:
        target = io.BytesIO()
        archive.copy_file("uploads/2026-03/ab", target)

        assert [*archive.rows("plain")] == ROWS
        assert target.getvalue() == b"content" * 100
        assert archive.heads() == {"site.json": b'{"length": 1}'}
        assert archive.secrets() == b"sealed"
        assert archive.manifest.rows == 3
        assert archive.manifest.tables["plain"].table == TABLE
        assert archive.manifest.migrations == [("plain", "0001_initial")]


def test_other_programs_can_read_it(file):
    with zipfile.ZipFile(file) as other:
        assert other.testzip() is None
        assert other.read("rows/plain.jsonl").startswith(b'[1,"a"]\n[2,null]\n')


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


def test_a_format_of_a_later_version_is_refused_by_its_name(file):
    rewritten(file, lambda manifest: manifest.update(format=2, karat="9.0"))

    with pytest.raises(NoBackup, match=r"written by Karat 9\.0 in a format that this version does not know"):
        Archive(file)


def test_a_digest_that_was_changed_is_noticed(file):
    rewritten(file, lambda manifest: manifest["tables"]["plain"].update(state=[2, "0" * 64]))

    with pytest.raises(NoBackup, match="its manifest was changed"):
        Archive(file)


@pytest.mark.parametrize("path", ["../secret-key", "/etc/passwd", "a/../../b", ".", "a\\..\\b"])
def test_no_file_is_written_outside_the_folder(tmp_path, path):
    (tmp_path / "evil.zip").write_bytes(written(files={path: StoredFile(0, "0" * 64)}))

    with pytest.raises(NoBackup, match="its manifest was changed"):
        Archive(tmp_path / "evil.zip")
