"""Jobs of agreement."""

from typing import Any

from apps.agreement.core.weeks import packed
from apps.agreement.models import ReadGrades
from apps.agreement.selectors.grade_cache import columns_in, newest_of
from apps.jobs.execution.context import JobContext
from apps.jobs.selectors.job_kinds import job_kind
from apps.judging.models import Round

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
