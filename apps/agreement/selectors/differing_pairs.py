"""The pairs behind a figure with each person's grade, for leads who will not judge them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from apps.accounts.models import User
from apps.accounts.selectors import Member
from apps.agreement.selectors.grade_cache import ratings_in
from apps.corpus.models import BlockVersion
from apps.corpus.selectors.corpora import TextKey, places_of, texts_of
from apps.judging.enums import RoundState
from apps.judging.models import Adjudication, Round, RoundAnnotator
from apps.metrics.agreement.counting import MISSING
from apps.metrics.agreement.ratings import Ratings
from apps.queries.models import Query
from apps.retrieval.models import PoolEntry

SHOWN = 100
AT_ONCE = 500

Key = tuple[int, int]
"""A query and a block version."""


class Which(NamedTuple):
    """Filter of pairs: of one query; across the boundary below grade `boundary`; of two people, with their grades."""

    query: int | None = None
    boundary: int | None = None
    first: int | None = None
    second: int | None = None
    row: int | None = None
    column: int | None = None


class PersonGrade(NamedTuple):
    person: str
    grade: int


class DifferingPair(NamedTuple):
    """One pair with everybody's grade, by name, and a lead's decision, where there is one."""

    query: Query
    version: BlockVersion
    document: str
    given: list[PersonGrade]
    decision: Adjudication | None

    @property
    def is_alike(self) -> bool:
        return len({each.grade for each in self.given}) == 1


class Differences(NamedTuple):
    """`shown` pairs of `total`; `hidden` counts others that the reader may still have to judge."""

    shown: list[DifferingPair]
    total: int
    hidden: int


def differences(member: Member, rounds: Sequence[Round], which: Which) -> Differences:
    """The pairs that fit, largest difference of grades first; then in the order of their queries."""
    ratings = ratings_in(member.project, rounds)
    places = _fitting(ratings, which)
    hidden = _still_to_grade(member, ratings, places)
    visible = [place for place in places if place not in hidden]
    shown = visible[:SHOWN]
    keys: list[Key] = [(query, text) for query, text in ratings.items[shown].tolist()]
    queries = Query.objects.in_bulk({query for query, _ in keys})
    versions = BlockVersion.objects.select_related("block__document").in_bulk({text for _, text in keys})
    documents = places_of(versions.values())
    decisions = _decisions(rounds, keys)
    names = dict(User.objects.filter(pk__in=ratings.people).values_list("pk", "name"))
    rows = [
        DifferingPair(
            queries[query],
            versions[text],
            documents[versions[text].block_id],
            list(_grades_of(ratings, place, names)),
            decisions.get((query, text)),
        )
        for place, (query, text) in zip(shown, keys, strict=True)
    ]
    return Differences(rows, len(visible), len(hidden))


def _fitting(ratings: Ratings, which: Which) -> list[int]:
    """The indexes of the items that fit, largest difference first, then by query and text."""
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
            fits &= _graded_as(ratings, person, grade)
    fitting = np.flatnonzero(fits)
    order = np.lexsort((fitting, low[fitting] - high[fitting]))
    places: list[int] = fitting[order].tolist()
    return places


def _graded_as(ratings: Ratings, person: int, grade: int | None) -> NDArray[np.bool_]:
    """Items to which this person gave that grade; any grade, where none is named."""
    if person not in ratings.people or (grade is not None and grade not in ratings.grades):
        return np.zeros(len(ratings.codes), dtype=bool)
    own = ratings.codes[:, ratings.people.index(person)]
    return own != MISSING if grade is None else own == ratings.grades.index(grade)


def assignable_entries(member: Member) -> QuerySet[PoolEntry]:
    """The pairs of every pool in which this member may still be assigned pairs."""
    assigned = RoundAnnotator.objects.filter(annotator=member.user).exclude(round__state=RoundState.CLOSED)
    return PoolEntry.objects.filter(pool__in=assigned.values("round__pool"))


def _still_to_grade(member: Member, ratings: Ratings, places: Sequence[int]) -> set[int]:
    """Those items that the reader may still be assigned, in any round: others' grades would bias them."""
    items = ratings.items[list(places)].tolist()
    texts = texts_of(version for _, version in items)
    of_key = {(query, texts[version]): place for (query, version), place in zip(items, places, strict=True)}
    queries = sorted({query for query, _ in of_key})
    entries = assignable_entries(member)
    assignable = set()
    for start in range(0, len(queries), AT_ONCE):
        rows = entries.filter(query__in=queries[start : start + AT_ONCE])
        named = rows.values_list("query_id", "version__block_id", "version__text_digest")
        keys = ((query, TextKey(block, digest)) for query, block, digest in named.iterator(chunk_size=10_000))
        assignable |= {of_key[key] for key in keys if key in of_key}
    return assignable


def _grades_of(ratings: Ratings, place: int, names: dict[int, str]) -> Iterator[PersonGrade]:
    row = ratings.codes[place].tolist()
    for person, code in sorted(zip(ratings.people, row, strict=True), key=lambda each: names[each[0]]):
        if code != MISSING:
            yield PersonGrade(names[person], ratings.grades[code])


def _decisions(rounds: Sequence[Round], keys: Sequence[Key]) -> dict[Key, Adjudication]:
    """The newest decision in force on each of these pairs."""
    texts = texts_of(version for _, version in keys)
    rows = Adjudication.objects.filter(
        round__in=rounds,
        superseded_by=None,
        entry__query__in={query for query, _ in keys},
        entry__version__block__in={text.block_id for text in texts.values()},
    )
    newest = {
        (row.entry.query_id, TextKey(row.entry.version.block_id, row.entry.version.text_digest)): row
        for row in rows.select_related("entry__version").order_by("pk")
    }
    return {key: newest[wanted] for key in keys if (wanted := (key[0], texts[key[1]])) in newest}
