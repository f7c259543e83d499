"""Unread notifications of one kind as one line, with the list that it leads to."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Max, Q, QuerySet
from django.urls import reverse

from apps.accounts.models import Project
from apps.common.discovery import Registered
from apps.jobs.models import Notification


class ToldTogether(NamedTuple):
    """A kind of which several are one line: what follows their number, and the page that lists what they are about."""

    kind: str
    words: str
    page: str


told_together: Registered[ToldTogether] = Registered()
"""The kinds that are; those of any other kind have a line each."""


class Line(NamedTuple):
    """Several notifications of one kind. `pk` and `created_at` are those of the newest."""

    pk: int
    kind: str
    count: int  # type: ignore[assignment]
    sentence: str
    path: str
    created_at: datetime
    project: Project


def lines_of(unread: QuerySet[Notification]) -> list[Line]:
    """A line for each kind of which a project has several among these, newest first."""
    known = {one.kind: one for one in told_together}
    counted = unread.filter(kind__in=known).order_by().values("kind", "project")
    rows = counted.annotate(count=Count("pk"), newest=Max("pk")).filter(count__gt=1)
    count_of = {row["newest"]: row["count"] for row in rows}
    newest = Notification.objects.filter(pk__in=count_of).select_related("project").order_by("-pk")
    return [_line(row, count_of[row.pk], known[row.kind]) for row in newest]


def _line(newest: Notification, count: int, told: ToldTogether) -> Line:
    return Line(
        newest.pk,
        newest.kind,
        count,
        f"{count:,} {told.words}",
        reverse(told.page, args=[newest.project.slug]),
        newest.created_at,
        newest.project,
    )


def on_a_line(lines: Iterable[Line]) -> Q:
    """The notifications that these lines tell of, as a condition."""
    condition = Q(pk__in=[])
    for line in lines:
        condition |= Q(project=line.project, kind=line.kind)
    return condition


def page_of_kind(project: Project, kind: str) -> str:
    """Where what notifications of a kind are about is listed; "" for a kind without such a page."""
    return next((reverse(one.page, args=[project.slug]) for one in told_together if one.kind == kind), "")
