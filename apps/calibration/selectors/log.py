"""The quality log: every flag and every drop of closed rounds, newest first, for whoever may see verdicts.

Flags and drops are two tables, each in the order of its keys. A page has the newest of both, and its cursor has the
last key of each, so every page costs the same.
"""

from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from apps.accounts.models import User
from apps.accounts.selectors import Member
from apps.calibration.selectors.calibrations import blinded_triples
from apps.review.enums import Category, Reason
from apps.review.models import Resolution, Verdict
from apps.review.selectors import tracking
from apps.review.selectors.tracking import LogFilter
from apps.triples.models import Revision, Triple

PER_PAGE = 50
CHUNK = 1_000
MAX_KEY = 2**63 - 1

FLAG, DROP = "flag", "drop"


class Cursor(NamedTuple):
    """Only flags and drops with keys below these are left."""

    flag: int = MAX_KEY
    drop: int = MAX_KEY

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
    return Cursor(min(int(flag), MAX_KEY), min(int(drop), MAX_KEY))


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
