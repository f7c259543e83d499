"""Writing one project to a file, and deleting it, with everything in it.

The file is a backup that can be restored as a server with this project and no other. It has the people who are named in
the project by name and address, without passwords, and none of them as operator. It has nothing that belongs to the
server that it comes from, and no key that signs in the name of the project.
"""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.db import transaction

from apps.accounts.actions.projects import begin_deletion
from apps.accounts.models import Project, ProjectDeletion, User
from apps.audit.actions import record
from apps.audit.execution.sealing import seal_all
from apps.backups.core.rows import Table
from apps.backups.enums import DELETE_PROJECT
from apps.backups.execution.making import (
    KEPT_UPLOADS,
    Progress,
    WrittenBackup,
    database_name,
    silently,
    write_files,
    write_to,
)
from apps.backups.execution.places import ENDING, refuse_target
from apps.backups.formats.archive import ArchiveWriter, Manifest, StoredTable
from apps.backups.selectors.backups import contents_of
from apps.backups.selectors.project_rows import PEOPLE, people_of, project_tables
from apps.backups.selectors.reading import Moment, applied_migrations, carried, moment, tables_after
from apps.jobs.actions.jobs import enqueue, stop_jobs

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
    rows_of = {each.table: each.of(project.pk) for each in project_tables() if each.table not in STAYS}
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
        uploads = f"SELECT path FROM jobs_upload WHERE {KEPT_UPLOADS} AND {rows_of['jobs_upload']} ORDER BY path"
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


def export_project(
    *, project: Project, target: Path | str, at: datetime, progress: Progress = silently
) -> WrittenBackup:
    """Write everything of one project to a file, or into a folder or a bucket, and put that on record.

    Raises Refusal where it cannot be written. Others can work meanwhile.
    """
    refuse_target(target)
    seal_all()  # what happened here is known as such on the server that it becomes
    written = write_to(
        target,
        f"{project.slug}-{at:%Y%m%d-%H%M%S}{ENDING}",
        lambda stream: write_project(stream, project=project, at=at, version=settings.VERSION, progress=progress),
    )
    after = {"rows": written.manifest.rows, "digest": written.manifest.digest}
    record(project=project, actor=None, action="project.exported", obj=project, after=after, at=at)
    return written


@transaction.atomic
def delete_project(*, project: Project, typed: str, actor: User | None, at: datetime) -> ProjectDeletion:
    """Close the project to everybody, and queue the deletion of all that belongs to it.

    `typed` has to be its name. `actor` None is the command line. Raises Refusal for another name, and PeopleRefused.
    """
    counts = {each.what: each.rows for each in contents_of(project)}
    deletion = begin_deletion(project_id=project.pk, typed=typed, counts=counts, actor=actor, at=at)
    stop_jobs(project=project, actor=actor, at=at)
    enqueue(
        kind=DELETE_PROJECT,
        params={"deletion": deletion.pk},
        project=None,
        actor=actor,
        at=at,
        title=f"Delete the project {deletion.name}",
    )
    return deletion
