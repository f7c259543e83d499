"""Whether the tables are those of this version: by the names of migrations, none of which is loaded."""

import pytest
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader

from apps.common.database import schema
from apps.common.database.schema import FITS, SchemaGap, schema_gap
from tests.test_statements import Statements

pytestmark = pytest.mark.django_db(transaction=True)

OURS, OF_TOMORROW = ("jobs", "0001_initial"), ("tomorrow", "0001_initial")


@pytest.fixture
def do(monkeypatch):
    """Runs statements; the list of applied migrations is put back afterwards."""
    monkeypatch.setattr(schema, "_fitting", set())
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, app, name, applied FROM django_migrations")
        before = cursor.fetchall()
        yield cursor.execute
        cursor.execute("DELETE FROM django_migrations")
        cursor.executemany("INSERT INTO django_migrations (id, app, name, applied) VALUES (%s, %s, %s, %s)", before)


def add(do, migration) -> None:
    do("INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, '2030-01-01')", migration)


def remove(do, migration) -> None:
    do("DELETE FROM django_migrations WHERE app = %s AND name = %s", migration)


def test_migrations_are_known_by_their_files_as_django_knows_them():
    assert schema._known() == set(MigrationLoader(connection).disk_migrations)


def test_the_database_of_this_version_fits(do):
    assert schema_gap() == FITS
    assert FITS.words == ""


def test_a_missing_migration_makes_it_older_and_an_unknown_one_newer(do):
    remove(do, OURS)
    assert schema_gap() == SchemaGap([OURS], [])
    assert schema_gap().words == "older than this version of Karat"

    add(do, OF_TOMORROW)
    assert schema_gap() == SchemaGap([OURS], [OF_TOMORROW])
    assert schema_gap().words == "newer than this version of Karat"


def test_that_it_fits_is_remembered_until_the_migrations_change(do):
    schema_gap()
    with Statements() as found:
        assert schema_gap() == FITS
    assert found.number == 1

    add(do, OF_TOMORROW)
    assert schema_gap() != FITS
    remove(do, OF_TOMORROW)
    assert schema_gap() == FITS


def test_an_empty_database_lacks_everything(do):
    do("ALTER TABLE django_migrations RENAME TO elsewhere")
    try:
        gap = schema_gap()
    finally:
        do("ALTER TABLE elsewhere RENAME TO django_migrations")

    assert (set(gap.missing), gap.unknown) == (schema._known(), [])


def test_a_database_that_does_not_answer_is_no_empty_one(do, monkeypatch):
    monkeypatch.setattr(schema, "SUMMARY", "SELECT nothing FROM django_migrations")

    with pytest.raises(DatabaseError):
        schema_gap()
