"""Reads of verdicts for the quality tracker, aggregated by the database.

Open rounds are never counted: they are blind. A verdict counts once both of its round are in: it is in force, and so is
another person's on the same revision. That is read from the rows themselves, never from the triple's state. Rounds that
added a candidate block are left out: they exist only where it was added, so that they would make reviewers look more
alike than they are.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable
from enum import Enum
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.functions import Cast

from apps.accounts.models import Project
from apps.common.database.batched_reads import once
from apps.common.database.functions import Day, Month
from apps.review.enums import ASPECTS, RateSide, ResolutionKind, VerdictChoice, aspects_flagged
from apps.review.models import Resolution, Verdict
from apps.triples.enums import State
from apps.triples.models import Revision

FIRST_ROUND = 1
PERSON = {RateSide.AUTHOR: "revision__author_id", RateSide.REVIEWER: "reviewer_id"}

FLAGS = Count("pk", filter=Q(choice=VerdictChoice.FLAG))


def other_verdict() -> QuerySet[Verdict]:
    """The verdict in force of the other reviewer in the same round."""
    return Verdict.objects.filter(revision=OuterRef("revision"), superseded_by=None).exclude(
        reviewer=OuterRef("reviewer")
    )


def counted(project: Project) -> QuerySet[Verdict]:
    """Verdicts in force, of closed rounds."""
    counts = Verdict.objects.filter(Exists(other_verdict()), superseded_by=None, revision__triple__project=project)
    return counts.filter(revision__candidate_block=None)


def reviews_of(project: Project, side: RateSide, person: int | None = None) -> QuerySet[Verdict]:
    """What a rate of `side` is computed from: for authors the verdicts of first rounds, for reviewers all of them."""
    verdicts = counted(project)
    if side is RateSide.AUTHOR:
        verdicts = verdicts.filter(revision__round=FIRST_ROUND)
    return verdicts if person is None else verdicts.filter(**{PERSON[side]: person})


def last_verdict(project: Project) -> int:
    """The key of the project's newest verdict, 0 for none: figures here change only with it."""
    return once(verdict_key(project), lambda: newest_verdicts(project).first() or 0)


def verdict_key(project: Project) -> tuple[str, int]:
    """The name under which a page knows `last_verdict`."""
    return "newest verdict", project.pk


def newest_verdicts(project: Project) -> QuerySet[Verdict, int]:
    """The keys of the project's verdicts, the newest first."""
    ours = Revision.objects.filter(pk=OuterRef("revision"), triple__project=project)
    return Verdict.objects.filter(Exists(ours)).order_by("-pk").values_list("pk", flat=True)


class Dimension(Enum):
    """By what rates are broken down. Reasons are separate: one flag may name several."""

    MONTH = "month"
    DOMAIN = "domain"
    SOURCE = "source"
    DIFFICULTY = "difficulty"


VALUE: dict[Dimension, Any] = {
    Dimension.MONTH: Month("given_at"),
    Dimension.DOMAIN: F("revision__triple__domain"),
    Dimension.SOURCE: F("revision__triple__source__name"),
    Dimension.DIFFICULTY: F("revision__triple__difficulty"),
}
MACHINE = F("revision__triple__is_machine_written")


class FlagTally(NamedTuple):
    """Flags among `n` verdicts of one person in one month, people's and machine-written triples apart."""

    person: int
    month: str
    is_machine: bool
    flags: int
    n: int


class FlagShare(NamedTuple):
    """Flags among `n` verdicts that have one value, such as one domain. "" means none."""

    value: str
    is_machine: bool
    flags: int
    n: int


def tallies(project: Project, side: RateSide) -> list[FlagTally]:
    """Each person's flags and verdicts of each month that has any, in the order of people and months."""
    rows = reviews_of(project, side).values_list(PERSON[side], Month("given_at"), MACHINE)
    return sorted(FlagTally(*row) for row in rows.annotate(flags=FLAGS, n=Count("pk")).order_by())


def flags_by_day(project: Project) -> list[tuple[str, int, int]]:
    """Day, flags and verdicts of first rounds, in the order of days."""
    rows = reviews_of(project, RateSide.AUTHOR).values_list(Day("given_at")).annotate(flags=FLAGS, n=Count("pk"))
    return sorted(rows.order_by())


def shares(project: Project, side: RateSide, by: Dimension, person: int | None = None) -> list[FlagShare]:
    """Flags and verdicts of each value of `by`, in the order of values, "" first; of all people or of one."""
    rows = reviews_of(project, side, person).values_list(VALUE[by], MACHINE).annotate(flags=FLAGS, n=Count("pk"))
    return sorted(FlagShare(value or "", is_machine, flags, n) for value, is_machine, flags, n in rows.order_by())


def reasons_named(project: Project, side: RateSide, person: int | None = None) -> Counter[tuple[str, bool]]:
    """How many flags name each reason, by (reason, machine-written). One flag may name several."""
    flags = reviews_of(project, side, person).filter(choice=VerdictChoice.FLAG)
    named: Counter[tuple[str, bool]] = Counter()
    for reasons, is_machine, n in flags.values_list("reasons", MACHINE).annotate(n=Count("pk")).order_by():
        for reason in set(reasons):
            named[reason, is_machine] += n
    return named


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
    own = {
        "revision__author": narrowed.author,
        "revision__triple__domain": narrowed.domain,
        "revision__triple__source": narrowed.source,
    }
    rows = rows.filter(**{path: value for path, value in own.items() if value})
    if narrowed.origin:
        rows = rows.filter(revision__triple__is_machine_written=narrowed.origin == "machine")
    if narrowed.month:
        rows = rows.annotate(in_month=Month(time)).filter(in_month=narrowed.month)
    return rows


class Meeting(NamedTuple):
    """How often two sets of reasons occurred in one round: those of two reviewers, [] for a confirm."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    n: int


def meetings(project: Project, reviewer: int | None = None, triples: Collection[int] | None = None) -> list[Meeting]:
    """The reasons of the two reviewers of each closed round, counted by pair of reasons, without people.

    With `reviewer` only the rounds that this person answered, with `triples` those of these triples.
    """
    verdicts = counted(project)
    if triples is not None:
        verdicts = verdicts.filter(revision__triple__in=triples)
    beside = verdicts.annotate(beside=Subquery(other_verdict().values("reviewer")[:1]))
    one_of_two = beside.filter(beside__gt=F("reviewer")) if reviewer is None else beside.filter(reviewer=reviewer)
    rows = (
        one_of_two.annotate(theirs=Subquery(other_verdict().values("reasons")[:1]))
        .values_list("reasons", "theirs")
        .annotate(n=Count("pk"))
        .order_by()
    )
    return [Meeting(_reasons(mine), _reasons(theirs), n) for mine, theirs, n in rows]


def _reasons(value: Any) -> tuple[str, ...]:
    reasons = json.loads(value) if isinstance(value, str) else value
    return tuple(sorted(reasons))


def aspect_tables(meetings: Iterable[Meeting]) -> dict[str, Counter[int]]:
    """For each of the three questions: in how many rounds 0, 1 or 2 reviewers answered it with no."""
    tables: dict[str, Counter[int]] = {aspect: Counter() for aspect in ASPECTS}
    for meeting in meetings:
        first, second = aspects_flagged(meeting.first), aspects_flagged(meeting.second)
        for aspect in ASPECTS:
            tables[aspect][first[aspect] + second[aspect]] += meeting.n
    return tables


def flag_table(meetings: Iterable[Meeting]) -> Counter[int]:
    """In how many rounds 0, 1 or 2 reviewers flagged."""
    table: Counter[int] = Counter()
    for meeting in meetings:
        table[bool(meeting.first) + bool(meeting.second)] += meeting.n
    return table


PAST = (State.ACCEPTED, State.DROPPED, State.SPLIT, State.RETIRED)


def past_rounds(
    project: Project, writers: tuple[int, ...], *, flagged: bool, apart_from: QuerySet[Any], most: int
) -> list[tuple[int, int]]:
    """(revision, triple) of closed rounds, oldest first, on triples that ended and that none of `writers` wrote.

    `flagged`: at least one reviewer flagged; else both confirmed. `apart_from` are ids of triples to leave out.
    """
    live = Verdict.objects.filter(revision=OuterRef("pk"), superseded_by=None)
    both = live.filter(Exists(other_verdict()))
    wrote = Revision.objects.filter(triple=OuterRef("triple"), author__in=writers)
    rows = (
        Revision.objects.filter(Exists(both), candidate_block=None, triple__project=project, triple__state__in=PAST)
        .exclude(Exists(wrote))
        .exclude(triple__author__in=writers)
        .exclude(triple__adopted_by__in=writers)
        .exclude(triple__in=apart_from)
    )
    flags = Exists(live.filter(choice=VerdictChoice.FLAG))
    rows = rows.filter(flags) if flagged else rows.exclude(flags)
    return list(rows.order_by("pk").values_list("pk", "triple")[:most])
