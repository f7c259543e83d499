"""Upgrades the database to this version: what it takes is told, a backup is made, and then the migrations are applied.

Data of a newer version is never touched.
"""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from apps.backups.execution.making import make_backup
from apps.backups.selectors.reading import applied_migrations
from apps.common.database.schema import refuse_older, renamed
from apps.common.errors import Refusal

COPIES_OF_SQLITE = 2
"""Its file is copied, and a table that gets a new constraint is written anew, which may be nearly all of it."""
BYTES_A_SECOND = {"sqlite": 50_000_000, "postgresql": 10_000_000}
"""Rates at which a database of this kind is backed up and upgraded, of an ordinary disk."""
MIGRATION_SECONDS = 0.2


class UpgradePlan(NamedTuple):
    """What an upgrade does. `migrations` are names with their app; `has_data` is False for a database without tables.

    `needs` and `free` are bytes, `seconds` an estimate.
    """

    migrations: list[str]
    has_data: bool
    needs: int
    free: int
    seconds: int

    @property
    def lines(self) -> list[str]:
        """What an operator wants to know before."""
        n = len(self.migrations)
        if not self.has_data:
            return ["The database is empty: its tables are created. Is it the right one? See KARAT_DATA_DIR."]
        return [
            f"The database is upgraded by {n} migration{'s' if n != 1 else ''}: {', '.join(self.migrations)}.",
            f"Before that it is backed up. Both need up to {megabytes(self.needs)} of disk, of {megabytes(self.free)} "
            f"that are free, and about {self.seconds} s.",
        ]


def plan_upgrade(*, data_dir: Path) -> UpgradePlan:
    """What `upgrade` would do now; without migrations there is nothing to do.

    Raises Refusal for data that is too old, and for data of a newer version.
    """
    applied = applied_migrations()
    refuse_older(applied)
    executor = MigrationExecutor(connection)
    unknown = sorted(renamed(applied) - set(executor.loader.disk_migrations))
    if unknown:
        raise Refusal(
            f"The data in {data_dir} was written by a newer Karat ({' '.join(unknown[-1])}). Nothing was changed. "
            f"Install that version again, or restore a copy from {data_dir / 'backups'}.",
            code="schema_newer",
        )
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    size = database_size()
    return UpgradePlan(
        migrations=[f"{migration.app_label} {migration.name}" for migration, _ in pending],
        has_data=bool(applied),
        needs=size * COPIES_OF_SQLITE if connection.vendor == "sqlite" else size,
        free=shutil.disk_usage(existing(data_dir)).free,
        seconds=round(1 + MIGRATION_SECONDS * len(pending) + size / BYTES_A_SECOND[connection.vendor]),
    )


def upgrade(*, data_dir: Path, at: datetime, say: Callable[[str], None]) -> Path | None:
    """Apply pending migrations and return the backup made before, or None when there was nothing to back up.

    Raises Refusal where the data is too old or of a newer Karat, where its database was lost, and where there is no
    room for the backup; nothing is changed then.
    """
    cache.clear()  # figures of another version of Karat, or of a database that was replaced meanwhile
    plan = plan_upgrade(data_dir=data_dir)
    if not plan.migrations:
        return None
    if reason := lost_database(plan):
        raise Refusal(reason, code="database_lost")
    backup = None
    if plan.has_data:
        for line in plan.lines:
            say(line)
        if plan.needs > plan.free:
            raise Refusal(
                f"There is no room for the backup before the upgrade: it needs {megabytes(plan.needs)}, and {data_dir} "
                f"has {megabytes(plan.free)} free. Make room there. Nothing was changed.",
                code="no_room",
            )
        backup = back_up_before(data_dir / "backups", at=at)
    call_command("migrate", interactive=False, verbosity=0)
    return backup


def lost_database(plan: UpgradePlan) -> str:
    """Why no new tables are made: the data directory has a history, and the database is empty. "" otherwise."""
    folder: Path | None = settings.AUDIT_HEADS
    if plan.has_data or folder is None or not any(folder.glob("*.json")):
        return ""
    return (
        f"The database is empty, and {folder} has the history of one that was not. If it was lost, or a move was "
        "interrupted, run `karat restore` or `karat move` again. To begin anew, choose another data directory."
    )


def back_up_before(folder: Path, *, at: datetime) -> Path:
    """Back up the database, readable by nobody else: an SQLite file as it is, PostgreSQL as `karat backup` does."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    name = f"karat-{at:%Y%m%d-%H%M%S}-before-upgrade"
    if connection.vendor != "sqlite":
        return Path(make_backup(folder / f"{name}.zip", at=at, with_files=False).path)
    target = folder / f"{name}.sqlite3"
    target.touch(mode=0o600)
    source = f"file:{connection.settings_dict['NAME']}?mode=ro"
    with closing(sqlite3.connect(source, uri=True)) as here, closing(sqlite3.connect(target)) as there:
        here.backup(there)
    return target


def existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there: the first command on a machine comes before it."""
    return next(place for place in (folder, *folder.parents) if place.is_dir())


def database_size() -> int:
    """Bytes on the disk."""
    sizes = {
        "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
        "postgresql": "SELECT pg_database_size(current_database())",
    }
    with connection.cursor() as cursor:
        cursor.execute(sizes[connection.vendor])
        return int(cursor.fetchone()[0])


def megabytes(size: int) -> str:
    """ "1,234 MB", at least 1."""
    return f"{max(1, round(size / 1e6)):,} MB"
