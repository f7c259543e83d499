"""Backups of an older schema, from the other kind of database, and those that must not be restored."""

import json
import lzma
import os
import shutil
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from tests.backups.running import done, empty_postgresql, environment, karat
from tests.conftest import REPO

DATA = REPO / "tests" / "config" / "data"
KEY = "KARAT_AUDIT_KEY"


@pytest.fixture(scope="module")
def older(tmp_path_factory) -> Path:
    """A server with the first schema that there was, on which this version has only made a backup."""
    folder = tmp_path_factory.mktemp("older")
    (folder / "karat.sqlite3").write_bytes(lzma.decompress((DATA / "first-schema.sqlite3.xz").read_bytes()))
    done("backup", folder / "older.zip", env=on(folder))
    return folder


def on(folder: Path, address: str = "") -> dict[str, str]:
    return environment(folder, address, **{KEY: (DATA / "first-schema.audit-key").read_text().strip()})


def exported(folder: Path, env: dict[str, str]) -> dict[str, str]:
    """The digests of the released version's files."""
    done("export", "--project", "handbook", "--version", "handbook/v2", "--out", folder, env=env)
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}


def released() -> dict[str, str]:
    return json.loads((DATA / "first-schema.json").read_text())


@pytest.mark.once
def test_a_backup_of_the_first_schema_is_restored_and_upgraded(older, tmp_path):
    done("restore", older / "older.zip", env=on(tmp_path / "data"))

    assert released().items() <= exported(tmp_path / "files", on(tmp_path / "data")).items()
    assert "intact" in done("verify-audit", env=on(tmp_path / "data"))
    assert not karat("migrate", "--check", env=on(tmp_path / "data")).returncode


@pytest.mark.once
def test_a_backup_does_not_change_an_older_database(older):
    assert karat("migrate", "--check", env=on(older)).returncode == 1


@pytest.mark.postgres
@pytest.mark.django_db
def test_it_moves_to_postgresql_and_back_with_equal_digests_exports_and_heads(older, tmp_path):
    with empty_postgresql() as address:
        data = tmp_path / "data"
        done("restore", older / "older.zip", env=on(data))
        heads = done("verify-audit", "--format", "json", env=on(data))

        there = done("move", "--to", address, env=on(data))
        assert done("verify-audit", "--format", "json", env=on(data, address)) == heads
        assert released().items() <= exported(tmp_path / "there", on(data, address)).items()

        (data / "karat.sqlite3").rename(data / "left.sqlite3")
        done("move", "--to", "sqlite", env=on(data, address))
        at_home = on(data)
        assert done("verify-audit", "--format", "json", env=at_home)

    assert "the digest" in there
    assert released().items() <= exported(tmp_path / "back", at_home).items()
    assert not (data / "moving.zip").exists()


@pytest.mark.postgres
@pytest.mark.django_db
def test_a_backup_of_the_first_schema_is_upgraded_on_postgresql(older, tmp_path):
    with empty_postgresql() as address:
        there = on(tmp_path / "data", address)
        done("restore", older / "older.zip", env=there)

        assert released().items() <= exported(tmp_path / "files", there).items()
        assert "intact" in done("verify-audit", env=there)


@pytest.fixture
def backup(older, tmp_path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copy(older / "older.zip", tmp_path / "copy.zip"))


def rewritten(path: Path, member: str, change) -> None:
    """The same backup with another member."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    members[member] = change(members[member])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in members.items():
            new.writestr(name, content)


def with_newer_migration(content: bytes) -> bytes:
    manifest = json.loads(content)
    manifest["migrations"].append(["judging", "9999_later"])
    return json.dumps(manifest).encode()


REFUSED = {
    "of a newer version": ("manifest.json", with_newer_migration, "A newer Karat wrote this data (judging 9999_later)"),
    "with a changed row": ("rows/accounts_project.jsonl", lambda rows: rows.replace(b"andbook", b"andcuff"),
                           "The table accounts_project has 1 rows that are not the 1 of the backup."),
    "with a row less": ("rows/judging_judgement.jsonl", lambda rows: rows.partition(b"\n")[2], "Nothing was restored"),
    "with a line that is no row": ("rows/accounts_user.jsonl", lambda rows: b"{}\n", "is damaged: rows/accounts_user"),
    "cut off": (None, None, "not a whole one"),
}  # fmt: skip


@pytest.mark.once
@pytest.mark.parametrize("name", REFUSED)
def test_a_backup_that_cannot_be_trusted_is_refused_and_leaves_nothing_to_start(backup, tmp_path, name):
    member, change, sentence = REFUSED[name]
    if member:
        rewritten(backup, member, change)
    else:
        os.truncate(backup, backup.stat().st_size - 100)

    refused = karat("restore", backup, env=on(tmp_path / "data"))

    assert refused.returncode == 2
    assert sentence in refused.stderr
    assert "Traceback" not in refused.stderr
    assert [path.name for path in (tmp_path / "data").glob("*")] in ([], ["up.lock"])


@pytest.mark.once
def test_a_folder_with_anything_in_it_is_left_alone(backup, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "notes.txt").write_text("mine")

    refused = karat("restore", backup, env=on(data))

    assert refused.returncode == 2
    assert refused.stderr.startswith(f"{data} is not empty. Nothing was restored")
    assert [path.name for path in data.iterdir()] == ["notes.txt"]


@pytest.mark.once
def test_where_a_restore_has_not_finished_karat_does_not_start(tmp_path):
    (tmp_path / "restoring").write_text("")

    refused = karat("up", "--port", "0", env=environment(tmp_path))

    assert refused.returncode == 2
    assert refused.stderr.startswith(f"A restore into {tmp_path} has not finished. Run the same `karat restore` again")


@pytest.mark.once
def test_without_the_keys_of_the_server_history_is_signed_anew(backup, tmp_path):
    env = {name: value for name, value in on(tmp_path / "data").items() if name not in {KEY, "SECRET_KEY"}}

    told = done("restore", backup, env=env)
    before = karat("verify-audit", env=env)
    done("verify-audit", "--sign", env=env)

    assert "The backup has no keys of the server" in told
    assert before.returncode == 1
    assert "is not signed with the key of this installation" in before.stdout


@pytest.mark.once
def test_a_backup_is_verified_by_restoring_it(backup, tmp_path):
    assert "every digest the same" in done("verify-backup", backup, env=on(tmp_path / "data"))

    rewritten(backup, "rows/judging_judgement.jsonl", lambda rows: rows.partition(b"\n")[2])
    refused = karat("verify-backup", backup, env=on(tmp_path / "data"))

    assert refused.returncode == 1
    assert "The table judging_judgement has" in refused.stderr


@pytest.mark.once
def test_nothing_is_overwritten_by_a_backup(older):
    refused = karat("backup", older / "older.zip", env=on(older))

    assert refused.returncode == 2
    assert "exists already. Choose another name; nothing is overwritten" in refused.stderr


@pytest.mark.once
@pytest.mark.parametrize(("to", "sentence"), [
    ("mysql://localhost/karat", "Write --to as postgres://"),
    ("sqlite:///{here}", "This is the database that Karat uses already"),
    ("postgres://nobody@127.0.0.1:1/nothing", "The database does not take it. Nothing was restored."),
])  # fmt: skip
def test_a_move_that_cannot_be_is_refused(older, to, sentence):
    refused = karat("move", "--to", to.format(here=older / "karat.sqlite3"), env=on(older))

    assert refused.returncode == 2
    assert sentence in refused.stderr
    assert "Traceback" not in refused.stderr
