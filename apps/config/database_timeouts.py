"""How long a web server and a worker wait for the database, and how long their connections to it stay open."""

import sqlite3
from pathlib import Path

from django.conf import settings
from django.db import connections

_open_connections: list[sqlite3.Connection] = []

SQLITE = "apps.common.database.sqlite"
WEB_CACHE_KIB = 4096
"""SQLite's cache of each thread. A larger one is of little use: each commit of the worker empties it."""
WORKER_SECONDS = 600
CONNECTION_SECONDS = 600
"""After this time a web thread opens a new connection to PostgreSQL: the server process of the old one has grown."""


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
    """A worker waits ten minutes for SQLite's lock, so that it does not lose its work."""
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
