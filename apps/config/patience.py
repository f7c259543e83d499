"""How long web servers and workers wait for the database: people wait for one, nobody for the other."""

import sqlite3
from pathlib import Path

from django.conf import settings
from django.db import connections

from apps.common.web.process_counts import count_time_waited

_open_connections: list[sqlite3.Connection] = []

WEB_CROWD = 2
WEB_CACHE_KIB = 4096
"""Of SQLite's pages, for each thread: a commit by the worker empties it, and what it had is in the system's own."""
WORKER_SECONDS = 600
CONNECTION_SECONDS = 600
"""After this time a web thread replaces its connection to PostgreSQL, whose process grows with what it has prepared."""


def wait_as_a_web_server() -> None:
    """A request fails within seconds when the database is busy, and most threads stay free for reading.

    Each thread keeps its connection to PostgreSQL: there are few, and the one that worked last works first.
    """
    count_time_waited("web")
    seconds = settings.DATABASE_PATIENCE_SECONDS
    for database in connections.settings.values():
        options = database["OPTIONS"]
        if "patience" in options:
            options.update(patience=seconds, timeout=seconds, crowd=WEB_CROWD)
            options["init_command"] = f"{options.get('init_command', '')} PRAGMA cache_size=-{WEB_CACHE_KIB};".strip()
        elif database["ENGINE"] == "apps.common.database.postgresql":
            given = options.get("options", "")
            options["options"] = f"{given} -c lock_timeout={seconds * 1000:.0f}".strip()
            database["CONN_MAX_AGE"] = CONNECTION_SECONDS


def wait_as_a_worker() -> None:
    """A worker waits long for SQLite's lock, so that it does not lose its work."""
    count_time_waited("worker")
    for database in connections.settings.values():
        if "patience" in database["OPTIONS"]:
            database["OPTIONS"]["patience"] = WORKER_SECONDS


def keep_open() -> None:
    """Keep SQLite's shared files as long as this process lives.

    Closing the last connection removes them, and creating them needs room: on a full disk nobody could even read any
    more. The connection that stays open is idle and blocks nobody.
    """
    for database in connections.settings.values():
        if "patience" not in database["OPTIONS"] or not Path(database["NAME"]).is_file():
            continue
        connection = sqlite3.connect(database["NAME"], check_same_thread=False)
        connection.execute("PRAGMA user_version").fetchone()  # opens the files, and does not load the schema
        _open_connections.append(connection)
