"""The pairs behind a figure: what each person gave, for leads who will not be asked to grade them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from apps.accounts.models import User
from apps.accounts.selectors import Member
from apps.agreement.selectors.grade_cache import ratings_in
from apps.corpus.models import BlockVersion
from apps.corpus.selectors.corpora import TextKey, texts_of
from apps.judging.enums import RoundState
from apps.judging.models import Adjudication, Round, RoundAnnotator
from apps.metrics.agreement import MISSING
from apps.metrics.agreement.ratings import Ratings
from apps.queries.models import Query
from apps.retrieval.models import PoolEntry

SHOWN = 100
AT_ONCE = 500

Key = tuple[int, int]
"""A query and a block version."""


class Which(NamedTuple):
    """Which pairs: of one query; astride the boundary below grade `boundary`; of two people, with what each gave."""

    query: int | None = None
    boundary: int | None = None
    first: int | None = None
    second: int | None = None
    row: int | None = None
    column: int | None = None


class GivenGrade(NamedTuple):
    person: str
    grade: int


class DifferingPair(NamedTuple):
    """One pair with what everybody gave it, by name, and what a lead decided, where one did."""

    query: Query
    version: BlockVersion
    given: list[GivenGrade]
    decision: Adjudication | None

    @property
    def is_alike(self) -> bool:
        return len({each.grade for each in self.given}) == 1


class Differences(NamedTuple):
    """`shown` pairs of `total`; `hidden` others are not told, since the reader may still be asked to grade them."""

    shown: list[DifferingPair]
    total: int
    hidden: int


def differences(member: Member, rounds: Sequence[Round], which: Which) -> Differences:
    """The pairs that fit, those first whose grades lie furthest apart; then in the order of their queries."""
    ratings = ratings_in(member.project, rounds)
    places = _fitting(ratings, which)
    hidden = _still_to_grade(member, ratings, places)
    told = [place for place in places if place not in hidden]
    shown = told[:SHOWN]
    keys: list[Key] = [(query, text) for query, text in ratings.items[shown].tolist()]
    queries = Query.objects.in_bulk({query for query, _ in keys})
    versions = BlockVersion.objects.select_related("block__document").in_bulk({text for _, text in keys})
    decisions = _decisions(rounds, keys)
    names = dict(User.objects.filter(pk__in=ratings.people).values_list("pk", "name"))
    rows = [
        DifferingPair(queries[key[0]], versions[key[1]], list(_given(ratings, place, names)), decisions.get(key))
        for place, key in zip(shown, keys, strict=True)
    ]
    return Differences(rows, len(told), len(hidden))


def _fitting(ratings: Ratings, which: Which) -> list[int]:
    """The places of the items that fit, the widest spread first, then by query and text."""
    codes = ratings.codes
    low = np.where(codes == MISSING, len(ratings.grades), codes).min(axis=1, initial=len(ratings.grades))
    high = codes.max(axis=1, initial=MISSING)
    fits = (codes != MISSING).sum(axis=1) >= 2
    if which.query is not None:
        fits &= ratings.items[:, 0] == which.query
    if which.boundary is not None:
        above = int(np.searchsorted(ratings.grades, which.boundary))
        fits &= (low < above) & (high >= above)
    for person, grade in ((which.first, which.row), (which.second, which.column)):
        if person is not None:
            fits &= _gave(ratings, person, grade)
    found = np.flatnonzero(fits)
    order = np.lexsort((found, low[found] - high[found]))
    places: list[int] = found[order].tolist()
    return places


def _gave(ratings: Ratings, person: int, grade: int | None) -> NDArray[np.bool_]:
    """Items to which this person gave that grade; any, where none is named."""
    if person not in ratings.people or (grade is not None and grade not in ratings.grades):
        return np.zeros(len(ratings.codes), dtype=bool)
    own = ratings.codes[:, ratings.people.index(person)]
    return own != MISSING if grade is None else own == ratings.grades.index(grade)


def may_still_be_given(member: Member) -> QuerySet[PoolEntry]:
    """The pairs of every pool from which this member may still be asked to grade."""
    asked = RoundAnnotator.objects.filter(annotator=member.user).exclude(round__state=RoundState.CLOSED)
    return PoolEntry.objects.filter(pool__in=asked.values("round__pool"))


def _still_to_grade(member: Member, ratings: Ratings, places: Sequence[int]) -> set[int]:
    """Those of the items that the reader may still be given, in any round: others' grades would lead them."""
    items = ratings.items[list(places)].tolist()
    texts = texts_of(version for _, version in items)
    of_key = {(query, texts[version]): place for (query, version), place in zip(items, places, strict=True)}
    queries = sorted({query for query, _ in of_key})
    entries = may_still_be_given(member)
    found = set()
    for start in range(0, len(queries), AT_ONCE):
        rows = entries.filter(query__in=queries[start : start + AT_ONCE])
        named = rows.values_list("query_id", "version__block_id", "version__text_digest")
        keys = ((query, TextKey(block, digest)) for query, block, digest in named.iterator(chunk_size=10_000))
        found |= {of_key[key] for key in keys if key in of_key}
    return found


def _given(ratings: Ratings, place: int, names: dict[int, str]) -> Iterator[GivenGrade]:
    row = ratings.codes[place].tolist()
    for person, code in sorted(zip(ratings.people, row, strict=True), key=lambda each: names[each[0]]):
        if code != MISSING:
            yield GivenGrade(names[person], ratings.grades[code])


def _decisions(rounds: Sequence[Round], keys: Sequence[Key]) -> dict[Key, Adjudication]:
    """The newest decision in force on each of these pairs."""
    texts = texts_of(version for _, version in keys)
    rows = Adjudication.objects.filter(
        round__in=rounds,
        superseded_by=None,
        entry__query__in={query for query, _ in keys},
        entry__version__block__in={text.block_id for text in texts.values()},
    )
    found = {
        (row.entry.query_id, TextKey(row.entry.version.block_id, row.entry.version.text_digest)): row
        for row in rows.select_related("entry__version").order_by("pk")
    }
    return {key: found[wanted] for key in keys if (wanted := (key[0], texts[key[1]])) in found}
