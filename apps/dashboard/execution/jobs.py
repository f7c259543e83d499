"""The job that fills a demo project."""

from typing import Any

from apps.dashboard.enums import LOAD_DEMO
from apps.dashboard.execution.demo.loader import load_demo
from apps.dashboard.execution.demo.stage import stage_of
from apps.jobs.execution.context import JobContext, JobFailed
from apps.jobs.selectors.job_kinds import job_kind


@job_kind(LOAD_DEMO, title="Load the demo project")
def fill_demo(ctx: JobContext) -> dict[str, Any]:
    if ctx.project is None or ctx.actor is None:
        raise JobFailed("A demo needs a project and a host.")
    load_demo(stage_of(ctx.project, ctx.actor), ctx)
    return {}
