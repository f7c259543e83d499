"""The jobs that fill a demo project, and that measure and clear what is stored."""

from typing import Any

from apps.dashboard.enums import CLEAR_STORAGE, LOAD_DEMO, MEASURE_SERVER
from apps.dashboard.execution.demo.loader import load_demo
from apps.dashboard.execution.demo.stage import stage_of
from apps.dashboard.execution.measuring import clear, measure
from apps.jobs.execution.context import JobContext, JobFailed
from apps.jobs.selectors.job_kinds import job_kind


@job_kind(LOAD_DEMO, title="Load the demo project")
def fill_demo(ctx: JobContext) -> dict[str, Any]:
    if ctx.project is None or ctx.actor is None:
        raise JobFailed("A demo needs a project and a host.")
    load_demo(stage_of(ctx.project, ctx.actor), ctx)
    return {}


@job_kind(MEASURE_SERVER, title="Measure what is stored")
def measure_server(ctx: JobContext) -> dict[str, Any]:
    return measure(ctx.at).as_json()


@job_kind(CLEAR_STORAGE, title="Clear what can be made again")
def clear_storage(ctx: JobContext) -> dict[str, Any]:
    clear(ctx.params["kind"], ctx.at)
    return measure(ctx.at).as_json()
