"""Means of runs in named subsets of the queries, beside each other."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from apps.metrics.columns import Floats, Ints
from apps.metrics.estimate import MOVER
from apps.metrics.statistics.significance import Scored, Summary, summaries

FEWEST_IN_STRATUM = 5
Kind = tuple[str, str]
"""A field, and a stratum of it."""


def open_strata(
    kinds: Sequence[Collection[Kind]],
    is_sealed: Sequence[bool],
    *,
    by_subtraction: bool = True,
    fields: Sequence[str] = (),
) -> list[Kind]:
    """The kinds, of all that the rows have, of which a mean tells of no fewer than FEWEST_IN_STRATUM values.

    A kind is left out that has fewer, but some, of the sealed rows or of the others. `by_subtraction` leaves out those
    too with which means of what is shown could be subtracted to a sum over fewer sealed rows: then each set of sealed
    rows that no shown kind tells apart has as many. The first of `fields`, or in the order of rows, is served
    first, and in it the kind with most sealed rows: so the rows that are not sealed change nothing for those that are.
    """
    sealed = np.array(is_sealed, dtype=bool)
    told_apart = np.zeros(len(sealed), dtype=np.int64)
    sizes = Counter(kind for own in kinds for kind in own)
    in_sealed = Counter(kind for own, is_in in zip(kinds, is_sealed, strict=True) if is_in for kind in own)
    order = list(dict.fromkeys([*fields, *(field for field, _ in sizes)]))
    shown: list[Kind] = []

    def turn(kind: Kind) -> tuple[int, int, int, str]:
        """Among kinds of sealed rows no open row counts; those without any come last, the largest first."""
        return order.index(kind[0]), -in_sealed[kind], 0 if in_sealed[kind] else -sizes[kind], kind[1]

    for kind in sorted(sizes, key=turn):
        if 0 < in_sealed[kind] < FEWEST_IN_STRATUM:
            continue
        if by_subtraction and in_sealed[kind]:
            inside = np.array([kind in own for own in kinds])
            _, parts = np.unique(told_apart * 2 + inside, return_inverse=True)
            if min(Counter(parts[sealed].tolist()).values()) < FEWEST_IN_STRATUM:
                continue
            told_apart = parts
        if not 0 < sizes[kind] - in_sealed[kind] < FEWEST_IN_STRATUM:
            shown.append(kind)
    return shown


class Division(NamedTuple):
    """One way to divide queries or items: the stratum of each in their order, "" where it is in none."""

    field: str
    labels: tuple[str, ...]

    @property
    def strata(self) -> list[str]:
        """The strata that occur, by name."""
        return sorted(set(self.labels) - {""})

    @property
    def numbers(self) -> Ints:
        """A number for each, the same within a stratum. Those of no stratum form one of their own."""
        return np.unique(np.array(self.labels), return_inverse=True)[1].astype(np.int64)


class ComparedStratum(NamedTuple):
    """A named subset with the summary of each run, in the order the runs were given."""

    name: str
    n: int
    summaries: tuple[Summary, ...]


def weighted_to_shares(strata: Sequence[ComparedStratum], shares: Sequence[float]) -> list[Summary]:
    """The mean of each run if the strata had these shares, which add up to 1: Σ W x̄, post-stratified.

    The interval joins those of the strata, x̄ − l and u − x̄ from each mean to its ends (Zou, Huang and Zhang, A note on
    confidence interval estimation for a linear function of binomial proportions, Computational Statistics and Data
    Analysis 53, 2009): Σ W x̄ − √Σ W² (x̄ − l)², and up likewise. It takes the shares as known. `n` counts the queries of
    strata with a share above 0. No mean where one of these has none, no interval where one of these has none.
    """
    used = [(one, share) for one, share in zip(strata, shares, strict=True) if share > 0]
    runs = len(used[0][0].summaries) if used else 0
    return [_weighted([one.summaries[run] for one, _ in used], [share for _, share in used]) for run in range(runs)]


def _weighted(summaries: Sequence[Summary], shares: Sequence[float]) -> Summary:
    n = sum(one.n for one in summaries)
    means = [one.mean for one in summaries if one.mean is not None]
    if len(means) < len(summaries):
        return Summary(None, None, n, MOVER)
    mean = math.fsum(share * one for share, one in zip(shares, means, strict=True))
    intervals = [one.interval for one in summaries if one.interval is not None]
    if len(intervals) < len(summaries):
        return Summary(mean, None, n, MOVER)
    below, above = (
        math.sqrt(math.fsum((w * (m - ends[side])) ** 2 for w, m, ends in zip(shares, means, intervals, strict=True)))
        for side in (0, 1)
    )
    return Summary(mean, (mean - below, mean + above), n, MOVER)


def compare_strata(
    labels: Sequence[str], runs: Sequence[Floats], measure: Scored, originals: Ints | None = None
) -> tuple[list[ComparedStratum], int]:
    """The mean of each run by a measure in every stratum, largest first; and how many strata were too small to show.

    `labels[i]` names the stratum of row i; rows without a name are left out. Rows of one number in `originals` are
    wordings of one question, which counts once in the intervals of a stratum.
    """
    compared, small = [], 0
    for name in dict.fromkeys(label for label in labels if label):
        inside = np.array([label == name for label in labels])
        if inside.sum() < FEWEST_IN_STRATUM:
            small += 1
            continue
        values, own = np.column_stack([run[inside] for run in runs]), None if originals is None else originals[inside]
        means = summaries([measure] * len(runs), values, originals=own)
        compared.append(ComparedStratum(name, len(values), tuple(means)))
    return sorted(compared, key=lambda stratum: (-stratum.n, stratum.name)), small
