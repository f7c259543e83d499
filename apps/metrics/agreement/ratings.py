"""Grades as a matrix of items by people, and their agreement. No database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from apps.metrics.agreement.alpha import krippendorff_alpha
from apps.metrics.agreement.counting import (
    MISSING,
    Cells,
    category_counts,
    distinct_rows,
    pair_cells,
    pair_table,
    table_counts,
)
from apps.metrics.agreement.overall import Scale, all_coefficients, every_pair
from apps.metrics.agreement.pairs import cohen_kappas, percent_agreement
from apps.metrics.agreement.results import Coefficient
from apps.metrics.estimate import Estimate
from apps.metrics.statistics.proportions import wilson

Row = tuple[int, int, int, int | None]
ITEMS_AT_ONCE = 1_024
MANY_QUERIES = 2
"""From so many queries of a text on, on average, intervals are over texts too."""
OF_EVERYBODY = (
    "percent_agreement",
    "fleiss_kappa",
    "conger_kappa",
    "gwet_ac1",
    "gwet_ac2_quadratic",
    *(f"krippendorff_alpha_{level}" for level in ("nominal", "ordinal", "interval")),
)


@dataclass(frozen=True)
class Ratings:
    """`codes` is items by people as positions in `grades`, MISSING for no grade.

    `items` has query and text of each item, in the order of `codes`.
    """

    people: tuple[int, ...]
    grades: tuple[int, ...]
    codes: NDArray[np.int64]
    items: NDArray[np.int64]

    @property
    def shared(self) -> int:
        """Items that two people or more graded."""
        return int(((self.codes != MISSING).sum(axis=1) >= 2).sum())

    def table(self, first: int, second: int) -> NDArray[np.int64]:
        """Counts of grade pairs: rows are the grades of `first`, columns those of `second`."""
        return pair_table(*self._both(first, second), len(self.grades))

    def cells(self, first: int, second: int) -> Cells:
        """For each item that both graded its cell in their table, and its clusters."""
        return pair_cells(*self._both(first, second), len(self.grades), self.clusters)

    @cached_property
    def clusters(self) -> NDArray[np.int64]:
        """What intervals are over: the query of each item, or query and text where texts have as many items as that.

        A text that is graded for several queries may be clear or hard for all of them.
        """
        texts = len(np.unique(self.items[:, 1]))
        return self.items if len(self.items) >= MANY_QUERIES * texts else self.items[:, 0]

    def _both(self, first: int, second: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self.codes[:, self.people.index(first)], self.codes[:, self.people.index(second)]


@dataclass(frozen=True)
class Dated:
    """Ratings, and items by people the day of each grade, counted from 1970-01-01; undefined without a grade."""

    ratings: Ratings
    days: NDArray[np.int32]


@dataclass(frozen=True)
class PairAgreement:
    """Two people, by id, and the agreement of their grades of the same items."""

    first: int
    second: int
    n: int
    percent: Coefficient
    kappa: Coefficient
    quadratic: Coefficient


@dataclass(frozen=True)
class Rate:
    """`hits` of `n` with Wilson's interval; None when n is 0."""

    hits: int
    n: int

    @property
    def value(self) -> float | None:
        return self.hits / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson(self.hits, self.n)

    @property
    def estimate(self) -> Estimate:
        return Estimate.of(self.value, self.interval, self.n, "Wilson", "" if self.n else "Nothing was counted yet.")


def ratings_from(rows: Iterable[Row], scale: Sequence[int]) -> Ratings:
    """Ratings from (query, text, person, grade) rows, oldest first: the last grade of a person for a pair counts.

    Grades outside the scale, from before it was changed, become categories of their own.
    """
    table = np.array(list(rows), dtype=np.int64).reshape(-1, 4)
    return dated_ratings(table, np.zeros(len(table), dtype=np.int32), scale).ratings


def dated_ratings(table: NDArray[np.int64], days: NDArray[np.int32], scale: Sequence[int]) -> Dated:
    """The same from a table with those four columns, and the day of each row."""
    grades = np.array(sorted({*scale, *np.unique(table[:, 3]).tolist()}), dtype=np.int64)
    people, person = np.unique(table[:, 2], return_inverse=True)
    items, item = distinct_rows(table[:, :2])
    codes = np.full((len(items), len(people)), MISSING, dtype=np.int64)
    codes[item, person] = np.searchsorted(grades, table[:, 3])
    given = np.zeros(codes.shape, dtype=np.int32)
    given[item, person] = days
    return Dated(Ratings(tuple(people.tolist()), tuple(grades.tolist()), codes, items), given)


def shared_items(ratings: Ratings) -> NDArray[np.int64]:
    """People by people: how many items both graded; on the diagonal how many each graded."""
    size = len(ratings.people)
    shared = np.zeros((size, size))
    for start in range(0, len(ratings.codes), ITEMS_AT_ONCE):
        graded = (ratings.codes[start : start + ITEMS_AT_ONCE] != MISSING).astype(float)
        shared += graded.T @ graded
    return shared.astype(np.int64)


def pairs_sharing(ratings: Ratings) -> list[tuple[int, int]]:
    """Every two people who share an item, by id, most items first."""
    shared = np.triu(shared_items(ratings), k=1)
    first, second = np.nonzero(shared)
    order = np.lexsort((second, first, -shared[first, second]))
    people = ratings.people
    return [(people[one], people[other]) for one, other in zip(first[order], second[order], strict=True)]


def pairs_of(ratings: Ratings, pairs: Iterable[tuple[int, int]] | None = None) -> list[PairAgreement]:
    """The agreement of these pairs; by default of every two people who share an item, most items first."""
    if pairs is None:
        return _every_two(ratings)
    return [pair_agreement(ratings.table(*pair), ratings.cells(*pair), *pair, ratings.grades) for pair in pairs]


def _every_two(ratings: Ratings) -> list[PairAgreement]:
    """All pairs in one pass: with many people, one by one is too slow."""
    people = ratings.people
    return [
        PairAgreement(
            first=people[pair.first],
            second=people[pair.second],
            n=pair.n,
            percent=pair.figures["percent_agreement"],
            kappa=pair.figures["cohen_kappa"],
            quadratic=pair.figures["weighted_kappa_quadratic"],
        )
        for pair in every_pair(ratings.codes, _scale_of(ratings), clusters=ratings.clusters)
    ]


def _scale_of(ratings: Ratings) -> Scale:
    values = tuple(float(grade) for grade in ratings.grades)
    return Scale(len(values), values, is_numeric=True)


def pair_agreement(
    table: NDArray[np.int64], cells: Cells, first: int, second: int, grades: Sequence[int]
) -> PairAgreement:
    kappa, quadratic = cohen_kappas(table, values=grades, kinds=("nominal", "quadratic"), cells=cells)
    return PairAgreement(first, second, int(table.sum()), percent_agreement(table, cells=cells), kappa, quadratic)


def alphas_of(ratings: Ratings, pairs: Iterable[PairAgreement]) -> list[Coefficient]:
    """Ordinal α of each pair, in order: comparable with the coefficient over everybody."""
    return [alpha_of_two(ratings, pair.first, pair.second) for pair in pairs]


def alpha_of_two(ratings: Ratings, first: int, second: int) -> Coefficient:
    """Krippendorff's ordinal alpha of two people."""
    cells = ratings.cells(first, second)
    counts = table_counts(ratings.table(first, second), cells)
    return krippendorff_alpha(counts, level="ordinal", values=ratings.grades, clusters=cells.clusters)


def agreement_of(rows: Iterable[tuple[int, int, int]], scale: Sequence[int], person: int) -> PairAgreement:
    """The agreement of the two grades in each row: a person's own, and that of a decision or of their second look.

    Each row begins with the query.
    """
    given = np.array(list(rows), dtype=np.int64).reshape(-1, 3)
    grades = np.array(sorted({*scale, *np.unique(given[:, 1:]).tolist()}), dtype=np.int64)
    own, other = np.searchsorted(grades, given[:, 1:]).T
    cells = pair_cells(own, other, len(grades), given[:, 0])
    return pair_agreement(pair_table(own, other, len(grades)), cells, person, person, grades.tolist())


def coefficients_of(ratings: Ratings) -> list[Coefficient]:
    """Every coefficient for any number of raters, from plain agreement to the ordinal ones.

    The same as in `karat agree --cluster` by query.
    """
    coefficients = all_coefficients(ratings.codes, _scale_of(ratings), clusters=ratings.clusters)
    return [coefficients[key] for key in OF_EVERYBODY]


def alpha_of(ratings: Ratings) -> Coefficient:
    """Krippendorff's alpha at the ordinal level over everybody who graded."""
    counts = category_counts(ratings.codes, len(ratings.grades))
    return krippendorff_alpha(counts, level="ordinal", values=ratings.grades, clusters=ratings.clusters)
