"""Whether the tables are those of this version, by the names of migrations; and tables that name one another."""

import pytest
from django.db import DatabaseError, connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState

from apps.common.database import schema
from apps.common.database.schema import FITS, CreateTables, SchemaGap, refuse_older, renamed, schema_gap
from apps.common.errors import Refusal
from tests.test_statements import Statements

pytestmark = pytest.mark.django_db(transaction=True)

OURS, OF_TOMORROW = ("backups", "0001_initial"), ("tomorrow", "0001_initial")


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


TABLES = ("audit", "0001_tables")
THEIRS = {("audit", "0001_initial"), ("audit", "0003_leaner_indexes"), ("audit", "0005_moved_chains")}


def test_a_migration_that_replaces_others_is_there_where_all_of_them_are():
    applied = set(MigrationRecorder(connection).applied_migrations())
    assert applied > THEIRS

    assert renamed(applied) == renamed(applied - {TABLES}) == schema._known()
    assert renamed(applied - THEIRS) == schema._known() - {TABLES}


def test_a_database_with_only_some_of_them_is_older_than_the_oldest_that_is_upgraded(do):
    applied = set(MigrationRecorder(connection).applied_migrations())
    refuse_older(applied)
    refuse_older(applied - THEIRS)  # as a first start leaves it that is cut off between two migrations
    refuse_older(())

    for name in THEIRS:
        with pytest.raises(Refusal, match="This data is older than commit e3b857af of Karat"):
            refuse_older(applied - {name})

    remove(do, max(THEIRS))
    assert schema_gap() == SchemaGap([TABLES], [])
    assert schema_gap().words == "older than this version of Karat"


def test_tables_that_name_one_another_are_created_together_and_go_together():
    key = ("id", models.BigAutoField(primary_key=True))
    apple = ("apple", models.ForeignKey("fruit.Apple", models.CASCADE, null=True))
    tree = ("tree", models.ForeignKey("fruit.Tree", models.CASCADE))
    of_both = [migrations.CreateModel("Tree", [key, apple]), migrations.CreateModel("Apple", [key, tree])]
    operation = CreateTables(of_both)
    before = ProjectState()
    assert not before.apps.get_models()  # its classes are made, and are made anew
    after = before.clone()
    operation.state_forwards("fruit", after)

    with connection.schema_editor() as editor:
        operation.database_forwards("fruit", editor, before, after)
    trees, apples = after.apps.get_model("fruit", "Tree").objects, after.apps.get_model("fruit", "Apple").objects
    trees.update(apple=apples.create(tree=trees.create()))
    assert trees.get().apple.tree == trees.get()
    apples.all().delete()

    with connection.schema_editor() as editor:
        operation.database_backwards("fruit", editor, after, before)
    assert not {"fruit_tree", "fruit_apple"} & {*connection.introspection.table_names()}
