"""Backups of the demo, restored into the kind of database that the run tests, and compared."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from apps.backups.execution.making import WrittenBackup, make_backup
from apps.backups.formats.archive import Archive, Manifest
from apps.backups.selectors.reading import PASSING
from apps.goldsets.models import Version
from apps.jobs.enums import PASSING_UPLOADS
from apps.jobs.models import Upload
from tests.backups.running import address_of_tests, done, empty_target, environment, karat

pytestmark = pytest.mark.slow
PASSPHRASE = "correct horse battery staple"


class Restored(NamedTuple):
    """A backup of the world, and the server that was restored from it.

    Some tests add to the history of both, and any of them may come first: what has to be compared as it was at the
    start is taken down here.
    """

    backup: WrittenBackup
    rows: dict[str, int]
    """How many each table of the world had."""
    folder: Path
    env: dict[str, str]
    output: str
    again: Manifest
    """Of a backup of the server that was restored."""


@pytest.fixture(scope="module")
def restored(world, tmp_path_factory) -> Iterator[Restored]:
    folder = tmp_path_factory.mktemp("restored")
    backup = make_backup(folder, at=timezone.now(), passphrase=PASSPHRASE)
    rows = {name: rows_here(name) for name in backup.manifest.tables}
    with empty_target(folder) as address:
        env = environment(folder / "data", address, KARAT_BACKUP_PASSPHRASE=PASSPHRASE)
        output = done("restore", backup.path, env=env)
        done("backup", folder / "again.zip", env=env)
        with Archive(folder / "again.zip") as again:
            yield Restored(backup, rows, folder / "data", env, output, again.manifest)


def test_a_backup_is_private_and_has_every_row_and_file(restored):
    manifest = restored.backup.manifest

    assert {name: stored.state.rows for name, stored in manifest.tables.items()} == restored.rows
    assert restored.backup.path.stat().st_mode & 0o077 == 0
    assert manifest.files.keys() == {
        upload.path for upload in Upload.objects.exclude(state="discarded").exclude(kind__in=PASSING_UPLOADS)
    }
    assert manifest.missing == []
    assert f"Restored: {manifest.rows:,} rows and {len(manifest.files):,} files" in restored.output


def test_every_table_is_carried_but_those_that_mean_nothing_elsewhere(restored):
    with connection.cursor() as cursor:
        there = set(connection.introspection.table_names(cursor))
    search = {name for name in there if name.startswith("corpus_search")}

    assert there - set(restored.backup.manifest.tables) == PASSING | search | {"django_migrations"}


def test_every_carried_table_has_a_number_as_its_key(restored):
    """Databases sort texts in different ways."""
    for stored in restored.backup.manifest.tables.values():
        [kind] = [column.kind for column in stored.table.columns if column.name == stored.table.key]
        assert kind == "integer", stored.table.name


def test_a_backup_of_what_was_restored_has_the_same_digest(restored):
    before, again = restored.backup.manifest, restored.again

    assert again.digest == before.digest
    keys, keys_before = ({name: t.next_key for name, t in each.tables.items()} for each in (again, before))
    assert keys == keys_before


def test_a_version_is_exported_with_the_same_bytes(restored, world, tmp_path, settings):
    version = Version.objects.filter(gold_set__project=world.project, released_at__isnull=False).order_by("pk").last()
    name = f"{version.gold_set.slug}/v{version.number}"
    here = environment(tmp_path / "here", address_of_tests(), SECRET_KEY=settings.SECRET_KEY)

    exported = {}
    for place, env in {"here": here, "there": restored.env}.items():
        folder = tmp_path / f"{place}-files"
        done("export", "--project", world.project.slug, "--version", name, "--out", folder, env=env)
        files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".sig"]
        exported[place] = {path.relative_to(folder): path.read_bytes() for path in files}

    assert exported["there"] == exported["here"]
    assert len(exported["there"]) > 5


def test_history_is_intact_with_the_same_heads(restored, world):
    there = json.loads(done("verify-audit", "--format", "json", env=restored.env))
    here = json.loads(done("verify-audit", "--format", "json", env=environment(restored.folder, address_of_tests())))

    assert [(chain["name"], chain["links"], chain["digest"], chain["broken"]) for chain in there] == [
        (chain["name"], chain["links"], chain["digest"], None) for chain in here
    ]


def test_the_keys_of_the_server_come_back_with_the_passphrase(restored, settings):
    assert (restored.folder / "secret-key").read_text().strip() == settings.SECRET_KEY
    assert (restored.folder / "audit-key").read_text().strip() == settings.AUDIT_KEY
    assert all(path.stat().st_mode & 0o077 == 0 for path in restored.folder.iterdir() if path.suffix != ".lock")


def test_a_restored_server_is_not_restored_over_nor_is_its_database_from_another_data_directory(restored, tmp_path):
    again = karat("restore", restored.backup.path, env=restored.env)

    assert again.returncode == 2
    assert "is not empty. Nothing was restored" in again.stderr
    if connection.vendor == "postgresql":  # SQLite's file would be another one
        elsewhere = restored.env | {"KARAT_DATA_DIR": str(tmp_path / "another")}
        again = karat("restore", restored.backup.path, env=elsewhere)
        assert again.returncode == 2
        assert "The database is not empty. Nothing was restored" in again.stderr
        assert not (tmp_path / "another" / "secret-key").exists()


SCHEMAS = {
    "sqlite": "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name",
    "postgresql": """
        SELECT 'trigger', tgname, tgenabled::text || pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
        UNION ALL SELECT 'index', indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
        UNION ALL SELECT 'constraint', conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2, 3""",
}
"""Everything that watches over rows, as the database has written it down."""


def test_every_trigger_index_and_constraint_is_there_again(restored):
    with connection.cursor() as cursor:
        cursor.execute(SCHEMAS[connection.vendor])
        here = cursor.fetchall()

    assert rows_there(restored, SCHEMAS[connection.vendor]) == here


def test_people_tokens_and_the_search_index_are_all_there_and_nobody_is_signed_in(restored):
    for table in ("accounts_user", "accounts_apitoken", "corpus_searched"):
        assert rows_there(restored, f'SELECT COUNT(*) FROM "{table}"') == [(rows_here(table),)]
    assert rows_here("corpus_searched") > 0
    assert rows_there(restored, "SELECT COUNT(*) FROM django_session") == [(0,)]


def rows_here(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT COUNT(*) FROM "{table}"')
        [rows] = cursor.fetchone()
    return rows


def rows_there(restored: Restored, statement: str) -> list:
    if connection.vendor == "postgresql":
        with psycopg.connect(restored.env["DATABASE_URL"]) as there:
            return there.execute(statement).fetchall()
    with closing(sqlite3.connect(restored.folder / "karat.sqlite3")) as there:
        return there.execute(statement).fetchall()
