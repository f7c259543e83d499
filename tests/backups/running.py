"""Commands as an operator runs them, and Python: in processes of their own, each on its own data."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from django.db import connection

from apps.backups.formats.archive import Archive
from tests.conftest import REPO

DATA = REPO / "tests" / "config" / "data"
KEY = "KARAT_AUDIT_KEY"
OWN = ("DATABASE_URL", "BROKER_URL", "KARAT_DATA_DIR", "KARAT_AUDIT_HEADS")


def environment(data_dir: Path, database_url: str = "", **more: str) -> dict[str, str]:
    """Of a server on this data directory, with the tests' audit key."""
    there = {name: value for name, value in os.environ.items() if name not in OWN}
    there |= {"KARAT_DATA_DIR": str(data_dir), "DJANGO_SETTINGS_MODULE": "apps.config.settings", **more}
    return there | {"DATABASE_URL": database_url} if database_url else there


def on(folder: Path, address: str = "") -> dict[str, str]:
    """Of a server with the key of the older one."""
    return environment(folder, address, **{KEY: (DATA / "e3b857af.audit-key").read_text().strip()})


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "apps.config.commandline", *map(str, arguments)]


def karat(*arguments: object, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), cwd=REPO, env=env, capture_output=True, text=True)


def python(code: str, *arguments: object, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run some code."""
    words = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(words, cwd=REPO, env=env, capture_output=True, text=True)


def done(*arguments: object, env: dict[str, str]) -> str:
    """The output of a command that has to succeed."""
    result = karat(*arguments, env=env)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def rows_in(archive: Archive, table: str) -> list[dict[str, Any]]:
    """The rows of a table in a backup, each by column."""
    columns = [column.name for column in archive.manifest.tables[table].table.columns]
    return [dict(zip(columns, row, strict=True)) for row in archive.rows(table)]


def address_of_tests() -> str:
    """The database of this test, as another process names it; "" for SQLite in its data directory."""
    here = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{here['NAME']}"
    password = f":{here['PASSWORD']}" if here["PASSWORD"] else ""
    return f"postgres://{here['USER']}{password}@{here['HOST']}:{here['PORT']}/{here['NAME']}"


@contextmanager
def empty_postgresql() -> Iterator[str]:
    """The address of an empty database on the server of the tests, for as long as the block lasts."""
    name = f"karat_restored_{uuid4().hex[:12]}"
    address = address_of_tests().rpartition("/")[0]
    with psycopg.connect(f"{address}/postgres", autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        try:
            yield f"{address}/{name}"
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@contextmanager
def empty_target(folder: Path) -> Iterator[str]:
    """An empty database of the kind that this run tests, by its address; "" for SQLite in the data directory."""
    if connection.vendor == "sqlite":
        yield ""
    else:
        with empty_postgresql() as address:
            yield address
