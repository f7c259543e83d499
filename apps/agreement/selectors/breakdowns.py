"""Reads of agreement by boundary, query, stratum and week, and how much each part lowers it.

Only rounds that `selectors.rounds_for` lets a member see are read. Figures are cached until the next grade, so that a
page loaded twice computes one bootstrap.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.accounts.models import Project
from apps.agreement.core.weeks import date_of, mondays
from apps.agreement.selectors.differing_pairs import NO_RULING, Rulings, Unclear, newest_ruling, rulings_in
from apps.agreement.selectors.grade_cache import cached, dated_in, ratings_in
from apps.common.digests import digest_of
from apps.judging.models import Round
from apps.metrics.agreement.counting import MISSING
from apps.metrics.agreement.grouped_alpha import (
    Boundary,
    Differing,
    PatternCounts,
    boundaries,
    change_without,
    changes_without,
    differing,
    pattern_counts,
    places_for,
)
from apps.metrics.agreement.ratings import (
    Dated,
    PairAgreement,
    Ratings,
    alphas_of,
    coefficients_of,
    pairs_of,
    pairs_sharing,
    shared_items,
)
from apps.metrics.agreement.results import Coefficient
from apps.metrics.estimate import Estimate
from apps.queries.core.strata import STRATA
from apps.queries.models import Query
from apps.queries.selectors import stratum_values

SHOWN = 30
COSTLY = 10
PEOPLE = 12
ORDINAL_ALPHA = "Krippendorff's α, ordinal"
BOUNDARY, QUERY, WEEK = "boundary", "query", "week"
WAYS = {BOUNDARY: "Grade boundary", QUERY: "Query", WEEK: "Week", **STRATA}
NO_VALUE = "none named"


class Label(NamedTuple):
    """Names a part: `key` is the query's id, the Monday of the week, or the value of the stratum."""

    key: int | str
    name: str


class AlphaPart(NamedTuple):
    """A part of the `n` pairs that two people or more graded."""

    label: Label
    n: int
    differing: Differing
    alpha: Coefficient


class Parts(NamedTuple):
    """The parts that are shown, of `total`. `alike` counts the queries on which nobody differs; they are not shown."""

    shown: list[AlphaPart]
    total: int
    alike: int = 0


class Cost(NamedTuple):
    """What a query costs, as it is cached: the query itself, with its words, is read anew."""

    part: AlphaPart
    change: Estimate
    worst: Boundary
    unclear: Unclear


class Costly(NamedTuple):
    """A query that lowers agreement: `change` is what α would gain without it; `worst` its most crossed boundary.

    `unclear` counts the decisions on its pairs that call the guideline unclear.
    """

    query: Query
    part: AlphaPart
    change: Estimate
    worst: Boundary
    unclear: Unclear

    def is_settled(self, places: int) -> bool:
        """Whether all of the interval is above 0, at that many decimals."""
        return self.change.interval is not None and round(self.change.interval[0], places) > 0


class Overview(NamedTuple):
    """Agreement over everybody, and between those of `people_count` who share most pairs with others.

    `people` are ordered by the pairs they share, `pairs` by shared pairs, most first, `pair_alphas` like `pairs`;
    `shared` counts the pairs that two people or more graded, `graded` those that anybody graded.
    """

    graded: int
    shared: int
    coefficients: list[Coefficient]
    alpha: Coefficient
    people: list[int]
    people_count: int
    pairs: list[PairAgreement]
    pair_alphas: list[Coefficient]


class Tight(NamedTuple):
    """What to improve in the guideline: α of all, each boundary, and those of `query_count` queries that cost most.

    Costs are compared at `places` decimals; ties are ordered by the decisions in `rulings`.
    """

    alpha: Coefficient
    boundaries: list[Boundary]
    queries: list[Costly]
    query_count: int
    places: int
    rulings: Rulings

    @property
    def worst(self) -> Boundary | None:
        """The boundary with most crossings; None where nobody differs."""
        crossed = [boundary for boundary in self.boundaries if boundary.crossings]
        return max(crossed, key=lambda boundary: boundary.crossings, default=None)


# Everybody ---------------------------------------------------------------------------------------------------------


def overview_of(project: Project, rounds: Sequence[Round]) -> Overview:
    """Agreement in these rounds as a whole and by pair of people."""
    overview: Overview = cached(project, rounds, "everybody and pairs", lambda: _overview(project, rounds))
    return overview


def _overview(project: Project, rounds: Sequence[Round]) -> Overview:
    ratings = ratings_in(project, rounds)
    shared = shared_items(ratings)
    comparison = shared.sum(axis=1) - shared.diagonal()
    order = np.lexsort((ratings.people, -comparison))
    people = [ratings.people[place] for place in order.tolist() if comparison[place]]
    shown = set(people[:PEOPLE])
    pairs = pairs_of(ratings, [pair for pair in pairs_sharing(ratings) if shown.issuperset(pair)])
    coefficients = coefficients_of(ratings)
    return Overview(
        graded=len(ratings.items),
        shared=ratings.shared,
        coefficients=coefficients,
        alpha=next(one for one in coefficients if one.name == ORDINAL_ALPHA),
        people=people[:PEOPLE],
        people_count=len(people),
        pairs=pairs,
        pair_alphas=alphas_of(ratings, pairs),
    )


# Parts -------------------------------------------------------------------------------------------------------------


def boundaries_in(project: Project, rounds: Sequence[Round]) -> list[Boundary]:
    """Each boundary between neighbouring grades, lowest first."""

    def compute() -> list[Boundary]:
        return boundaries(ratings_in(project, rounds))

    rows: list[Boundary] = cached(project, rounds, BOUNDARY, compute)
    return rows


def parts_in(project: Project, rounds: Sequence[Round], by: str) -> Parts:
    """Agreement by query, week or stratum; `by` is a key of `WAYS` other than the boundary.

    Weeks are in order of time, only the last where there are many; strata by size; queries by cost, those first without
    which α would rise most, and last those where that is undefined. Queries on which nobody differs are only counted.
    """
    of_query = {} if by == WEEK else _values_of_queries(project, by)
    name = f"by {by}, {digest_of([[pk, label.name] for pk, label in sorted(of_query.items())])}"
    parts: Parts = cached(project, rounds, name, lambda: _parts(dated_in(project, rounds), by, of_query))
    return parts


def _parts(dated: Dated, by: str, of_query: Mapping[int, Label]) -> Parts:
    ratings = dated.ratings
    labels, of_items = _labels(dated, of_query)
    counts = pattern_counts(ratings, of_items, len(labels))
    filled = [place for place, n in enumerate(counts.sizes) if n]
    apart = differing(counts)
    if by == QUERY:
        cost = np.nan_to_num(changes_without(counts), nan=-np.inf)
        ordered = [place for place in filled if apart[place].hits]
        ordered.sort(key=lambda place: (-cost[place], -counts.sizes[place], labels[place].name))
    elif by == WEEK:
        ordered = filled[-SHOWN:]
    else:
        ordered = sorted(filled, key=lambda place: (-counts.sizes[place], labels[place].name))
    rows = [_part(counts, labels[place], apart[place], place, is_query=by == QUERY) for place in ordered[:SHOWN]]
    return Parts(rows, len(filled), len(filled) - len(ordered) if by == QUERY else 0)


def _part(counts: PatternCounts, label: Label, apart: Differing, place: int, *, is_query: bool) -> AlphaPart:
    return AlphaPart(label, counts.sizes[place], apart, counts.alpha_of(place, is_one_query=is_query))


def _labels(dated: Dated, of_query: Mapping[int, Label]) -> tuple[list[Label], NDArray[np.int64]]:
    """The parts by name, and the index of each item's part among them.

    `of_query` is the part of each query; without it, parts are weeks.
    """
    if not of_query:
        values, of_items = np.unique(_weeks_of_items(dated), return_inverse=True)
        labels = [_week_label(day) for day in values.tolist()]
    else:
        values, of_items = np.unique(dated.ratings.items[:, 0], return_inverse=True)
        labels = [of_query[query] for query in values.tolist()]
    parts = sorted(set(labels), key=lambda label: (label.name, label.key))
    place = {label: at for at, label in enumerate(parts)}
    places = np.array([place[label] for label in labels], dtype=np.int64)
    return parts, places[of_items.reshape(-1)]


def _values_of_queries(project: Project, by: str) -> dict[int, Label]:
    """The part of each query."""
    queries = Query.objects.filter(project=project)
    if by == QUERY:
        return {pk: Label(pk, name) for pk, name in queries.values_list("pk", "outside_id")}
    return {pk: Label(value or "", value or NO_VALUE) for pk, value in stratum_values(queries, by).items()}


def _weeks_of_items(dated: Dated) -> NDArray[np.int32]:
    """The Monday of the week of the last grade of each pair: the first week in which its agreement is known."""
    days = np.where(dated.ratings.codes == MISSING, 0, dated.days)
    return mondays(days.max(axis=1, initial=0))


def _week_label(monday: int) -> Label:
    name = f"{date_of(monday):%Y-%m-%d}"
    return Label(name, name)


# What costs most ---------------------------------------------------------------------------------------------------


def tight_spots(project: Project, rounds: Sequence[Round]) -> Tight:
    """What to improve in the guideline.

    A query on which nobody differs, or without which α would not rise, costs nothing and is left out.
    """
    name = f"tighten, rulings to {newest_ruling(rounds)}"
    found: tuple[Tight, list[Cost]] = cached(project, rounds, name, lambda: _tight_spots(project, rounds))
    spots, costs = found
    queries = Query.objects.in_bulk([cost.part.label.key for cost in costs])
    return spots._replace(queries=[Costly(queries[int(cost.part.label.key)], *cost) for cost in costs])


def _tight_spots(project: Project, rounds: Sequence[Round]) -> tuple[Tight, list[Cost]]:
    """Everything but the rows of its queries, and what each of them costs."""
    dated = dated_in(project, rounds)
    ratings = dated.ratings
    labels, of_items = _labels(dated, _values_of_queries(project, QUERY))
    counts = pattern_counts(ratings, of_items, len(labels))
    costs: list[float] = changes_without(counts).tolist()
    apart = differing(counts)
    rulings = rulings_in(rounds, ratings)
    order = [place for place in range(len(labels)) if costs[place] > 0 and apart[place].hits]
    places = places_for([costs[place] for place in order])

    def unclear(place: int) -> Unclear:
        return rulings.by_query.get(int(labels[place].key), NO_RULING)

    order.sort(key=lambda place: (-round(costs[place], places), -unclear(place).hits, -costs[place]))
    costs_of = [
        Cost(
            part=_part(counts, labels[place], apart[place], place, is_query=True),
            change=change_without(counts, place),
            worst=_most_crossed(ratings, of_items == place),
            unclear=unclear(place),
        )
        for place in order[:COSTLY]
    ]
    alpha = pattern_counts(ratings).alpha_of(0)
    return Tight(alpha, boundaries(ratings), [], len(order), places, rulings), costs_of


def _most_crossed(ratings: Ratings, inside: NDArray[np.bool_]) -> Boundary:
    own = Ratings(ratings.people, ratings.grades, ratings.codes[inside], ratings.items[inside])
    return max(boundaries(own), key=lambda boundary: boundary.crossings)
