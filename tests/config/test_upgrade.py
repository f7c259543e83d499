import sqlite3
from contextlib import closing

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from apps.config import upgrade as upgrading
from apps.config.upgrade import UnknownSchema, back_up_sqlite, upgrade
from tests.factories import AT, make_project


@pytest.mark.django_db
def test_a_database_that_is_up_to_date_is_left_alone(tmp_path):
    assert upgrade(data_dir=tmp_path, at=AT) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.django_db(transaction=True)
def test_before_an_upgrade_a_whole_copy_is_made(tmp_path, monkeypatch):
    if connection.vendor != "sqlite":
        pytest.skip("on PostgreSQL the operator makes the copies")
    make_project("Handbook")
    called = []
    monkeypatch.setattr(upgrading, "call_command", lambda *args, **options: called.append(args))
    ((_, last),) = MigrationLoader(None).graph.leaf_nodes("jobs")
    MigrationRecorder(connection).record_unapplied("jobs", last)
    try:
        copy = upgrade(data_dir=tmp_path, at=AT)
    finally:
        MigrationRecorder(connection).record_applied("jobs", last)

    assert called == [("migrate",)]
    assert copy == tmp_path / "backups" / "karat-20260302-090000-before-upgrade.sqlite3"
    assert copy.stat().st_mode & 0o077 == copy.parent.stat().st_mode & 0o077 == 0
    with closing(sqlite3.connect(copy)) as there:
        assert there.execute("SELECT name FROM accounts_project").fetchall() == [("Handbook",)]


@pytest.mark.django_db
def test_a_schema_that_this_version_does_not_know_is_refused(tmp_path):
    MigrationRecorder(connection).record_applied("corpus", "9999_later")

    with pytest.raises(UnknownSchema, match="corpus 9999_later"):
        upgrade(data_dir=tmp_path, at=AT)


@pytest.mark.django_db
def test_there_is_no_copy_of_another_database(tmp_path):
    if connection.vendor == "sqlite":
        pytest.skip("this is about PostgreSQL")

    assert back_up_sqlite(tmp_path, at=AT) is None
