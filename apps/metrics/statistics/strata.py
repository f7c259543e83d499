"""Means of runs in named subsets of the queries, beside each other."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from apps.metrics.columns import Floats
from apps.metrics.statistics.significance import Summary, summaries

FEWEST_IN_STRATUM = 5


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
