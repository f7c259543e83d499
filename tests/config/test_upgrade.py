import json
import lzma
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from apps.backups.formats.archive import Archive
from apps.common.errors import Refusal
from apps.config import upgrade as upgrading
from apps.config.upgrade import plan_upgrade, upgrade
from tests.backups.running import DATA, KEY, done, environment, karat, python, rows_in
from tests.factories import AT, make_project

pytestmark = pytest.mark.slow


@pytest.mark.django_db
def test_a_database_that_is_up_to_date_is_left_alone(tmp_path):
    assert upgrade(data_dir=tmp_path / "not" / "there", at=AT, say=print) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.django_db(transaction=True)
def test_before_an_upgrade_a_whole_copy_is_made(tmp_path, monkeypatch, pending):
    make_project("Handbook")
    called, told = [], []
    monkeypatch.setattr(upgrading, "call_command", lambda *args, **options: called.append(args))

    copy = upgrade(data_dir=tmp_path, at=AT, say=told.append)

    assert called == [("migrate",)]
    assert copy.stem == "karat-20260302-090000-before-upgrade"
    assert copy.stat().st_mode & 0o077 == copy.parent.stat().st_mode & 0o077 == 0
    assert names_of_projects(copy) == ["Handbook"]
    assert told[0] == f"The database is upgraded by 1 migration: {pending}."
    assert told[1].startswith("Before that it is backed up. Both need up to ")


def names_of_projects(copy: Path) -> list[str]:
    if connection.vendor == "postgresql":
        with Archive(copy) as archive:
            return [row["name"] for row in rows_in(archive, "accounts_project")]
    with closing(sqlite3.connect(copy)) as there:
        return [name for (name,) in there.execute("SELECT name FROM accounts_project")]


@pytest.fixture
def pending() -> Iterator[str]:
    """A migration that changes no table, which the database says it does not have."""
    ((app, last),) = MigrationLoader(None).graph.leaf_nodes("judging")
    MigrationRecorder(connection).record_unapplied(app, last)
    yield f"{app} {last}"
    MigrationRecorder(connection).record_applied(app, last)


@pytest.mark.django_db
def test_a_schema_that_this_version_does_not_know_is_refused(tmp_path):
    MigrationRecorder(connection).record_applied("corpus", "9999_later")

    with pytest.raises(Refusal, match=r"newer Karat \(corpus 9999_later\)"):
        upgrade(data_dir=tmp_path, at=AT, say=print)


@pytest.mark.django_db(transaction=True)
def test_without_room_for_the_backup_nothing_is_changed(tmp_path, monkeypatch, pending):
    monkeypatch.setattr(upgrading.shutil, "disk_usage", lambda _: SimpleNamespace(free=1_000))

    with pytest.raises(Refusal, match="There is no room for the backup before the upgrade"):
        upgrade(data_dir=tmp_path, at=AT, say=print)

    assert plan_upgrade(data_dir=tmp_path).migrations == [pending]
    assert list(tmp_path.iterdir()) == []


OLDER = DATA / "e3b857af.sqlite3.xz"
"""Two released versions of a gold set, a draft, a redacted text and accepted questions, made by the real actions, and
upgraded to its tables by commit e3b857af, the oldest that this version upgrades. The key beside it sealed history."""
UPGRADE = """
import sys, django
from pathlib import Path
django.setup()
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone
from apps.config.upgrade import upgrade
print(upgrade(data_dir=settings.DATA_DIR, at=timezone.now(), say=print))
call_command("verify_audit")
call_command("export", project="handbook", gold_version="handbook/v2", out=Path(sys.argv[1]))
call_command("verify_audit")
"""


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory) -> Path:
    """A data directory of the older schema after an upgrade, an audit and an export, each by the real command."""
    folder = tmp_path_factory.mktemp("older")
    (folder / "karat.sqlite3").write_bytes(lzma.decompress(OLDER.read_bytes()))
    (folder / "audit-key").write_bytes((DATA / "e3b857af.audit-key").read_bytes())
    env = {name: value for name, value in environment(folder).items() if name != KEY}
    ended = python(UPGRADE, folder / "export", env=env)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return folder


def counts(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as there:
        tables = there.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        names = [name for (name,) in tables if not name.startswith(("corpus_search_", "django_migrations"))]
        return {name: there.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0] for name in names}


def test_an_upgrade_keeps_every_row_of_the_older_schema(upgraded, tmp_path):
    (tmp_path / "older.sqlite3").write_bytes(lzma.decompress(OLDER.read_bytes()))
    before, after = counts(tmp_path / "older.sqlite3"), counts(upgraded / "karat.sqlite3")
    written_since = {"audit_event", "auth_permission", "django_content_type"}  # of the export, and of new tables

    assert {name: after[name] for name in before if name not in written_since} == {
        name: number for name, number in before.items() if name not in written_since
    }
    assert after["audit_event"] == before["audit_event"] + 2  # the export, and the look at test that it is
    with closing(sqlite3.connect(upgraded / "karat.sqlite3")) as there:
        named = "SELECT COUNT(*) FROM corpus_blockversion WHERE (metadata = '{}') <> (metadata_digest = '')"
        assert there.execute(named).fetchone() == (0,)
        assert there.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert there.execute("PRAGMA foreign_key_check").fetchall() == []


def test_an_upgrade_ends_with_the_tables_and_triggers_of_a_new_database(upgraded, tmp_path):
    assert done("upgrade", env=environment(tmp_path)) == "The tables were created.\n"

    assert schema_of(upgraded / "karat.sqlite3") == schema_of(tmp_path / "karat.sqlite3")


def schema_of(path: Path) -> dict[str, object]:
    """The SQL of all that there is, tables as sets of columns and constraints: a later column stands at the end."""
    with closing(sqlite3.connect(path)) as there:
        found = there.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    return {name: parts_of(sql) if kind == "table" else sql for kind, name, sql in found}


def parts_of(table: str) -> set[str]:
    plain = table.replace('"', "").replace("DEFAULT false", "DEFAULT 0")
    return {part.strip() for part in re.split(r",(?![^()]*\))", plain.partition("(")[2].removesuffix(")"))}


def test_a_version_that_was_released_before_an_upgrade_is_exported_with_the_same_bytes(upgraded):
    released = json.loads((DATA / "e3b857af.json").read_text())

    now = {name: sha256((upgraded / "export" / name).read_bytes()).hexdigest() for name in released}

    assert now == released


def test_after_an_upgrade_the_guards_protect_the_existing_rows(upgraded):
    with closing(sqlite3.connect(upgraded / "karat.sqlite3")) as there:
        for table in ("judging_judgement", "corpus_blockversion", "goldsets_version", "audit_event"):
            with pytest.raises(sqlite3.IntegrityError, match="never replaced"):
                there.execute(f"REPLACE INTO {table} SELECT * FROM {table} WHERE id = (SELECT MIN(id) FROM {table})")
        signed = there.execute("SELECT COUNT(*) FROM audit_chain WHERE signature <> ''").fetchone()
    assert signed == (2,)


def test_the_command_shows_its_plan_and_changes_nothing(tmp_path):
    (tmp_path / "karat.sqlite3").write_bytes(lzma.decompress(OLDER.read_bytes()))
    env = environment(tmp_path)

    planned, again = (done("upgrade", "--plan", env=env) for _ in range(2))
    upgraded = done("upgrade", env=env)

    assert planned.startswith("The database is upgraded by ")
    assert planned.splitlines()[0] == again.splitlines()[0] == upgraded.splitlines()[0]
    assert "accounts 0009_plain_addresses" in planned
    assert "Upgraded. The backup from before: " in upgraded
    assert done("upgrade", env=env) == "The database is of this version. There is nothing to do.\n"


def test_an_older_database_is_refused_and_the_commit_named_that_has_to_start_first(tmp_path, tmp_path_factory):
    path, elsewhere = tmp_path / "karat.sqlite3", tmp_path_factory.mktemp("backup") / "older.zip"
    path.write_bytes(lzma.decompress(OLDER.read_bytes()))
    with closing(sqlite3.connect(path)) as there, there:
        there.execute("DELETE FROM django_migrations WHERE app = 'judging' AND name = '0011_deleted_projects'")
    before = schema_of(path), counts(path)

    for words in (("upgrade", "--plan"), ("upgrade",), ("migrate",), ("up", "--port", 0), ("backup", elsewhere)):
        refused = karat(*words, env=environment(tmp_path))
        assert (refused.returncode, "Traceback" in refused.stderr) == (2, False), refused.stderr
        assert "This data is older than commit e3b857af of Karat" in refused.stderr
        assert "Start that commit on it first" in refused.stderr

    assert (schema_of(path), counts(path)) == before
    assert not elsewhere.exists()
