"""Candidates for near duplicates of a question that is being written, read in one statement.

Every live question that the check would warn of contains at least one of the question's `probe_words`, so the database
searches for those and returns the `MOST_COMPARED` with most of them. SQLite folds the case of a to z in a search; on
PostgreSQL a word is searched in small letters, whatever its first letter, and in capitals, because folding would cost
more than the search. This may miss near duplicates beyond that number, when more questions share words; and a question
that writes every probe in capitals of another script, or in mixed case (“GitHub”).
"""

import re
from functools import reduce
from operator import or_

from django.db import connection
from django.db.models import Case, F, Func, IntegerField, Q, When

from apps.accounts.models import Project, User
from apps.triples.core.checks import Other, probe_words
from apps.triples.enums import ENDED, State
from apps.triples.models import Revision

MOST_COMPARED = 100
SHORT = 3


def questions_like(
    project: Project, person: User, question: str, limit: float, *, apart_from: int | None
) -> list[Other]:
    """Questions of live triples that may be as similar as `limit`, without others' drafts.

    Empty for a question without content words.
    """
    probes = [_contains(word) for word in probe_words(question, limit)]
    if not probes:
        return []
    shared = Func(*map(_one_if, probes), template="(%(expressions)s)", arg_joiner=" + ", output_field=IntegerField())
    candidates = (
        Revision.objects.filter(reduce(or_, probes), triple__project=project, triple__current=F("pk"))
        .filter(~Q(triple__state__in=ENDED), ~Q(triple__state=State.DRAFT) | Q(triple__author=person))
        .exclude(triple=apart_from or 0)
        .order_by(shared.desc(), "triple__number")
    )
    return [
        Other(ref=f"T-{number:04d}", question=text, state=State(state).label)
        for number, state, text in candidates.values_list("triple__number", "triple__state", "question")[:MOST_COMPARED]
    ]


def _contains(word: str) -> Q:
    stem = _stem(word)
    small = Q(question__contains=stem[1:] if len(stem) > SHORT else stem)
    return small if connection.vendor == "sqlite" else small | Q(question__contains=stem.upper())


def _one_if(condition: Q) -> Case:
    return Case(When(condition, then=1), default=0, output_field=IntegerField())


def _stem(word: str) -> str:
    """The longest part of a word that all its spellings share: no hyphen, no apostrophe, no plural."""
    longest = max(re.findall(r"\w+", word), key=len)
    return longest[:-1] if longest.endswith("y") and len(longest) > 3 else longest
