"""What a list of triples shows: the newest first, narrowed, one page at a time at a cost that does not grow.

A page begins behind a number, so none is counted. One filter is answered by an index from end to end. Words, and
filters together, are looked for in a stretch of numbers; behind it the list offers to look further back.
"""

from typing import NamedTuple

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.accounts.selectors import Member
from apps.queries.models import Source
from apps.triples.enums import State
from apps.triples.models import Triple
from apps.triples.selectors.triples import PRIVATE, visible_triples

PER_PAGE = 50
STRETCH = 10_000
STALE = "stale"


class Narrowing(NamedTuple):
    """What a list is narrowed to; empty means any."""

    state: str = ""
    domain: str = ""
    source: Source | None = None
    author: User | None = None
    words: str = ""


class TriplePage(NamedTuple):
    """`older` is the number behind which the next page begins, None on the last.

    `looked_to` is set when nothing or little was found because only a stretch was looked through: the lowest number
    that was looked at.
    """

    triples: list[Triple]
    older: int | None
    looked_to: int | None = None


def page_of(member: Member, narrowing: Narrowing, *, before: int | None = None) -> TriplePage:
    """The page of what `member` may find that begins behind the number `before`, or with the newest."""
    found = _narrowed(member, narrowing)
    start = _start(member, before) if _is_searched(narrowing) else before
    if start is not None:
        found = found.filter(number__lt=start)
    lowest = start - STRETCH if start is not None and _is_searched(narrowing) else 0
    if lowest > 0:
        found = found.filter(number__gte=lowest)
    if narrowing.words:
        found = found.filter(current__question__icontains=narrowing.words)
    rows = list(found.order_by("-number")[: PER_PAGE + 1])
    named = _by_number(member, narrowing) if before is None else []
    shown = named + [triple for triple in rows[:PER_PAGE] if triple not in named]
    if len(rows) > PER_PAGE:
        return TriplePage(shown, rows[PER_PAGE - 1].number)
    return TriplePage(shown, lowest, lowest) if lowest > 1 else TriplePage(shown, None)


def _start(member: Member, before: int | None) -> int:
    if before is not None:
        return before
    newest = Triple.objects.filter(project=member.project).order_by("-number").values_list("number", flat=True).first()
    return (newest or 0) + 1


def _is_searched(narrowing: Narrowing) -> bool:
    filters = (narrowing.state, narrowing.domain, narrowing.source, narrowing.author)
    return bool(narrowing.words) or sum(bool(value) for value in filters) > 1


def _narrowed(member: Member, narrowing: Narrowing) -> QuerySet[Triple]:
    found = visible_triples(member).select_related("source")
    if narrowing.state in PRIVATE and not member.is_lead:
        found = found.filter(author=member.user)  # the same triples, but an index finds them
    if narrowing.state == STALE:
        found = found.filter(is_stale=True)
    elif narrowing.state:
        found = found.filter(state=narrowing.state)
    if narrowing.domain:
        found = found.filter(domain=narrowing.domain)
    if narrowing.source:
        found = found.filter(source=narrowing.source)
    if narrowing.author:
        found = found.filter(author=narrowing.author)
    return found


def _by_number(member: Member, narrowing: Narrowing) -> list[Triple]:
    """The triple whose number was typed, as "T-0012" or "12"."""
    text = narrowing.words.upper().removeprefix("T-")
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        return []
    return list(_narrowed(member, narrowing).filter(number=int(text))[:1])


def states() -> list[tuple[str, str]]:
    return [*State.choices, (STALE, "Stale")]
