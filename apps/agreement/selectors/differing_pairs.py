"""The pairs behind a figure with each person's grade, and the decisions that call the guideline unclear."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from apps.accounts.models import User
from apps.accounts.selectors import Member
from apps.agreement.selectors.grade_cache import ratings_in
from apps.corpus.models import BlockVersion
from apps.corpus.selectors.corpora import TextKey, places_of, texts_of
from apps.judging.enums import ErrorType, RoundState
from apps.judging.models import Adjudication, Round, RoundAnnotator
from apps.metrics.agreement.counting import MISSING
from apps.metrics.agreement.ratings import Ratings
from apps.queries.models import Query
from apps.retrieval.models import PoolEntry


class Unclear(NamedTuple):
    """Of `n` decisions that name a reason, those that name the guideline."""

    hits: int
    n: int


NO_RULING = Unclear(0, 0)


class Rulings(NamedTuple):
    """Decisions in force that call the guideline unclear.

    `by_boundary` is keyed by the grade above; a decision counts at every boundary between the pair's lowest and highest
    grade.
    """

    all: Unclear
    by_query: dict[int, Unclear]
    by_boundary: dict[int, Unclear]


def newest_ruling(rounds: Sequence[Round]) -> int:
    """The key of the last decision in these rounds, to cache figures by; 0 for none."""
    newest = Adjudication.objects.filter(round__in=rounds).order_by("-pk").values_list("pk", flat=True).first()
    return newest or 0


def rulings_in(rounds: Sequence[Round], ratings: Ratings) -> Rulings:
    """Decisions in force in these rounds. Imported ones without a recorded reason do not count."""
    decided = Adjudication.objects.filter(round__in=rounds, superseded_by=None)
    rows: Any = decided.exclude(error_type=ErrorType.NOT_RECORDED).values_list(
        "entry__query_id", "entry__version_id", "error_type"
    )
    spans = _spans(ratings)
    by_query: Counter[tuple[int, bool]] = Counter()
    by_boundary: Counter[tuple[int, bool]] = Counter()
    for query, version, why in rows.iterator(chunk_size=10_000):
        is_unclear = why == ErrorType.UNCLEAR_GUIDELINE
        by_query[query, is_unclear] += 1
        low, high = spans.get((query, version), (0, 0))
        by_boundary.update((grade, is_unclear) for grade in ratings.grades if low < grade <= high)
    queries = _added(by_query)
    hits, n = (sum(one[place] for one in queries.values()) for place in (0, 1))
    return Rulings(Unclear(hits, n), queries, _added(by_boundary))


def _spans(ratings: Ratings) -> dict[tuple[int, int], tuple[int, int]]:
    """The lowest and the highest grade of each pair on which people differ."""
    graded = ratings.codes != MISSING
    high = ratings.codes.max(axis=1, initial=MISSING)
    low = np.where(graded, ratings.codes, len(ratings.grades)).min(axis=1, initial=len(ratings.grades))
    apart = np.flatnonzero(low < high)
    grades = np.array(ratings.grades)
    keys = map(tuple, ratings.items[apart].tolist())
    return dict(zip(keys, zip(grades[low[apart]].tolist(), grades[high[apart]].tolist(), strict=True), strict=True))


def _added(counted: Counter[tuple[int, bool]]) -> dict[int, Unclear]:
    keys = {key for key, _ in counted}
    return {key: Unclear(counted[key, True], counted[key, True] + counted[key, False]) for key in keys}


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
