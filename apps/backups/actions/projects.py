"""Writing one project to a file, and deleting it, with everything in it."""

from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import transaction

from apps.accounts.actions.projects import begin_deletion
from apps.accounts.models import Project, ProjectDeletion, User
from apps.audit.actions import record
from apps.audit.execution.sealing import seal_all
from apps.backups.enums import DELETE_PROJECT
from apps.backups.execution.extracting import write_project
from apps.backups.execution.making import WrittenBackup, write_to
from apps.backups.execution.writing import Progress, silently
from apps.backups.rules import ENDING, target_refusal
from apps.backups.selectors.contents import contents_of
from apps.common.errors import Refusal
from apps.jobs.actions.jobs import enqueue, stop_jobs


def export_project(
    *, project: Project, target: Path | str, at: datetime, progress: Progress = silently
) -> WrittenBackup:
    """Write everything of one project to a file, or into a folder or a bucket, and put that on record.

    Raises Refusal where it cannot be written. Others go on working meanwhile.
    """
    if not isinstance(target, str) and (reason := target_refusal(target)):
        raise Refusal(reason, code="backup_not_written")
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
