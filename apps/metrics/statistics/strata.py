"""Means of runs in named subsets of the queries, beside each other."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from apps.metrics.columns import Floats
from apps.metrics.statistics.significance import Summary, summaries

FEWEST_IN_STRATUM = 5
Kind = tuple[str, str]
"""A field, and a stratum of it."""


def open_strata(
    kinds: Sequence[Collection[Kind]],
    is_sealed: Sequence[bool],
    *,
    by_subtraction: bool = True,
    fields: Sequence[str] = (),
    fewest: int = FEWEST_IN_STRATUM,
) -> list[Kind]:
    """The kinds, of all that the rows have, of which a mean tells of no fewer than `fewest` values.

    A kind is left out that has fewer, but some, of the sealed rows or of the others. `by_subtraction` leaves out those
    too with which means of what is shown could be subtracted to a sum over fewer sealed rows: then each set of sealed
    rows that no shown kind tells apart has `fewest` or more. The first of `fields`, or in the order of rows, is served
    first, and in it the kind with most sealed rows: so the rows that are not sealed change nothing for those that are.
    """
    sealed = np.array(is_sealed, dtype=bool)
    told_apart = np.zeros(len(sealed), dtype=np.int64)
    sizes = Counter(kind for own in kinds for kind in own)
    in_sealed = Counter(kind for own, is_in in zip(kinds, is_sealed, strict=True) if is_in for kind in own)
    order = list(dict.fromkeys([*fields, *(field for field, _ in sizes)]))
    shown: list[Kind] = []
    for kind in sorted(sizes, key=lambda kind: (order.index(kind[0]), -in_sealed[kind], -sizes[kind], kind[1])):
        if 0 < in_sealed[kind] < fewest:
            continue
        if by_subtraction and in_sealed[kind]:
            inside = np.array([kind in own for own in kinds])
            _, parts = np.unique(told_apart * 2 + inside, return_inverse=True)
            if min(Counter(parts[sealed].tolist()).values()) < fewest:
                continue
            told_apart = parts
        if not 0 < sizes[kind] - in_sealed[kind] < fewest:
            shown.append(kind)
    return shown


class ComparedStratum(NamedTuple):
    """A named subset with the summary of each run, in the order the runs were given."""

    name: str
    n: int
    summaries: tuple[Summary, ...]


def compare_strata(
    labels: Sequence[str], runs: Sequence[Floats], *, fewest: int = FEWEST_IN_STRATUM
) -> tuple[list[ComparedStratum], int]:
    """The mean of each run in every stratum, largest first; and how many strata were too small to show.

    `labels[i]` names the stratum of row i; rows without a name are left out.
    """
    compared, small = [], 0
    for name in dict.fromkeys(label for label in labels if label):
        inside = np.array([label == name for label in labels])
        if inside.sum() < fewest:
            small += 1
            continue
        values = np.column_stack([run[inside] for run in runs])
        compared.append(ComparedStratum(name, int(inside.sum()), tuple(summaries(values))))
    return sorted(compared, key=lambda stratum: (-stratum.n, stratum.name)), small
