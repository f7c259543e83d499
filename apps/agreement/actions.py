"""Having the stored grades brought up to date that figures of many grades are computed from, and the job that does."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import Project, User
from apps.agreement.core.weeks import packed
from apps.agreement.models import ReadGrades
from apps.agreement.selectors.grade_cache import (
    columns_in,
    digest_of_rounds,
    forget_source,
    newest_of,
    source_after,
    source_of,
)
from apps.jobs.actions.jobs import enqueue
from apps.jobs.execution.context import JobContext
from apps.jobs.selectors.job_kinds import job_kind
from apps.judging.models import Round


def have_grades_read(*, project: Project, rounds: Sequence[Round], actor: User, at: datetime) -> ReadGrades | None:
    """The stored grades that figures of these rounds are computed from; None where grades are few and read at once.

    Enqueues a job that reads them again when there are newer ones. Writes no grade.
    """
    source = source_of(project, rounds)
    if not source.is_due(at):
        return source.reading
    reading = _enqueue_reading(project, rounds, actor, at)
    forget_source(project, rounds)
    return reading


@transaction.atomic
def _enqueue_reading(project: Project, rounds: Sequence[Round], actor: User, at: datetime) -> ReadGrades:
    """Enqueue the job, unless somebody else has just done so."""
    row, is_new = ReadGrades.objects.select_for_update(of=("self",)).get_or_create(
        project=project,
        digest=digest_of_rounds(rounds),
        defaults={"rounds": sorted(round_.pk for round_ in rounds), "asked_at": at},
    )
    if is_new or (source_after(project, rounds).is_due(at) and not row.is_waiting):
        row.job = enqueue(kind=READ, params={"read_id": row.pk}, project=project, actor=actor, at=at)
        row.asked_at = at
        row.save(update_fields=["job", "asked_at"])
    return row


READ = "agreement.read_grades"


@job_kind(READ, title="Load grades for agreement")
def read_grades(ctx: JobContext) -> dict[str, Any]:
    """Read the grades of the rounds in the row `read_id`, for the figures of agreement."""
    row = ReadGrades.objects.select_related("project").defer("packed").get(pk=ctx.params["read_id"])
    newest = newest_of(row.project)  # read first: a grade that arrives meanwhile makes the next reading due
    rounds = list(Round.objects.filter(project=row.project, pk__in=row.rounds))
    row.packed = packed(columns_in(row.project, rounds))
    with ctx.finish() as result:
        row.newest, row.read_at = newest, ctx.at
        row.save(update_fields=["packed", "newest", "read_at"])
        result.update(read_id=row.pk)
    return ctx.result
