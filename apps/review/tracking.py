"""Reads of verdicts for the quality tracker, added up by the database. Open rounds are never counted: they are blind.

A verdict counts once both of its round are in: it stands, and so does another person's on the same revision. That is
asked of the rows themselves, never of the triple's state.
"""

import json
from collections import Counter
from collections.abc import Iterable
from enum import Enum
from typing import Any, NamedTuple

from django.db.models import (
    CharField,
    Count,
    Exists,
    F,
    Func,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextChoices,
    TextField,
)
from django.db.models.functions import Cast

from apps.accounts.models import Project
from apps.review.enums import Choice, ResolutionKind
from apps.review.models import Resolution, Verdict
from apps.review.policies import ASPECTS, aspects_flagged
from apps.triples.enums import State
from apps.triples.models import Revision

FIRST_ROUND = 1
PAST = (State.ACCEPTED, State.DROPPED, State.SPLIT, State.RETIRED)


class Side(TextChoices):
    """Whose rate it is: of the flags somebody received as an author, or of those they gave as a reviewer."""

    AUTHOR = "author", "as an author"
    REVIEWER = "reviewer", "as a reviewer"


class Dimension(Enum):
    """By what rates are broken down. Reasons stand apart: one flag may name several."""

    MONTH = "month"
    DOMAIN = "domain"
    SOURCE = "source"
    DIFFICULTY = "difficulty"


class Month(Func):
    """The month of a time in UTC, "2026-03", by the database's own functions."""

    output_field = CharField()
    form = "YYYY-MM"

    def as_sqlite(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = f"substr(%(expressions)s, 1, {len(self.form)})"
        return self.as_sql(compiler, connection, template=template, **more)

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = f"to_char(%(expressions)s AT TIME ZONE 'UTC', '{self.form}')"
        return self.as_sql(compiler, connection, template=template, **more)


class Day(Month):
    """The day of a time in UTC, "2026-03-02"."""

    form = "YYYY-MM-DD"


PERSON = {Side.AUTHOR: "revision__author_id", Side.REVIEWER: "reviewer_id"}
VALUE: dict[Dimension, Any] = {
    Dimension.MONTH: Month("given_at"),
    Dimension.DOMAIN: F("revision__triple__domain"),
    Dimension.SOURCE: F("revision__triple__source__name"),
    Dimension.DIFFICULTY: F("revision__triple__difficulty"),
}
MACHINE = F("revision__triple__is_machine_written")
FLAGS = Count("pk", filter=Q(choice=Choice.FLAG))


def _other() -> QuerySet[Verdict]:
    """The verdict that stands beside the outer one in its round."""
    return Verdict.objects.filter(revision=OuterRef("revision"), superseded_by=None).exclude(
        reviewer=OuterRef("reviewer")
    )


def counted(project: Project) -> QuerySet[Verdict]:
    """Verdicts that stand, of closed rounds."""
    return Verdict.objects.filter(Exists(_other()), superseded_by=None, revision__triple__project=project)


def reviews_of(project: Project, side: Side, person: int | None = None) -> QuerySet[Verdict]:
    """What a rate of `side` is computed from: for authors the verdicts of first rounds, for reviewers all of them."""
    found = counted(project)
    if side is Side.AUTHOR:
        found = found.filter(revision__round=FIRST_ROUND)
    return found if person is None else found.filter(**{PERSON[side]: person})


# Rates -------------------------------------------------------------------------------------------------------------


class Tally(NamedTuple):
    """Flags among `n` verdicts of one person in one month, people's and machine-written triples apart."""

    person: int
    month: str
    is_machine: bool
    flags: int
    n: int


class Share(NamedTuple):
    """Flags among `n` verdicts that have one value, such as one domain. "" stands for none."""

    value: str
    is_machine: bool
    flags: int
    n: int


def tallies(project: Project, side: Side) -> list[Tally]:
    rows = (
        reviews_of(project, side)
        .values_list(PERSON[side], Month("given_at"), MACHINE)
        .annotate(flags=FLAGS, n=Count("pk"))
        .order_by()
    )
    return sorted(Tally(*row) for row in rows)


def flags_by_day(project: Project) -> list[tuple[str, int, int]]:
    """Day, flags and verdicts of first rounds, in the order of days."""
    rows = reviews_of(project, Side.AUTHOR).values_list(Day("given_at")).annotate(flags=FLAGS, n=Count("pk"))
    return sorted(rows.order_by())


def shares(project: Project, side: Side, by: Dimension, person: int | None = None) -> list[Share]:
    rows = (
        reviews_of(project, side, person)
        .values_list(VALUE[by], MACHINE)
        .annotate(flags=FLAGS, n=Count("pk"))
        .order_by()
    )
    return sorted(Share(value or "", is_machine, flags, n) for value, is_machine, flags, n in rows)


def reasons_named(project: Project, side: Side, person: int | None = None) -> Counter[tuple[str, bool]]:
    """How many flags name each reason, by (reason, machine-written). One flag may name several."""
    rows = (
        reviews_of(project, side, person)
        .filter(choice=Choice.FLAG)
        .values_list("reasons", MACHINE)
        .annotate(n=Count("pk"))
        .order_by()
    )
    named: Counter[tuple[str, bool]] = Counter()
    for reasons, is_machine, n in rows:
        for reason in set(reasons):
            named[reason, is_machine] += n
    return named


# Agreement ---------------------------------------------------------------------------------------------------------


class Meeting(NamedTuple):
    """How often two reasons of one round met: those of two reviewers, [] for a confirm."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    n: int


def meetings(project: Project, reviewer: int | None = None) -> list[Meeting]:
    """What the two reviewers of each closed round said, added up by what they said. Who said it is not in it.

    With `reviewer` only the rounds that this person answered.
    """
    beside = counted(project).annotate(beside=Subquery(_other().values("reviewer")[:1]))
    one_of_two = beside.filter(beside__gt=F("reviewer")) if reviewer is None else beside.filter(reviewer=reviewer)
    rows = (
        one_of_two.annotate(theirs=Subquery(_other().values("reasons")[:1]))
        .values_list("reasons", "theirs")
        .annotate(n=Count("pk"))
        .order_by()
    )
    return [Meeting(_reasons(mine), _reasons(theirs), n) for mine, theirs, n in rows]


def _reasons(value: Any) -> tuple[str, ...]:
    found = json.loads(value) if isinstance(value, str) else value
    return tuple(sorted(found))


def aspect_tables(met: Iterable[Meeting]) -> dict[str, Counter[int]]:
    """For each of the three questions: in how many rounds 0, 1 or 2 reviewers answered it with no."""
    tables: dict[str, Counter[int]] = {aspect: Counter() for aspect in ASPECTS}
    for meeting in met:
        first, second = aspects_flagged(meeting.first), aspects_flagged(meeting.second)
        for aspect in ASPECTS:
            tables[aspect][first[aspect] + second[aspect]] += meeting.n
    return tables


def flag_table(met: Iterable[Meeting]) -> Counter[int]:
    """In how many rounds 0, 1 or 2 reviewers flagged."""
    table: Counter[int] = Counter()
    for meeting in met:
        table[bool(meeting.first) + bool(meeting.second)] += meeting.n
    return table


# The log -----------------------------------------------------------------------------------------------------------


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
    found = Verdict.objects.filter(Exists(_other()), Exists(ours), superseded_by=None, choice=Choice.FLAG)
    found = _narrowed(found.exclude(revision__triple__in=hidden), narrowed, "given_at")
    if narrowed.reviewer:
        found = found.filter(reviewer=narrowed.reviewer)
    if narrowed.category:
        found = found.filter(category=narrowed.category)
    if narrowed.reason:
        found = found.annotate(named=Cast("reasons", TextField())).filter(named__contains=f'"{narrowed.reason}"')
    return found.select_related("reviewer", *WITH_TRIPLE).order_by("-pk")


def drops_logged(project: Project, narrowed: LogFilter, hidden: QuerySet[Any]) -> QuerySet[Resolution]:
    """Drops, newest first. One that is sought by reviewer, reason or category has such a flag in its round."""
    found = Resolution.objects.filter(kind=ResolutionKind.DROPPED, triple__project=project)
    found = _narrowed(found.exclude(triple__in=hidden), narrowed, "resolved_at")
    if narrowed.reviewer or narrowed.reason or narrowed.category:
        flags = Verdict.objects.filter(revision=OuterRef("revision"), superseded_by=None, choice=Choice.FLAG)
        if narrowed.reviewer:
            flags = flags.filter(reviewer=narrowed.reviewer)
        if narrowed.category:
            flags = flags.filter(category=narrowed.category)
        if narrowed.reason:
            flags = flags.annotate(named=Cast("reasons", TextField())).filter(named__contains=f'"{narrowed.reason}"')
        found = found.filter(Exists(flags))
    return found.select_related("decided_by", *WITH_TRIPLE).order_by("-pk")


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


def last_verdict(project: Project) -> int:
    """The key of the project's newest verdict, 0 for none: while it stays, no figure here moves."""
    ours = Revision.objects.filter(pk=OuterRef("revision"), triple__project=project)
    return Verdict.objects.filter(Exists(ours)).order_by("-pk").values_list("pk", flat=True).first() or 0


# Past triples to review once more ----------------------------------------------------------------------------------


def past_rounds(
    project: Project, writers: tuple[int, ...], *, flagged: bool, apart_from: QuerySet[Any], most: int
) -> list[tuple[int, int]]:
    """(revision, triple) of closed rounds, oldest first, on triples that ended and that none of `writers` wrote.

    `flagged`: at least one reviewer flagged; else both confirmed. `apart_from` are ids of triples to leave out.
    """
    live = Verdict.objects.filter(revision=OuterRef("pk"), superseded_by=None)
    both = live.filter(Exists(_other()))
    wrote = Revision.objects.filter(triple=OuterRef("triple"), author__in=writers)
    rows = (
        Revision.objects.filter(Exists(both), triple__project=project, triple__state__in=PAST)
        .exclude(Exists(wrote))
        .exclude(triple__author__in=writers)
        .exclude(triple__adopted_by__in=writers)
        .exclude(triple__in=apart_from)
    )
    flags = Exists(live.filter(choice=Choice.FLAG))
    rows = rows.filter(flags) if flagged else rows.exclude(flags)
    return list(rows.order_by("pk").values_list("pk", "triple")[:most])
