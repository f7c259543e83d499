"""Lists of triples: newest first, filtered, one page at a time at a constant cost.

A page begins after a number, so nothing is counted. A single filter uses an index. Words, and several filters together,
are searched in a range of numbers; after it the list offers to search further back.
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
    """The filters of a list; empty means any."""

    state: str = ""
    domain: str = ""
    source: Source | None = None
    author: User | None = None
    words: str = ""


class TriplePage(NamedTuple):
    """`older` is the number after which the next page begins, None on the last.

    `looked_to` is set when few rows matched because only a range was searched: the lowest number searched.
    """

    triples: list[Triple]
    older: int | None
    looked_to: int | None = None


def page_of(member: Member, narrowing: Narrowing, *, before: int | None = None) -> TriplePage:
    """The page of visible triples of `member` that begins after the number `before`, or with the newest."""
    triples = _narrowed(member, narrowing)
    start = _start(member, before) if _is_searched(narrowing) else before
    if start is not None:
        triples = triples.filter(number__lt=start)
    lowest = start - STRETCH if start is not None and _is_searched(narrowing) else 0
    if lowest > 0:
        triples = triples.filter(number__gte=lowest)
    if narrowing.words:
        triples = triples.filter(current__question__icontains=narrowing.words)
    rows = list(triples.order_by("-number")[: PER_PAGE + 1])
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
    triples = visible_triples(member).select_related("source")
    if narrowing.state in PRIVATE and not member.is_lead:
        triples = triples.filter(author=member.user)  # the same triples, by an index
    if narrowing.state == STALE:
        triples = triples.filter(is_stale=True)
    elif narrowing.state:
        triples = triples.filter(state=narrowing.state)
    if narrowing.domain:
        triples = triples.filter(domain=narrowing.domain)
    if narrowing.source:
        triples = triples.filter(source=narrowing.source)
    if narrowing.author:
        triples = triples.filter(author=narrowing.author)
    return triples


def _by_number(member: Member, narrowing: Narrowing) -> list[Triple]:
    """The triple whose number was typed, as "T-0012" or "12"."""
    text = narrowing.words.upper().removeprefix("T-")
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        return []
    return list(_narrowed(member, narrowing).filter(number=int(text))[:1])


def states() -> list[tuple[str, str]]:
    return [*State.choices, (STALE, "Stale")]
