"""The test's database: copied from a migrated template, emptied between tests with every guard in place, and filled
from a world that the run has built once.

Migrating takes longer than most files of tests. SQLite's template is kept in pytest's cache under a name made of what
decides how it looks; PostgreSQL's lives as long as the run and is copied by the server.
"""

import fcntl
import functools
import hashlib
import os
import pickle
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from tests.environment import RUN

T = TypeVar("T")
REPO = Path(__file__).resolve().parent.parent
DECIDES = ("apps/*/migrations/*.py", "apps/**/models*.py", "apps/**/models/*.py", "apps/**/enums.py")
DECIDES += ("apps/common/database/*.py", "apps/config/settings.py", "requirements.lock")


def create(cache: Path) -> None:
    """Makes the database of this process and points the connection at it."""
    name = settings.DATABASES["default"]["TEST"]["NAME"]
    if connection.vendor == "sqlite":
        shutil.copyfile(_sqlite_template(cache), name)
        _use(name)
    else:
        template = _postgresql_template()
        _on_server(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        # A server that loses its power loses tests that are over; nothing waits for the disk.
        connection.settings_dict["OPTIONS"]["options"] += " -c synchronous_commit=off"
        _use(name)
    connection.ensure_connection()


def destroy() -> None:
    name = connection.settings_dict["NAME"]
    connection.close()
    if connection.vendor == "sqlite":
        for suffix in ("", "-wal", "-shm"):
            Path(f"{name}{suffix}").unlink(missing_ok=True)
    else:
        _on_server(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def destroy_template() -> None:
    """Drops what the processes of this run copied from. Only the process that started them knows when they are done."""
    if connection.vendor == "postgresql":
        made = _on_server(f"SELECT datname FROM pg_database WHERE starts_with(datname, '{_name_of_world()}')")
        for name in (_template_name(), *(name for (name,) in made)):
            _on_server(f'DROP DATABASE IF EXISTS "{name}"')


def empty(cache: Path) -> None:
    """Takes away what a test committed. No trigger is dropped: a guard that this loses would be lost to later tests."""
    if connection.vendor == "sqlite":
        _fill_from(_sqlite_template(cache))
    else:
        _delete_rows()


@contextmanager
def world(name: str, build: Callable[[], T], cache: Path) -> Iterator[T]:
    """What `build` made and committed, with its rows and files. The database is empty before and after."""
    yield lay(name, build)
    empty(cache)


def lay(name: str, build: Callable[[], T]) -> T:
    """Puts what `build` makes in the place of everything that is there, and returns what it returned.

    The first process that wants it builds it and all others copy it; `build` returns something to pickle.
    """
    kept, files = RUN / f"world-{name}", Path(settings.MEDIA_ROOT)
    with _alone(f"world-{name}"):
        if not kept.exists():
            new = RUN / f"new-world-{name}"
            new.mkdir()
            made = build()
            (new / "value").write_bytes(pickle.dumps(made))
            shutil.copytree(files, new / "files") if files.exists() else (new / "files").mkdir()
            _keep_rows(name, new / "rows.sqlite3")
            new.rename(kept)
            return made
        if connection.vendor == "postgresql":  # which copies a database that nobody else copies from
            _fill_from_database(_name_of_world(name))
    shutil.copytree(kept / "files", files, dirs_exist_ok=True)
    if connection.vendor == "sqlite":
        _fill_from(kept / "rows.sqlite3")
    return pickle.loads((kept / "value").read_bytes())


def _keep_rows(name: str, file: Path) -> None:
    """Copies the database as it is: SQLite's to this file, PostgreSQL's to a database beside it."""
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(file)) as copy:
            connection.ensure_connection()
            connection.connection.backup(copy)
    else:
        connection.close()
        _on_server(f'CREATE DATABASE "{_name_of_world(name)}" TEMPLATE "{connection.settings_dict["NAME"]}"')


def _fill_from_database(name: str) -> None:
    """Makes the database the same as that of this name, as it was created."""
    own = connection.settings_dict["NAME"]
    connection.close()
    _on_server(f'DROP DATABASE "{own}" WITH (FORCE)')
    _on_server(f'CREATE DATABASE "{own}" TEMPLATE "{name}"')


def _fill_from(file: Path) -> None:
    """Makes the database the same as `file`, page by page: rows, numbers to come, search index, guards."""
    connection.ensure_connection()
    with closing(sqlite3.connect(file)) as source:
        source.backup(connection.connection)


def _use(name: str | Path) -> None:
    connection.close()
    settings.DATABASES["default"]["NAME"] = name
    connection.settings_dict["NAME"] = name


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """One process of all at a time."""
    with (RUN / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _sqlite_template(cache: Path) -> Path:
    path = cache / f"template-{_digest()}.sqlite3"
    if path.exists():
        return path
    with _alone(f"karat-template-{_digest()}"):
        if not path.exists():
            for old in cache.glob("template-*"):
                old.unlink()
            new = cache / f"new-{os.getpid()}.sqlite3"
            _use(new)
            _migrate()
            connection.close()
            new.rename(path)
    return path


@functools.cache
def _digest() -> str:
    """Names what the tables, their guards and the rows that migrating writes depend on."""
    digest = hashlib.sha256()
    for pattern in DECIDES:
        for path in sorted(REPO.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _postgresql_template() -> str:
    name = _template_name()
    with _alone(name):
        if not _on_server(f"SELECT 1 FROM pg_database WHERE datname = '{name}'"):
            _on_server(f'CREATE DATABASE "{name}"')
            _use(name)
            _migrate()
            connection.close()
    return name


def _template_name() -> str:
    return f"test_{RUN.name}_template"


def _name_of_world(name: str = "") -> str:
    return f"test_{RUN.name}_world_" + (hashlib.sha256(name.encode()).hexdigest()[:16] if name else "")


def _migrate() -> None:
    call_command("migrate", verbosity=0, interactive=False, run_syncdb=True)


def _on_server(statement: str) -> list[tuple]:
    with connection._nodb_cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []


def _delete_rows() -> None:
    """Deletes with the server's own switch for replaying, which needs a superuser and keeps foreign keys quiet too."""
    from django.contrib.auth.models import Permission
    from django.contrib.contenttypes.models import ContentType

    kept = {Permission._meta.db_table, ContentType._meta.db_table, "django_migrations"}
    with connection.cursor() as cursor:
        tables = [name for name in connection.introspection.table_names(cursor) if name not in kept]
        held = " UNION ALL ".join(f"(SELECT '{name}' FROM \"{name}\" LIMIT 1)" for name in tables)
        cursor.execute(held)
        full = [name for (name,) in cursor.fetchall()]
        cursor.execute("SET session_replication_role = replica")
        try:
            for name in full:
                cursor.execute(f'DELETE FROM "{name}"')
        finally:
            cursor.execute("SET session_replication_role = origin")
