"""Pairs of verdicts: the reasons of both reviewers of a round."""

import json
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from django.db.models import Count, F, Subquery

from apps.accounts.models import Project
from apps.review.core.policies import ASPECTS, aspects_flagged
from apps.review.selectors.tracking.counting import counted, other_verdict


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
