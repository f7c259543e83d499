"""Further paired tests of two runs: paired t, Wilcoxon's signed ranks, effect size.

They are for readers who know them; the verdict uses the interval and the randomisation test, which assume nothing about
the distribution of differences.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from apps.metrics.statistics.bootstrap import (
    DEFAULT_CONFIDENCE,
    DEFAULT_SEED,
    RESAMPLES,
    Floats,
    Interval,
    Ints,
    percentile_interval,
    resampled_means,
)
from apps.metrics.statistics.proportions import widened
from apps.metrics.statistics.significance import EQUAL

EXACT_TO = 50
ROUNDING = 1e-12


class Statistic(NamedTuple):
    """The value of a test statistic and its two-sided p, over n differences."""

    value: float
    p: float
    n: int


class Paired(NamedTuple):
    """Further tests of one column of paired differences.

    `spread` is the standard deviation (n - 1), None for fewer than two queries. `effect` is the mean in spreads,
    Cohen's d of paired values, with its percentile interval. `t` and `effect` are None when all differences are equal,
    `wilcoxon` when none differs from 0.
    """

    n: int
    spread: float | None
    t: Statistic | None
    wilcoxon: Statistic | None
    effect: float | None
    effect_interval: Interval | None


def paired_tests(
    change: Floats,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
) -> list[Paired]:
    """Each column of a (queries, columns) array of differences, candidate minus baseline.

    Raises ValueError when a difference is not finite.
    """
    if not np.isfinite(change).all():
        raise ValueError("A paired test needs a value for every query on both sides.")
    # Centred and scaled to 1: squares of nearly equal differences would cancel out, and those of tiny ones would be 0.
    centre = change.sum(axis=0) / max(1, len(change))
    reach = np.abs(change - centre).max(axis=0, initial=0.0)
    reach[reach == 0] = 1.0
    scaled = (change - centre) / reach
    both = np.hstack([scaled, scaled**2])
    drawn = resampled_means(both, seed=seed, resamples=resamples) if len(change) > 1 else both
    columns = change.shape[1]
    return [
        _paired(change[:, place], drawn[:, [place, columns + place]], float(centre[place] / reach[place]), confidence)
        for place in range(columns)
    ]


def _paired(change: Floats, drawn: Floats, centre: float, confidence: float) -> Paired:
    """`drawn` are resampled means of the scaled differences and of their squares; `centre` is their scaled mean."""
    n = len(change)
    spread = float(change.std(ddof=1)) if n > 1 else None
    wilcoxon = signed_ranks(change)
    if spread is None or spread <= ROUNDING * float(np.abs(change).max()):
        return Paired(n, 0.0 if n > 1 else None, None, wilcoxon, None, None)
    effect = math.fsum(change) / n / spread
    interval = _effect_interval(drawn, centre, n, confidence)
    return Paired(n, spread, paired_t(change), wilcoxon, effect, interval)


def paired_t(change: Floats) -> Statistic:
    """Student's t of the mean difference. It needs two differences or more, not all the same."""
    from scipy.special import stdtr  # loaded on use: `karat score` starts without SciPy

    n = len(change)
    statistic = math.fsum(change) / n / (float(change.std(ddof=1)) / math.sqrt(n))
    return Statistic(statistic, 2 * float(stdtr(n - 1, -abs(statistic))), n)


def signed_ranks(change: Floats) -> Statistic | None:
    """Wilcoxon's signed-rank test (Biometrics Bulletin 1, 1945); None when no query differs.

    What is equal (`significance.EQUAL`) is left out, equal differences share the mean of their ranks. The statistic is
    the smaller sum of ranks. p is exact for up to 50 differences, ties included, and from the normal distribution,
    corrected for ties but not for continuity, for more.
    """
    moved = change[np.abs(change) > EQUAL]
    n = len(moved)
    if n == 0:
        return None
    _, group, sizes = np.unique(np.round(np.abs(moved), 12), return_inverse=True, return_counts=True)
    twice = (2 * np.cumsum(sizes) - sizes + 1)[group]
    above, below = int(twice[moved > 0].sum()), int(twice[moved < 0].sum())
    smaller = min(above, below)
    p = _exact_p(twice, smaller) if n <= EXACT_TO else _normal_p(n, sizes, smaller / 2)
    return Statistic(smaller / 2, p, n)


def _exact_p(twice: Ints, smaller: int) -> float:
    """Twice the share of all signs whose sum of ranks, here doubled to be whole, is as small as this."""
    ways = np.zeros(int(twice.sum()) + 1)
    ways[0] = 1.0
    for rank in twice.tolist():
        ways[rank:] = ways[rank:] + ways[:-rank]
    return min(1.0, 2 * float(ways[: smaller + 1].sum()) / 2.0 ** len(twice))


def _normal_p(n: int, sizes: Ints, smaller: float) -> float:
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((sizes**3 - sizes).sum()) / 48
    z = (smaller - n * (n + 1) / 4) / math.sqrt(variance)
    return math.erfc(abs(z) / math.sqrt(2))


def _effect_interval(drawn: Floats, centre: float, n: int, confidence: float) -> Interval:
    """Percentile interval of mean / spread over resampled queries; draws without spread are left out."""
    variance = (drawn[:, 1] - drawn[:, 0] ** 2) * n / (n - 1)
    scatters = variance > ROUNDING
    effects = (centre + drawn[scatters, 0]) / np.sqrt(variance[scatters])
    return percentile_interval(effects, widened(confidence, n))
