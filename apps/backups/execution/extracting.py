"""Writes one project as a backup of its own, which can be restored as a server that has this project and no other.

People who are named in it come along by name and address, without passwords and without being operators: a new server
has its own. What belongs to the server that it comes from stays there, and so does what signs in the project's name.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, BinaryIO

from apps.accounts.models import Project
from apps.backups.core.rows import Table
from apps.backups.execution.writing import Progress, database_name, write_files
from apps.backups.formats.archive import ArchiveWriter, Manifest, StoredTable
from apps.backups.selectors.belonging import PEOPLE, belonging, people_of
from apps.backups.selectors.reading import Moment, moment
from apps.backups.selectors.tables import applied_migrations, carried, tables_after

OF_DJANGO = ("django_content_type", "auth_permission")
STAYS = frozenset({
    "accounts_apitoken", "accounts_invitation", "accounts_secret", "jobs_notification", "jobs_outbox", "jobs_webhook",
})  # fmt: skip
"""What lets somebody in here, what only this server can decrypt, and what would be sent from both."""
UNUSABLE = "!"
"""A password that nobody has, as Django writes it."""
INSTEAD: dict[str, dict[str, Any]] = {
    PEOPLE: {"password": UNUSABLE, "is_operator": False},
    "goldsets_signingkey": {"sealed": ""},
}
"""Values in place of those of the server: of a signing key the public half comes, with which signatures are checked."""


def write_project(stream: BinaryIO, *, project: Project, at: datetime, version: str, progress: Progress) -> Manifest:
    """Write the project to the stream, as it is at this moment, and return what was written."""
    migrations = applied_migrations()
    archive = ArchiveWriter(stream)
    manifest = Manifest(version, at.isoformat(), database_name(), migrations)
    rows_of = {each.table: each.of(project.pk) for each in belonging() if each.table not in STAYS}
    rows_of |= {PEOPLE: people_of(project.pk, rows_of), **dict.fromkeys(OF_DJANGO, "1 = 1")}
    with moment() as seen:
        done = 0
        for table in carried(tables_after(migrations)):
            with archive.table(table) as writer:
                for rows in _rows(seen, table, rows_of.get(table.name, "1 = 0")):
                    writer.write(rows)
                    done += len(rows)
                    progress("rows", done, 0)
            manifest.tables[table.name] = StoredTable(table, writer.state, seen.next_key(table))
        uploads = f"SELECT path FROM jobs_upload WHERE state <> 'discarded' AND {rows_of['jobs_upload']} ORDER BY path"
        paths = [path for (path,) in seen.values(uploads)]
    write_files(archive, manifest, paths, progress)
    archive.close(manifest)
    return manifest


def _rows(seen: Moment, table: Table, where: str) -> Iterator[list[list[Any]]]:
    names = [column.name for column in table.columns]
    instead = [(names.index(name), value) for name, value in INSTEAD.get(table.name, {}).items()]
    for rows in seen.parts(table, where):
        for row in rows if instead else ():
            for place, value in instead:
                row[place] = value
        yield rows
