"""The log of flags and drops, narrowed by what a reader asks for."""

from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, QuerySet, TextField
from django.db.models.functions import Cast

from apps.accounts.models import Project
from apps.common.database.periods import Month
from apps.review.enums import ResolutionKind, VerdictChoice
from apps.review.models import Resolution, Verdict
from apps.review.selectors.tracking.counting import beside_it
from apps.triples.models import Revision


class LogFilter(NamedTuple):
    """What the log may be narrowed by; nothing else from outside reaches a query. `origin` is people or machine."""

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
    """Flags of closed rounds, newest first; `hidden` are ids of triples whose verdicts the reader must not see.

    The project is asked row by row, newest first: a join would have the database sort all flags for each page.
    """
    ours = Revision.objects.filter(pk=OuterRef("revision"), triple__project=project)
    found = Verdict.objects.filter(Exists(beside_it()), Exists(ours), superseded_by=None, choice=VerdictChoice.FLAG)
    found = _narrowed(found.exclude(revision__triple__in=hidden), narrowed, "given_at")
    return _saying(found, narrowed).select_related("reviewer", *WITH_TRIPLE).order_by("-pk")


def drops_logged(project: Project, narrowed: LogFilter, hidden: QuerySet[Any]) -> QuerySet[Resolution]:
    """Drops, newest first. One that is sought by reviewer, reason or category has such a flag in its round."""
    found = Resolution.objects.filter(kind=ResolutionKind.DROPPED, triple__project=project)
    found = _narrowed(found.exclude(triple__in=hidden), narrowed, "resolved_at")
    if narrowed.reviewer or narrowed.reason or narrowed.category:
        flags = Verdict.objects.filter(revision=OuterRef("revision"), superseded_by=None, choice=VerdictChoice.FLAG)
        found = found.filter(Exists(_saying(flags, narrowed)))
    return found.select_related("decided_by", *WITH_TRIPLE).order_by("-pk")


def _saying(flags: QuerySet[Verdict], narrowed: LogFilter) -> QuerySet[Verdict]:
    """Flags by the reviewer, of the category and with the reason that are sought."""
    if narrowed.reviewer:
        flags = flags.filter(reviewer=narrowed.reviewer)
    if narrowed.category:
        flags = flags.filter(category=narrowed.category)
    if narrowed.reason:
        flags = flags.annotate(named=Cast("reasons", TextField())).filter(named__contains=f'"{narrowed.reason}"')
    return flags


def _narrowed(found: QuerySet[Any], narrowed: LogFilter, time: str) -> QuerySet[Any]:
    triple = "revision__triple__"
    if narrowed.author:
        found = found.filter(revision__author=narrowed.author)
    if narrowed.domain:
        found = found.filter(**{f"{triple}domain": narrowed.domain})
    if narrowed.source:
        found = found.filter(**{f"{triple}source": narrowed.source})
    if narrowed.origin:
        found = found.filter(**{f"{triple}is_machine_written": narrowed.origin == "machine"})
    if narrowed.month:
        found = found.annotate(in_month=Month(time)).filter(in_month=narrowed.month)
    return found
