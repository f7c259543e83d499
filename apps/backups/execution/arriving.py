"""Takes a project from a file into a server that has others, under keys that are free here.

Everything is written in one transaction, files before it. The rows have passed the guards where they come from, and
meanwhile nobody else writes here. Before the end the history that comes along is verified from its first link, and
every frozen object by its digest.
"""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.apps import apps
from django.db import connection, models

from apps.accounts.models import Project
from apps.audit.core.numbering import Numbering
from apps.audit.execution.former_keys import table_of
from apps.audit.execution.sealing import former_chain_name
from apps.audit.selectors.sealed_kinds import kind_named
from apps.backups.core.renumbering import renumbered
from apps.backups.core.rows import Lines, Table
from apps.backups.execution.extracting import STAYS
from apps.backups.execution.loading import insert
from apps.backups.execution.unwatched import unwatched
from apps.backups.execution.writing import Progress
from apps.backups.formats.archive import Archive, NoBackup, StoredTable
from apps.backups.selectors.belonging import PROJECTS, belonging, count_rows
from apps.backups.selectors.keys import KEYS
from apps.common.database.bulk import chunks
from apps.jobs.actions.uploads import FOLDER
from apps.jobs.enums import ENDED, JobState

AT_ONCE = 1_000
LEFT_OUT = STAYS | {"agreement_readgrades", "gates_badge", "retrieval_loadedindex"}
"""What stays with the server that the project comes from: what lets somebody in there, copies that are made again, the
secret addresses of badges, and indexes in a search cluster, which that server drops when they are not needed."""

Fields = dict[str, Any]


class Newcomer(NamedTuple):
    """What is decided about a project that comes.

    `digest` is that of the file, and `members` are the people, by their keys there, who have an account here and keep
    their roles.
    """

    slug: str
    digest: str
    members: Collection[int]
    at: datetime

    def path_of(self, path: str) -> str:
        """Where a file of the project is here. An attempt that was killed had the same path, so it leaves nothing."""
        name = hashlib.sha256(f"{self.digest}\0{self.slug}\0{path}".encode()).hexdigest()[:32]
        return f"{FOLDER}/{self.at:%Y-%m}/{name}"


def arriving_tables() -> list[str]:
    """The tables of which rows come along, without that of people."""
    return [each.table for each in belonging() if each.table not in LEFT_OUT]


def distances_here() -> dict[str, int]:
    """What is added to the keys of each table, so that they are above all that were ever used here.

    Call it where nobody else writes to these tables. Tables that share a way to keys get the same.
    """
    distances = {table: _last_key(table) for table in arriving_tables()}
    for ways in KEYS.values():
        for tables in ways.values():
            if shared := [table for table in tables if table in distances]:
                distances |= dict.fromkeys(shared, max(distances[table] for table in shared))
    return distances


def take_rows(archive: Archive, numbering: Numbering, newcomer: Newcomer, *, progress: Progress) -> Project:
    """Write all rows of the project, within `only_writer`, and return it.

    Raises NoBackup for rows that are not those of the manifest, or that name others which are not in the file.
    """
    done = 0
    for name in reversed(arriving_tables()):
        stored = _stored(archive, name)
        for count in _take_table(archive, stored, numbering, newcomer):
            done += count
            progress("rows taken in", done, archive.manifest.rows)
        _set_next_key(stored, numbering.distances[name])
    [project] = archive.rows(PROJECTS)
    key = _fields(_stored(archive, PROJECTS).table, project)["id"]
    return Project.objects.get(pk=numbering.here(PROJECTS, key))


def only_writer() -> Any:
    """A transaction in which rows come without being looked at one by one, and nobody else writes."""
    return unwatched([PROJECTS, *(table for table in arriving_tables() if table != PROJECTS)], beside_others=True)


def refuse_incomplete(archive: Archive, project: Project) -> None:
    """Raises NoBackup where not every row of the file has become one of the project."""
    for name in arriving_tables():
        if count_rows(project.pk, name) != _stored(archive, name).state.rows:
            raise NoBackup(
                f"{archive.path} is damaged: rows of {name} do not belong to its project. Nothing was imported.",
                code="backup_damaged",
            )


def _take_table(archive: Archive, stored: StoredTable, numbering: Numbering, newcomer: Newcomer) -> Iterator[int]:
    change = _change(stored.table, numbering, newcomer)
    lines = Lines(stored.table)
    try:
        for rows in chunks(archive.rows(stored.table.name), AT_ONCE):
            lines.of(rows)
            insert(stored.table, [change(row) for row in rows])
            yield len(rows)
    except (KeyError, TypeError, AttributeError) as problem:
        raise _damaged(archive, stored.table.name) from problem
    if lines.state != stored.state:
        raise _damaged(archive, stored.table.name)


def _damaged(archive: Archive, table: str) -> NoBackup:
    return NoBackup(
        f"{archive.path} is damaged: the rows of {table} are not what was written. Nothing was imported.",
        code="backup_damaged",
    )


def _stored(archive: Archive, name: str) -> StoredTable:
    if (stored := archive.manifest.tables.get(name)) is None:
        raise _damaged(archive, name)
    return stored


def _change(table: Table, numbering: Numbering, newcomer: Newcomer) -> Callable[[list[Any]], list[Any]]:
    """What makes of a row there one here."""
    [model] = [model for model in apps.get_models(include_auto_created=True) if model._meta.db_table == table.name]
    fields = [field for field in model._meta.concrete_fields if isinstance(field, models.ForeignKey)]
    references = {field.column: field.related_model._meta.db_table for field in fields}
    ways = {name: KEYS[f"{table.name}.{name}"] for name, _ in table.columns if f"{table.name}.{name}" in KEYS}
    keys = renumbered(table, numbering, references=references, ways=ways)
    also = CHANGED.get(table.name)
    if also is None:
        return keys

    def change(row: list[Any]) -> list[Any]:
        there = _fields(table, row)
        changed = _fields(table, keys(row)) | also(there, numbering, newcomer)
        return [changed[column.name] for column in table.columns]

    return change


def _fields(table: Table, row: list[Any]) -> Fields:
    return dict(zip([column.name for column in table.columns], row, strict=True))


def _project(there: Fields, numbering: Numbering, newcomer: Newcomer) -> Fields:
    return {"slug": newcomer.slug}


def _membership(there: Fields, numbering: Numbering, newcomer: Newcomer) -> Fields:
    """A role is for somebody who can sign in: that of a stand-in ends."""
    if there["ended_at"] is not None or there["user_id"] in newcomer.members:
        return {}
    return {"ended_at": _stored_time(newcomer.at)}


def _job(there: Fields, numbering: Numbering, newcomer: Newcomer) -> Fields:
    """The server that it comes from does what was to be done."""
    if there["state"] in ENDED:
        return {}
    ended = {"state": JobState.CANCELLED.value, "finished_at": _stored_time(newcomer.at)}
    return {**ended, "lease_expires_at": None, "next_at": None}


def _upload(there: Fields, numbering: Numbering, newcomer: Newcomer) -> Fields:
    return {"path": newcomer.path_of(there["path"])}


def _event(there: Fields, numbering: Numbering, newcomer: Newcomer) -> Fields:
    return {"object_id": numbering.name_here(table_of(there["object_type"]), there["object_id"])}


def _link(there: Fields, numbering: Numbering, newcomer: Newcomer) -> Fields:
    if (kind := kind_named(there["kind"])) is None:
        raise KeyError(there["kind"])
    return {"record_id": numbering.here(kind.model._meta.db_table, there["record_id"])}


def _chain(there: Fields, numbering: Numbering, newcomer: Newcomer) -> Fields:
    """Signed by the key of this server when it has been verified, not by the one there."""
    [earlier] = there["moves"] or [None]
    name = former_chain_name(numbering.here(PROJECTS, there["project_id"]), there["id"])
    return {"name": name, "signature": "", "moves": [[numbering.stored(), *(earlier or [])]]}


CHANGED: Mapping[str, Callable[[Fields, Numbering, Newcomer], Fields]] = {
    PROJECTS: _project,
    "accounts_membership": _membership,
    "audit_chain": _chain,
    "audit_event": _event,
    "audit_link": _link,
    "jobs_job": _job,
    "jobs_upload": _upload,
}
"""What changes in a row besides its keys, from the row as it is there, by its table."""


def _stored_time(at: datetime) -> str:
    return str(at.astimezone(UTC).replace(tzinfo=None))


def _last_key(table: str) -> int:
    """The last key that was ever used in a table. On PostgreSQL nobody gets another one until the transaction ends."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = %s", [table])
            return int(cursor.fetchone()[0])
        sequence = _sequence(cursor, table)
        cursor.execute(f"ALTER SEQUENCE {sequence} NO CYCLE")  # which locks it: reading alone would not
        cursor.execute(f"SELECT last_value - 1 + is_called::int FROM {sequence}")
        return int(cursor.fetchone()[0])


def _set_next_key(stored: StoredTable, distance: int) -> None:
    """SQLite does so by itself."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            sequence = _sequence(cursor, stored.table.name)
            cursor.execute(f"ALTER SEQUENCE {sequence} RESTART WITH {int(distance + stored.next_key)}")


def _sequence(cursor: Any, table: str) -> str:
    cursor.execute("SELECT pg_get_serial_sequence(%s, 'id')", [f'"{table}"'])
    return str(cursor.fetchone()[0])
