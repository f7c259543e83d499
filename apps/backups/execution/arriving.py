"""Takes a project from a file into a server that has others, under keys that are free here.

Everything is written in one transaction, files before it. The rows have passed the guards where they come from, and
meanwhile nobody else writes here. Before the end the history that comes along is verified from its first link, and
every frozen object by its digest.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from django.apps import apps
from django.db import models

from apps.accounts.models import Project
from apps.audit.core.numbering import Numbering
from apps.backups.core.renumbering import renumbered
from apps.backups.core.rows import Lines, Table
from apps.backups.execution.arriving_rows import CHANGED, Newcomer
from apps.backups.execution.extracting import STAYS
from apps.backups.execution.free_keys import last_key, set_next_key
from apps.backups.execution.loading import insert
from apps.backups.execution.unwatched import unwatched
from apps.backups.execution.writing import Progress
from apps.backups.formats.archive import Archive, NoBackup, StoredTable
from apps.backups.selectors.belonging import PROJECTS, belonging, count_rows
from apps.backups.selectors.keys import KEYS
from apps.common.database.bulk import chunks

AT_ONCE = 1_000
LEFT_OUT = STAYS | {"agreement_readgrades", "gates_badge", "retrieval_loadedindex"}
"""What stays with the server that the project comes from: what lets somebody in there, copies that are made again, the
secret addresses of badges, and indexes in a search cluster, which that server drops when they are not needed."""


def arriving_tables() -> list[str]:
    """The tables of which rows come along, without that of people."""
    return [each.table for each in belonging() if each.table not in LEFT_OUT]


def distances_here() -> dict[str, int]:
    """What is added to the keys of each table, so that they are above all that were ever used here.

    Call it where nobody else writes to these tables. Tables that share a way to keys get the same.
    """
    distances = {table: last_key(table) for table in arriving_tables()}
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
        set_next_key(name, numbering.distances[name] + stored.next_key)
    [project] = archive.rows(PROJECTS)
    key = _fields(_stored(archive, PROJECTS).table, project)["id"]
    return Project.objects.get(pk=numbering.here(PROJECTS, key))


def only_writer() -> AbstractContextManager[None]:
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


def _fields(table: Table, row: list[Any]) -> dict[str, Any]:
    return dict(zip([column.name for column in table.columns], row, strict=True))
