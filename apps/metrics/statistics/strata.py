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
    fewest: int = FEWEST_IN_STRATUM,
) -> list[Kind]:
    """The kinds, of all that the rows have, of which a mean tells of no fewer than `fewest` values: largest first.

    A kind is left out that has fewer, but some, of the sealed rows or of the others. `by_subtraction` leaves out those
    too with which means of what is shown could be subtracted to a sum over fewer sealed rows: then each set of sealed
    rows that no shown kind tells apart has `fewest` or more. The first field in the order of rows is served first.
    """
    sealed = np.array(is_sealed, dtype=bool)
    told_apart = np.zeros(len(sealed), dtype=np.int64)
    sizes = Counter(kind for own in kinds for kind in own)
    fields = list(dict.fromkeys(field for field, _ in sizes))
    shown: list[Kind] = []
    for kind in sorted(sizes, key=lambda kind: (fields.index(kind[0]), -sizes[kind], kind[1])):
        inside = np.array([kind in own for own in kinds])
        of_sealed = int((inside & sealed).sum())
        if any(0 < side < fewest for side in (of_sealed, sizes[kind] - of_sealed)):
            continue
        if by_subtraction and of_sealed:
            _, parts = np.unique(told_apart * 2 + inside, return_inverse=True)
            if min(Counter(parts[sealed].tolist()).values()) < fewest:
                continue
            told_apart = parts
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
