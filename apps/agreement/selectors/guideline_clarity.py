"""How often leads' decisions called the guideline unclear: by query, and by grade boundary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from apps.judging.enums import ErrorType
from apps.judging.models import Adjudication, Round
from apps.metrics.agreement.counting import MISSING
from apps.metrics.agreement.ratings import Ratings


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
