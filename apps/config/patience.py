"""How long web servers and workers wait for the database: people wait for one, nobody for the other."""

import sqlite3
from pathlib import Path

from django.conf import settings
from django.db import connections

_open_connections: list[sqlite3.Connection] = []

SQLITE = "apps.common.database.sqlite"
WEB_CACHE_KIB = 4096
"""Of SQLite's pages, for each thread: a commit by the worker empties it, and what it had is in the system's own."""
WORKER_SECONDS = 600
CONNECTION_SECONDS = 600
"""After this time a web thread replaces its connection to PostgreSQL, whose process grows with what it has prepared."""


def wait_as_a_web_server() -> None:
    """A request fails within seconds when the database is busy. Each thread keeps its connection to PostgreSQL."""
    seconds = settings.DATABASE_PATIENCE_SECONDS
    for database in connections.settings.values():
        options = database["OPTIONS"]
        if database["ENGINE"] == SQLITE:
            options["timeout"] = seconds
            options["init_command"] = f"{options.get('init_command', '')} PRAGMA cache_size=-{WEB_CACHE_KIB};".strip()
        else:
            options["options"] = f"{options.get('options', '')} -c lock_timeout={seconds * 1000:.0f}".strip()
            database["CONN_MAX_AGE"] = CONNECTION_SECONDS


def wait_as_a_worker() -> None:
    """A worker waits long for SQLite's lock, so that it does not lose its work."""
    for database in connections.settings.values():
        if database["ENGINE"] == SQLITE:
            database["OPTIONS"]["timeout"] = WORKER_SECONDS


def keep_open() -> None:
    """Keep SQLite's shared files as long as this process lives.

    Closing the last connection removes them, and creating them needs room: on a full disk nobody could even read any
    more. The connection that stays open is idle and blocks nobody.
    """
    for database in connections.settings.values():
        if database["ENGINE"] != SQLITE or not Path(database["NAME"]).is_file():
            continue
        connection = sqlite3.connect(database["NAME"], check_same_thread=False)
        connection.execute("PRAGMA user_version").fetchone()  # opens the files, and does not load the schema
        _open_connections.append(connection)
