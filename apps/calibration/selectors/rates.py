"""Flag rates with their intervals, of each person and of everybody, and the log of flags and drops behind them.

The denominators of rates are: flags an author received among the verdicts on first revisions of theirs; flags a
reviewer gave among all verdicts of theirs. Only closed rounds count. Machine-written triples are counted separately, in
neither a rate of people's triples nor a control chart.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from django.core.cache import cache

from apps.accounts.models import Project, User
from apps.accounts.selectors import Member, policy
from apps.calibration.core.control_chart import Count, Group, Signal, groups_of, mean_of, signal_of
from apps.calibration.selectors.calibrations import blinded_triples
from apps.common.database.statements import LARGEST_KEY
from apps.common.digests import digest_of
from apps.metrics.agreement.ratings import Rate
from apps.queries.enums import Difficulty
from apps.review.enums import Category, RateSide, Reason
from apps.review.models import Resolution, Verdict
from apps.review.selectors import tracking
from apps.review.selectors.tracking import Dimension, FlagTally, LogFilter
from apps.triples.models import Revision, Triple

PER_PAGE = 50
CHUNK = 1_000

FLAG, DROP = "flag", "drop"


class Cursor(NamedTuple):
    """Only flags and drops with keys below these are left.

    They are two tables, each in the order of its keys. A page of the log has the newest of both, and its cursor the
    last key of each, so every page costs the same.
    """

    flag: int = LARGEST_KEY
    drop: int = LARGEST_KEY

    def __str__(self) -> str:
        return f"{self.flag}.{self.drop}"


class LogEntry(NamedTuple):
    """One line of the log. A drop names no reasons of its own: the flags that led to it are lines of their own."""

    kind: str
    at: datetime
    revision: Revision
    reasons: list[str]
    category: str
    text: str
    who: User | None
    key: int

    @property
    def triple(self) -> Triple:
        return self.revision.triple

    @property
    def author(self) -> User:
        return self.revision.author

    @property
    def is_flag(self) -> bool:
        return self.kind == FLAG

    @property
    def month(self) -> str:
        return f"{self.at:%Y-%m}"

    @property
    def origin(self) -> str:
        return "machine" if self.triple.is_machine_written else "people"


class LogPage(NamedTuple):
    entries: list[LogEntry]
    next: Cursor | None


def cursor_from(text: str) -> Cursor:
    """Parse a cursor of this log. Raises ValueError for anything else."""
    flag, dot, drop = text.partition(".")
    if not dot or not all(part.isascii() and part.isdigit() and len(part) < 20 for part in (flag, drop)):
        raise ValueError(text)
    return Cursor(min(int(flag), LARGEST_KEY), min(int(drop), LARGEST_KEY))


def page_of(member: Member, narrowed: LogFilter, cursor: Cursor | None = None, *, most: int = PER_PAGE) -> LogPage:
    """One page of what this member may see. Triples that they are reviewing once more are left out."""
    cursor = cursor or Cursor()
    hidden = blinded_triples(member.user)
    flags = tracking.flags_logged(member.project, narrowed, hidden).filter(pk__lt=cursor.flag)
    drops = tracking.drops_logged(member.project, narrowed, hidden).filter(pk__lt=cursor.drop)
    entries = [*map(_flag, flags[: most + 1]), *map(_drop, drops[: most + 1])]
    entries.sort(key=lambda entry: (entry.at, entry.kind, entry.key), reverse=True)
    shown = entries[:most]
    if len(entries) <= most:
        return LogPage(shown, None)
    return LogPage(shown, Cursor(_lowest(shown, FLAG, cursor.flag), _lowest(shown, DROP, cursor.drop)))


def _lowest(entries: list[LogEntry], kind: str, otherwise: int) -> int:
    return min((entry.key for entry in entries if entry.kind == kind), default=otherwise)


def everything(member: Member, narrowed: LogFilter) -> Iterator[LogEntry]:
    """The whole log in pages, for a download: memory stays flat and no query runs long."""
    page = page_of(member, narrowed, most=CHUNK)
    yield from page.entries
    while page.next is not None:
        page = page_of(member, narrowed, page.next, most=CHUNK)
        yield from page.entries


def _flag(verdict: Verdict) -> LogEntry:
    return LogEntry(
        FLAG,
        verdict.given_at,
        verdict.revision,
        [str(Reason(reason).label) for reason in verdict.reasons],
        str(Category(verdict.category).label) if verdict.category else "",
        verdict.note,
        verdict.reviewer,
        verdict.pk,
    )


def _drop(drop: Resolution) -> LogEntry:
    return LogEntry(DROP, drop.resolved_at, drop.revision, [], "", drop.reason, drop.decided_by, drop.pk)


COLUMNS = (
    "at",
    "what",
    "triple",
    "round",
    "reasons",
    "category",
    "text",
    "author",
    "reviewer",
    "decided_by",
    "month",
    "domain",
    "source",
    "difficulty",
    "origin",
)


def as_row(entry: LogEntry) -> list[Any]:
    """The line as a row of a download, in the order of COLUMNS."""
    triple = entry.triple
    return [
        entry.at.isoformat(),
        entry.kind,
        triple.label,
        entry.revision.round,
        "; ".join(entry.reasons),
        entry.category,
        entry.text,
        entry.author.name,
        entry.who.name if entry.is_flag and entry.who else "",
        entry.who.name if not entry.is_flag and entry.who else "",
        entry.month,
        triple.domain,
        triple.source.name if triple.source else "",
        triple.difficulty,
        entry.origin,
    ]


def rows(member: Member, narrowed: LogFilter) -> Iterator[list[Any]]:
    return chain([list(COLUMNS)], map(as_row, everything(member, narrowed)))


CACHE_SECONDS = 3600
NONE_NAMED = "none named"
DENOMINATORS = {
    RateSide.AUTHOR: "flags received, as a share of first-round verdicts",
    RateSide.REVIEWER: "flags given, as a share of all verdicts",
}


class PersonRates(NamedTuple):
    """One person's rates. `n` counts all their reviews; while it is below the policy the person is calibrating."""

    person: int
    people: Rate
    machine: Rate
    is_calibrating: bool
    signal: Signal | None

    @property
    def n(self) -> int:
        return self.people.n + self.machine.n


class SideRates(NamedTuple):
    """Everybody on one side. `mean` is p̄ of the control charts, None where nothing was counted."""

    side: RateSide
    mean: float | None
    people: list[PersonRates]
    everybody: PersonRates
    counts: dict[int, list[Count]]
    least: int

    def groups(self, person: int) -> list[Group]:
        """The points of one person's control chart."""
        return [] if self.mean is None else groups_of(self.counts.get(person, []), self.mean, self.least)


class BreakdownRate(NamedTuple):
    """One value of a breakdown."""

    label: str
    people: Rate
    machine: Rate


def cached(project: Project, name: str, compute: Callable[[], Any], *parts: Any) -> Any:
    """The result of `compute`, cached until the project's next verdict. Names are refreshed after an hour."""
    key = f"tracker:{project.slug}:{digest_of([name, tracking.last_verdict(project), *parts])}"
    return cache.get_or_set(key, compute, CACHE_SECONDS)


def side_rates(project: Project, side: RateSide) -> SideRates:
    tallies = cached(project, "tallies", lambda: tracking.tallies(project, side), side.value)
    least, few = policy(project, "calibration_reviews"), policy(project, "calibrating_reviews")
    return rates_from(tallies, side, least=least, few=few)


def rates_from(tallies: Iterable[FlagTally], side: RateSide, *, least: int, few: int) -> SideRates:
    """Rates, charts and signals from the tallies of one side. No database."""
    people: dict[int, Counter[bool]] = {}
    flags: dict[int, Counter[bool]] = {}
    counts: dict[int, list[Count]] = {}
    for tally in tallies:
        people.setdefault(tally.person, Counter())[tally.is_machine] += tally.n
        flags.setdefault(tally.person, Counter())[tally.is_machine] += tally.flags
        if not tally.is_machine:
            counts.setdefault(tally.person, []).append(Count(tally.month, tally.flags, tally.n))
    mean = mean_of(count for person in counts.values() for count in person)
    rows = []
    for person, n in people.items():
        is_calibrating = n.total() < few
        groups = [] if mean is None or is_calibrating else groups_of(counts.get(person, []), mean, least)
        rows.append(
            PersonRates(
                person,
                Rate(flags[person][False], n[False]),
                Rate(flags[person][True], n[True]),
                is_calibrating,
                signal_of(groups),
            )
        )
    rows.sort(key=lambda row: (row.is_calibrating, -row.n, row.person))
    everybody = PersonRates(
        0,
        Rate(sum(row.people.hits for row in rows), sum(row.people.n for row in rows)),
        Rate(sum(row.machine.hits for row in rows), sum(row.machine.n for row in rows)),
        is_calibrating=False,
        signal=None,
    )
    return SideRates(side, mean, rows, everybody, counts, least)


def breakdown(project: Project, side: RateSide, by: Dimension, person: int | None = None) -> list[BreakdownRate]:
    """Rates by the values of one dimension, in their order."""
    shares = tracking.shares(project, side, by, person)  # not cached: a triple's properties change without a verdict
    labels = dict(Difficulty.choices) if by is Dimension.DIFFICULTY else {}
    by_value: dict[str, dict[bool, Rate]] = {}
    for share in shares:
        by_value.setdefault(share.value, {})[share.is_machine] = Rate(share.flags, share.n)
    nothing = Rate(0, 0)
    return [
        BreakdownRate(str(labels.get(value, value)) or NONE_NAMED, rates.get(False, nothing), rates.get(True, nothing))
        for value, rates in by_value.items()
    ]


def by_reason(project: Project, side: RateSide, of: PersonRates, person: int | None = None) -> list[BreakdownRate]:
    """How often each reason was named among the reviews of `of`. One flag may name several: no sum to 1."""
    named = cached(project, "reasons", lambda: tracking.reasons_named(project, side, person), side.value, person)
    return [
        BreakdownRate(
            str(reason.label),
            Rate(named[reason.value, False], of.people.n),
            Rate(named[reason.value, True], of.machine.n),
        )
        for reason in Reason
    ]
