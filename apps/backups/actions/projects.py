"""Deleting a project, with everything in it."""

from datetime import datetime

from django.db import transaction

from apps.accounts.actions.projects import begin_deletion
from apps.accounts.models import Project, ProjectDeletion, User
from apps.backups.enums import DELETE_PROJECT
from apps.backups.selectors.contents import contents_of
from apps.jobs.actions.jobs import enqueue, stop_jobs


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
