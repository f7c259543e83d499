"""Backups of an older schema, from the other kind of database, and those that must not be restored."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from apps.backups.formats.archive import Archive
from tests.backups.running import DATA, KEY, done, empty_postgresql, empty_target, environment, karat, on
from tests.conftest import REPO

pytestmark = pytest.mark.slow


def exported(folder: Path, env: dict[str, str]) -> dict[str, str]:
    """The digests of the released version's files."""
    done("export", "--project", "handbook", "--version", "handbook/v2", "--out", folder, env=env)
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}


def released() -> dict[str, str]:
    return json.loads((DATA / "e3b857af.json").read_text())


@pytest.mark.once
def test_a_backup_of_the_oldest_version_is_restored_and_upgraded(older, tmp_path):
    done("restore", older / "older.zip", env=on(tmp_path / "data"))

    assert released().items() <= exported(tmp_path / "files", on(tmp_path / "data")).items()
    assert "intact" in done("verify-audit", env=on(tmp_path / "data"))
    assert not karat("migrate", "--check", env=on(tmp_path / "data")).returncode
    assert karat("migrate", "--check", env=on(older / "data")).returncode == 1, "a backup does not change the database"


@pytest.mark.slow
@pytest.mark.django_db
def test_accounts_that_would_share_an_address_are_refused_by_name_until_one_has_another(older, tmp_path):
    """On the way to either database, and at the upgrade."""
    data = Path(shutil.copytree(older / "data", tmp_path / "data"))
    with closing(sqlite3.connect(data / "karat.sqlite3")) as own:
        people = [pk for (pk,) in own.execute("SELECT id FROM accounts_user ORDER BY id LIMIT 3")]
        for pk, email in zip(
            people, ["Isa@bücher.example", "isa@xn--bcher-kva.example", "ısa@example.org"], strict=True
        ):
            own.execute("UPDATE accounts_user SET email = ? WHERE id = ?", [email, pk])
        for email in ("ısb@example.org", "Bo@Bücher.example"):
            own.execute(
                "INSERT INTO accounts_invitation"
                " (email, name, roles, makes_operator, token_digest, created_at, expires_at)"
                " VALUES (?, '', '[]', 0, ?, '2026-01-01 00:00:00', '2099-01-01 00:00:00')",
                [email, email],
            )
        own.commit()

    with empty_target(tmp_path) as address:
        to = address or f"sqlite:///{tmp_path}/moved.sqlite3"
        for words in (("move", "--to", to), ("upgrade",)):
            refused = karat(*words, env=on(data))
            assert (refused.returncode, "Traceback" in refused.stderr) == (2, False), refused.stderr
            assert "(ısa@example.org)" in refused.stderr
            assert "Run `karat user address OLD NEW`" in refused.stderr
        done("user", "address", "ısa@example.org", "isa@example.org", env=on(data))
        refused = karat("upgrade", env=on(data))
        assert "(Isa@bücher.example)" in refused.stderr
        assert "(isa@xn--bcher-kva.example)" in refused.stderr
        done("user", "address", "Isa@bücher.example", "isa@bucher.example", env=on(data))

        done("upgrade", env=on(data))
        with closing(sqlite3.connect(data / "karat.sqlite3")) as own:
            invited = own.execute("SELECT email, revoked_at IS NULL FROM accounts_invitation ORDER BY id").fetchall()
        assert invited == [("", 0), ("bo@xn--bcher-kva.example", 1)]
        done("move", "--to", to, env=on(data))
        assert "isa@bucher.example" in done("user", "list", env=on(data, to))


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
        refused = karat("user", "list", env=on(data)).stderr
        assert "moved to postgres://" in refused
        assert "user and password" in refused
        assert "@" not in refused

        (data / "karat.sqlite3").rename(data / "left.sqlite3")
        done("move", "--to", "sqlite", env=on(data, address))
        at_home = on(data)
        assert done("verify-audit", "--format", "json", env=at_home)

    assert "the digest" in there
    assert released().items() <= exported(tmp_path / "back", at_home).items()
    assert not (data / "moving.zip").exists()


@pytest.mark.postgres
@pytest.mark.django_db
def test_a_backup_of_the_oldest_version_is_upgraded_on_postgresql(older, tmp_path):
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


def with_migrations(change: Callable[[list], object]) -> Callable[[bytes], bytes]:
    def rewrite(content: bytes) -> bytes:
        manifest = json.loads(content)
        change(manifest["migrations"])
        return json.dumps(manifest).encode()

    return rewrite


older_migrations = with_migrations(lambda known: known.remove(["judging", "0011_deleted_projects"]))
newer_migration = with_migrations(lambda known: known.append(["judging", "9999_later"]))


REFUSED = {
    "of a newer version": ("manifest.json", newer_migration, "A newer Karat wrote this data (judging 9999_later)"),
    "of a version that is too old": ("manifest.json", older_migrations, "This data is older than commit e3b857af"),
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
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "notes.txt").write_text("mine")

    refused = karat("restore", backup, env=on(tmp_path / "data"))

    assert refused.returncode == 2
    assert refused.stderr.startswith(f"{tmp_path}/data is not empty. Nothing was restored")
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["notes.txt"]


@pytest.mark.once
@pytest.mark.parametrize("words", [("up", "--port", "0"), ("user", "list"), ("verify-audit",), ("upgrade",)])
def test_where_a_restore_has_not_finished_nothing_else_runs(tmp_path, words):
    (tmp_path / "restoring").write_text("")

    refused = karat(*words, env=environment(tmp_path))

    assert refused.returncode == 2
    assert refused.stderr.startswith(f"A restore into {tmp_path} has not finished. Run the same `karat restore` again")
    assert [path.name for path in tmp_path.iterdir() if path.name != "up.lock"] == ["restoring"]


@pytest.mark.once
@pytest.mark.parametrize("is_begun", [False, True])
def test_what_a_command_makes_in_an_empty_folder_is_in_nobodys_way(backup, tmp_path, is_begun):
    """Any command makes keys, and a database without tables; one that somebody ran between two tries too."""
    data = tmp_path / "data"
    karat("user", "list", env=on(data))
    assert (data / "karat.sqlite3").exists()
    if is_begun:
        with Archive(backup) as archive:
            (data / "restoring").write_text(archive.manifest.digest)

    done("restore", backup, env=on(data))

    assert "intact" in done("verify-audit", env=on(data))


@pytest.mark.once
def test_where_history_is_and_its_database_is_not_no_new_one_is_begun(tmp_path):
    (tmp_path / "audit-heads").mkdir()
    (tmp_path / "audit-heads" / "site.json").write_text('{"length": 3, "digest": "0"}')

    for words in (("upgrade",), ("up", "--port", "0")):
        refused = karat(*words, env=environment(tmp_path))

        assert refused.returncode == 2
        assert refused.stderr.startswith(f"The database is empty, and {tmp_path}/audit-heads has the history of one")


@pytest.mark.once
def test_a_second_move_does_not_say_that_it_moved(older, tmp_path):
    data = tmp_path / "data"
    done("restore", older / "older.zip", env=on(data))
    done("move", "--to", f"sqlite:///{tmp_path}/there.sqlite3", env=on(data))

    assert "moved to" in karat("move", "--to", f"sqlite:///{tmp_path}/there.sqlite3", env=on(data)).stderr
    (data / "moved-to").unlink()
    again = karat("move", "--to", f"sqlite:///{tmp_path}/there.sqlite3", env=on(data))

    assert again.returncode == 2
    assert again.stderr == f"{tmp_path}/there.sqlite3 exists. Nothing was restored: choose an empty place.\n"


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.once
def test_nothing_works_on_a_database_that_was_left_until_it_is_moved_back(older, tmp_path):
    data, there = tmp_path / "data", f"sqlite:///{tmp_path}/there.sqlite3"
    done("restore", older / "older.zip", env=on(data))
    assert "Without it nothing starts" in done("move", "--to", there, env=on(data))

    by_name = on(data, f"sqlite:///{data}/karat.sqlite3")
    commands = [(on(data), "up", "--port", "0"), (on(data), "web"), (on(data), "worker"), (on(data), "user", "list")]
    for env, *words in (*commands, (by_name, "upgrade"), (by_name, "move", "--to", "sqlite")):
        refused = karat(*words, env=env)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.startswith(f"The database in {data} moved to {there}. Set DATABASE_URL to that address")
    celery = [sys.executable, "-m", *["celery", "--app", "apps.config.celery", "worker"]]
    ended = subprocess.run(celery, cwd=REPO, env=on(data), capture_output=True)
    assert ended.returncode
    assert f"moved to {there}".encode() in ended.stderr

    assert "exists. Nothing was restored" in karat("move", "--to", "sqlite", env=on(data, there)).stderr
    assert (data / "moved-to").exists()
    (data / "karat.sqlite3").rename(data / "left.sqlite3")
    assert "Without it" not in done("move", "--to", "sqlite", env=on(data, there))
    assert not list(data.glob("*moved-to"))
    assert "intact" in done("verify-audit", env=on(data))


@pytest.mark.once
def test_keys_in_a_backup_are_restored_or_left_out_by_choice(older, tmp_path):
    (tmp_path / "passphrase").write_text("correct horse battery\n")
    made = tmp_path / "made.zip"
    done("backup", made, "--with-secrets", "--passphrase-file", tmp_path / "passphrase", env=on(older / "data"))
    plain = {name: value for name, value in on(tmp_path / "data").items() if name not in {KEY, "SECRET_KEY"}}

    refused = karat("restore", made, env=plain)
    assert (refused.returncode, list((tmp_path / "data").glob("*"))) == (2, [])
    assert "Give their passphrase with --passphrase-file, or leave them out with --without-secrets" in refused.stderr

    assert "were not restored" in done("restore", made, "--without-secrets", env=plain)
    elsewhere = plain | {"KARAT_DATA_DIR": str(tmp_path / "elsewhere")}
    told = done("restore", made, "--passphrase-file", tmp_path / "passphrase", env=elsewhere)
    assert "were not restored" not in told
    assert "intact" in done("verify-audit", env=elsewhere)


NOT_MADE = {
    "to a folder that is missing": (("{older}/missing/",), "There is no folder"),
    "to a file in a folder that is missing": (("{older}/missing/a.zip",), "There is no folder"),
    "to a file of another kind": (("{older}/backups",), "name a file that ends in .zip"),
    "to the data directory": (("{older}/data/",), "is in the data directory itself"),
    "to a file in the data directory": (("{older}/data/files.zip",), "is in the data directory itself"),
    "over another": (("{older}/older.zip",), "exists already. Choose another name; nothing is overwritten"),
    "without a passphrase": (("{new}", "--with-secrets"), "To include the keys of the server, give a passphrase"),
    "with a short one": (("{new}", "--with-secrets", "--passphrase-file", "{short}"), "The passphrase is too short"),
    "with a missing one": (("{new}", "--with-secrets", "--passphrase-file", "{short}.none"), "No such file or dir"),
    "with a useless one": (("{new}", "--passphrase-file", "{short}"), "--passphrase-file is for --with-secrets"),
}


@pytest.mark.once
@pytest.mark.parametrize("how", NOT_MADE)
def test_no_backup_is_made(older, tmp_path, how):
    (tmp_path / "short").write_text("sesame\n")
    places = {"older": older, "new": tmp_path / "a.zip", "short": tmp_path / "short"}
    words, sentence = NOT_MADE[how]

    refused = karat("backup", *[word.format(**places) for word in words], env=on(older / "data"))

    assert refused.returncode == 2
    assert sentence in refused.stderr
    assert not (tmp_path / "a.zip").exists()


@pytest.mark.once
def test_without_the_keys_of_the_server_history_is_signed_anew(backup, tmp_path):
    env = {name: value for name, value in on(tmp_path / "data").items() if name not in {KEY, "SECRET_KEY"}}

    told = done("restore", backup, env=env)
    before = karat("verify-audit", env=env)
    done("verify-audit", "--sign", env=env)

    assert "The keys of the server were not restored" in told
    assert before.returncode == 1
    assert "is not signed with the audit key of this server" in before.stdout
    assert "accept the chains as they are: `karat verify-audit --sign`" in before.stderr


@pytest.mark.once
def test_a_backup_is_verified_by_restoring_it(backup, tmp_path):
    assert "every digest the same" in done("verify-backup", backup, env=on(tmp_path / "data"))

    of_another = {name: value for name, value in on(tmp_path / "other").items() if name not in {KEY, "SECRET_KEY"}}
    refused = karat("verify-backup", backup, env=of_another)
    assert refused.returncode == 1
    assert "every digest is the same. The heads of history are signed with the key of another server" in refused.stderr

    rewritten(backup, "rows/judging_judgement.jsonl", lambda rows: rows.partition(b"\n")[2])
    refused = karat("verify-backup", backup, env=on(tmp_path / "data"))
    assert refused.returncode == 1
    assert "The table judging_judgement has" in refused.stderr


@pytest.mark.once
@pytest.mark.parametrize(("to", "sentence"), [
    ("mysql://localhost/karat", "Write --to as postgres://"),
    ("sqlite:///{here}", "This is the database that Karat uses already"),
    ("foo", "Write --to as postgres://"),
    ("postgres://nobody@127.0.0.1:1/nothing", "The database does not take it. Nothing was restored."),
])  # fmt: skip
def test_a_move_that_cannot_be_is_refused(older, to, sentence):
    refused = karat("move", "--to", to.format(here=older / "data" / "karat.sqlite3"), env=on(older / "data"))

    assert refused.returncode == 2
    assert sentence in refused.stderr
    assert "Traceback" not in refused.stderr
