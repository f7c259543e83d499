"""The log of flags and drops, with filters."""

from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, QuerySet, TextField
from django.db.models.functions import Cast

from apps.accounts.models import Project
from apps.common.database.periods import Month
from apps.review.enums import ResolutionKind, VerdictChoice
from apps.review.models import Resolution, Verdict
from apps.review.selectors.tracking.counting import other_verdict
from apps.triples.models import Revision


class LogFilter(NamedTuple):
    """The filters of the log; no other input reaches a query. `origin` is people or machine."""

    author: int | None = None
    reviewer: int | None = None
    reason: str = ""
    category: str = ""
    domain: str = ""
    source: int | None = None
    month: str = ""
    origin: str = ""


WITH_TRIPLE = ("revision__triple__source", "revision__author")


def flags_logged(project: Project, narrowed: LogFilter, hidden: QuerySet[Any]) -> QuerySet[Verdict]:
    """Flags of closed rounds, newest first; `hidden` are ids of triples whose verdicts are hidden from the reader.

    The project is checked row by row, newest first: a join would have the database sort all flags for each page.
    """
    ours = Revision.objects.filter(pk=OuterRef("revision"), triple__project=project)
    flags = Verdict.objects.filter(Exists(other_verdict()), Exists(ours), superseded_by=None, choice=VerdictChoice.FLAG)
    flags = _narrowed(flags.exclude(revision__triple__in=hidden), narrowed, "given_at")
    return _with_reason(flags, narrowed).select_related("reviewer", *WITH_TRIPLE).order_by("-pk")


def drops_logged(project: Project, narrowed: LogFilter, hidden: QuerySet[Any]) -> QuerySet[Resolution]:
    """Drops, newest first. A filter by reviewer, reason or category needs such a flag in the round of the drop."""
    drops = Resolution.objects.filter(kind=ResolutionKind.DROPPED, triple__project=project)
    drops = _narrowed(drops.exclude(triple__in=hidden), narrowed, "resolved_at")
    if narrowed.reviewer or narrowed.reason or narrowed.category:
        flags = Verdict.objects.filter(revision=OuterRef("revision"), superseded_by=None, choice=VerdictChoice.FLAG)
        drops = drops.filter(Exists(_with_reason(flags, narrowed)))
    return drops.select_related("decided_by", *WITH_TRIPLE).order_by("-pk")


def _with_reason(flags: QuerySet[Verdict], narrowed: LogFilter) -> QuerySet[Verdict]:
    """Flags by the reviewer, of the category and with the reason of the filter."""
    if narrowed.reviewer:
        flags = flags.filter(reviewer=narrowed.reviewer)
    if narrowed.category:
        flags = flags.filter(category=narrowed.category)
    if narrowed.reason:
        flags = flags.annotate(named=Cast("reasons", TextField())).filter(named__contains=f'"{narrowed.reason}"')
    return flags


def _narrowed(rows: QuerySet[Any], narrowed: LogFilter, time: str) -> QuerySet[Any]:
    triple = "revision__triple__"
    if narrowed.author:
        rows = rows.filter(revision__author=narrowed.author)
    if narrowed.domain:
        rows = rows.filter(**{f"{triple}domain": narrowed.domain})
    if narrowed.source:
        rows = rows.filter(**{f"{triple}source": narrowed.source})
    if narrowed.origin:
        rows = rows.filter(**{f"{triple}is_machine_written": narrowed.origin == "machine"})
    if narrowed.month:
        rows = rows.annotate(in_month=Month(time)).filter(in_month=narrowed.month)
    return rows
