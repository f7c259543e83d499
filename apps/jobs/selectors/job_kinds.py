"""The registry of job kinds, and of the function that does each."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from apps.common.discovery import load_layers

Handler = Callable[[Any], dict | None]
Follower = Callable[[Any, datetime], None]


def _nobody_follows(job: Any, at: datetime) -> None:
    pass


@dataclass(frozen=True)
class JobKind:
    name: str
    title: str
    handler: Handler
    follower: Follower = _nobody_follows
    page: tuple[str, str] | None = None


class UnknownKind(Exception):
    """Raised for a kind that no app has registered."""


_kinds: dict[str, JobKind] = {}


def job_kind(
    name: str, *, title: str, follower: Follower = _nobody_follows, page: tuple[str, str] | None = None
) -> Callable[[Handler], Handler]:
    """Register `handler(ctx: apps.jobs.execution.context.JobContext) -> dict | None` as the work of jobs of this kind.

    The dict is stored as the job's result. The handler must write inside `ctx.chunk(...)` or `ctx.finish()`: only there
    is an effect exactly once, whichever process is killed at whatever time.

    `follower(job, at)` is called in the transaction of every step of the job, with its new state, to update rows that
    depend on the job when it fails, is cancelled, or runs again.

    `page` is where the result is shown: the name of an address in the project, and what its key is called
    among the job's parameters or in its result.
    """

    def register(handler: Handler) -> Handler:
        _kinds[name] = JobKind(name, title, handler, follower, page)
        return handler

    return register


def kind_named(name: str) -> JobKind:
    if name not in _kinds:
        _load_all()
    try:
        return _kinds[name]
    except KeyError:
        raise UnknownKind(f"There is no job of the kind “{name}”.") from None


def title_of(name: str) -> str:
    """What jobs of this kind are called; the kind itself where no app of this version knows it."""
    try:
        return kind_named(name).title
    except UnknownKind:
        return name


@cache
def _load_all() -> None:
    load_layers("execution", "actions")


def follow(job: Any, at: datetime) -> None:
    """Update the rows that depend on this job. A job of an unknown kind has none."""
    with suppress(UnknownKind):
        kind_named(job.kind).follower(job, at)
