"""Upgrades the database to this version: after a backup, and never over data of a newer version."""

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


class UnknownSchema(Exception):
    """The database holds migrations that this version does not know."""


def upgrade(*, data_dir: Path, at: datetime) -> Path | None:
    """Apply pending migrations and return the backup made before, or None when there was nothing to copy.

    Raises UnknownSchema, having changed nothing, when the data is from a newer Karat.
    """
    cache.clear()  # figures of another version of Karat, or of a database that was replaced meanwhile
    executor = MigrationExecutor(connection)
    unknown = sorted(set(executor.loader.applied_migrations) - set(executor.loader.disk_migrations))
    if unknown:
        app, name = unknown[-1]
        raise UnknownSchema(f"{app} {name}")
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return None
    copy = back_up_sqlite(data_dir / "backups", at=at) if executor.loader.applied_migrations else None
    call_command("migrate", interactive=False, verbosity=0)
    return copy


def back_up_sqlite(folder: Path, *, at: datetime) -> Path | None:
    """Back up the SQLite database consistently, readable by nobody else; None for another database."""
    if connection.vendor != "sqlite":
        return None
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    target = folder / f"karat-{at:%Y%m%d-%H%M%S}-before-upgrade.sqlite3"
    target.touch(mode=0o600)
    source = f"file:{connection.settings_dict['NAME']}?mode=ro"
    with closing(sqlite3.connect(source, uri=True)) as here, closing(sqlite3.connect(target)) as there:
        here.backup(there)
    return target
