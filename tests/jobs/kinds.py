"""Kinds of jobs for tests. An effect is an audit event: it can be counted, and nothing can take it back."""

import os
import time

from django.utils import timezone

from apps.audit.actions import record
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.jobs.execution import performing
from apps.jobs.execution.context import JobContext, JobFailed
from apps.jobs.selectors.job_kinds import job_kind

EFFECT = "test.effect"


def effect(ctx: JobContext, name: str) -> None:
    record(project=ctx.project, actor=None, action=EFFECT, after={"job": ctx.job_id, "name": name}, at=timezone.now())


def effects(job_id: int) -> list[str]:
    rows = Event.objects.filter(action=EFFECT, after__job=job_id).order_by("pk")
    return [row.after["name"] for row in rows]


@job_kind("test.once", title="One effect")
def once(ctx: JobContext) -> dict:
    with ctx.finish() as result:
        effect(ctx, "all")
        result["written"] = 1
    return {}


@job_kind("test.halfway", title="Says how far it is once, at the start")
def halfway(ctx: JobContext) -> dict:
    ctx.progress(0, 3, "reading")
    return {"answer": 42}


@job_kind("test.chunks", title="Several parts")
def chunks(ctx: JobContext) -> dict:
    """Writes `parts` parts and an end; `pause` seconds of work before each, `raises_at` breaks one part's write."""
    parts = ctx.params["parts"]
    for number in range(parts):
        time.sleep(ctx.params.get("pause", 0))
        with ctx.chunk(f"part:{number}") as fresh:
            if fresh:
                effect(ctx, f"part {number}")
                if ctx.params.get("raises_at") == number and ctx.attempt == 1:
                    raise RuntimeError("the disk is full")
        ctx.progress(number + 1, parts, f"part {number + 1}")
    with ctx.finish() as result:
        effect(ctx, "end")
        result["parts"] = parts
    return {}


@job_kind("test.refuses", title="Refuses")
def refuses(ctx: JobContext) -> dict:
    raise Refusal("The snapshot is gone.")


@job_kind("test.fails", title="Fails for good")
def fails(ctx: JobContext) -> dict:
    raise JobFailed("The file holds nothing.")


@job_kind("test.breaks", title="Breaks each time")
def breaks(ctx: JobContext) -> dict:
    raise ValueError("seven")


@job_kind("test.poison", title="Kills its worker")
def poison(ctx: JobContext) -> dict:
    os._exit(9)


@job_kind("test.endless", title="Never ends, and never asks whether it should")
def endless(ctx: JobContext) -> dict:
    performing.LAST_SECONDS = 1
    while True:
        time.sleep(1)


@job_kind("test.answers", title="Answers")
def answers(ctx: JobContext) -> dict:
    return {"answer": 42}
