"""How servers hold on to the database."""

import sqlite3
from contextlib import closing

import pytest
from django.conf import settings

from apps.config import database_timeouts


@pytest.fixture
def databases(tmp_path, monkeypatch):
    """What a process has set, with SQLite in a folder of its own and PostgreSQL."""
    path = tmp_path / "karat.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE grade (value integer)")
    mine = {
        "sqlite": {"ENGINE": "apps.common.database.sqlite", "NAME": path, "OPTIONS": {"timeout": 20}},
        "postgresql": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": "karat",
            "CONN_MAX_AGE": 0,
            "OPTIONS": {"options": "-c search_path=karat"},
        },
    }

    class Connections:
        settings = mine

    monkeypatch.setattr(database_timeouts, "connections", Connections)
    monkeypatch.setattr(database_timeouts, "_open_connections", [])
    return mine


def test_a_worker_waits_long_and_keeps_no_connection(databases):
    database_timeouts.wait_as_a_worker()

    assert databases["sqlite"]["OPTIONS"]["timeout"] == 600
    assert databases["postgresql"]["CONN_MAX_AGE"] == 0


def test_a_web_server_gives_up_within_seconds_and_its_threads_keep_their_connections(databases):
    database_timeouts.wait_as_a_web_server()

    assert settings.DATABASE_PATIENCE_SECONDS == 8
    assert databases["postgresql"]["CONN_MAX_AGE"] == 600
    assert databases["sqlite"]["OPTIONS"] == {"timeout": 8.0, "init_command": "PRAGMA cache_size=-4096;"}
    assert databases["postgresql"]["OPTIONS"]["options"] == "-c search_path=karat -c lock_timeout=8000"


def test_the_files_that_readers_share_stay_when_the_last_reader_leaves(databases):
    path = databases["sqlite"]["NAME"]
    shared = path.with_name("karat.sqlite3-shm")
    assert not shared.exists()

    database_timeouts.keep_open()
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("SELECT * FROM grade")

    assert shared.exists()
    database_timeouts._open_connections.pop().close()
