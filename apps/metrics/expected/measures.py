"""Measures by hits: values for each question, and the distribution of the first right rank."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from apps.metrics.columns import Floats, Ints
from apps.metrics.expected.hits import Hits
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.notation import MeasureError

if TYPE_CHECKING:
    from apps.metrics.measures.entries import Measure

DEFAULT_HIT_MEASURES = "Success@5 Success@1 RR"
NOT_FOUND = -1
BIN_ENDS = (1, 2, 3, 4, 5, 10, 20, 100)


def _ratio(above: Ints, below: Ints | int) -> Floats:
    return above / np.maximum(below, 1)


def _passages(hits: Hits, cutoff: int) -> Ints:
    """How many of the first passages are hits."""
    chosen = hits.rank < cutoff
    is_new = np.ones(len(hits.rank), dtype=bool)
    is_new[1:] = (hits.question[1:] != hits.question[:-1]) | (hits.rank[1:] != hits.rank[:-1])
    return np.bincount(hits.question[chosen & is_new], minlength=hits.size)


def _blocks(hits: Hits, cutoff: int) -> Ints:
    """How many of the expected blocks are found among the first passages."""
    chosen = hits.rank < cutoff
    pairs = np.unique(np.stack([hits.question[chosen], hits.expected[chosen]]), axis=1)
    return np.bincount(pairs[0], minlength=hits.size)


def _success(hits: Hits, measure: Measure) -> Floats:
    return (_passages(hits, measure.cutoff or 1) > 0).astype(np.float64)


def _failure(hits: Hits, measure: Measure) -> Floats:
    return 1.0 - _success(hits, measure)


def _precision(hits: Hits, measure: Measure) -> Floats:
    return _ratio(_passages(hits, measure.cutoff or 1), measure.cutoff or 1)


def _recall(hits: Hits, measure: Measure) -> Floats:
    return _ratio(_blocks(hits, measure.cutoff or 1), hits.expected_blocks)


def _coverage(hits: Hits, measure: Measure) -> Floats:
    return _ratio(np.minimum(_blocks(hits, measure.cutoff or 1), hits.needed), hits.needed)


def _sufficient(hits: Hits, measure: Measure) -> Floats:
    return (_blocks(hits, measure.cutoff or 1) >= hits.needed).astype(np.float64)


def _reciprocal_rank(hits: Hits, measure: Measure) -> Floats:
    ranks = first_ranks(hits)
    counts = ranks >= 0
    if measure.cutoff is not None:
        counts &= ranks < measure.cutoff
    return np.where(counts, 1.0 / (np.maximum(ranks, 0) + 1), 0.0)


HIT_MEASURES: dict[str, Callable[[Hits, Measure], Floats]] = {
    "Success": _success,
    "FailureRate": _failure,
    "RR": _reciprocal_rank,
    "P": _precision,
    "Recall": _recall,
    "Coverage": _coverage,
    "Sufficient": _sufficient,
}


def can_be_of_hits(measure: Measure) -> bool:
    """Whether a measure can be computed without grades."""
    return measure.name in HIT_MEASURES and not measure.judged_only and measure.rel == 1


def refuse_without_hits(measures: Iterable[Measure]) -> None:
    """Raises MeasureError for the first measure that needs grades, or has a parameter that is about grades."""
    for measure in measures:
        if measure.name not in HIT_MEASURES:
            known = ", ".join(HIT_MEASURES)
            raise MeasureError(f"{measure} needs grades. Measures by expected passages: {known}.")
        if not can_be_of_hits(measure):
            raise MeasureError(f"{measure} has a parameter about grades; by expected passages write {measure.name}@k.")


def measure_hits(measures: Sequence[Measure], hits: Hits) -> Floats:
    """The values of every measure for every question: shape (questions, measures), in the given order.

    NaN for the questions that the rule says nothing about. A question with nothing returned is 0, FailureRate 1. Raises
    MeasureError for a measure that needs grades.
    """
    refuse_without_hits(measures)
    values = np.empty((hits.size, len(measures)))
    for place, measure in enumerate(measures):
        values[:, place] = HIT_MEASURES[measure.name](hits, measure)
    values[~hits.is_defined] = np.nan
    return values


def first_ranks(hits: Hits) -> Ints:
    """For each question the rank of its first hit, from 0; NOT_FOUND (-1) without one."""
    ranks = np.full(hits.size, NOT_FOUND, dtype=np.int64)
    ranks[hits.question[::-1]] = hits.rank[::-1]
    return ranks


class RankBin(NamedTuple):
    """How many questions have their first hit at ranks `first` to `last`, from 1; both are None for "not found"."""

    first: int | None
    last: int | None
    questions: int

    @property
    def words(self) -> str:
        if self.first is None:
            return "not found"
        if self.last is None:
            return f"after {self.first - 1}"
        return f"{self.first}" if self.first == self.last else f"{self.first}–{self.last}"


def rank_bins(hits: Hits) -> list[RankBin]:
    """The distribution of the first right rank over the questions that the rule says something about.

    Ranks 1 to 5 each, then 6–10, 11–20, 21–100, beyond 100 where a hit is, and not found.
    """
    ranks = first_ranks(hits)[hits.is_defined] + 1
    bins, first = [], 1
    for last in BIN_ENDS:
        bins.append(RankBin(first, last, int(((ranks >= first) & (ranks <= last)).sum())))
        first = last + 1
    if beyond := int((ranks >= first).sum()):
        bins.append(RankBin(first, None, beyond))
    return [*bins, RankBin(None, None, int((ranks == 0).sum()))]
