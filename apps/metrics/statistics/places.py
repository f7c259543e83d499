"""The places of runs on a leaderboard from their paired comparisons, rank correlation, and quality against cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.estimate import FISHER, Estimate
from apps.metrics.statistics.bootstrap import MOST_UNDEFINED, percentile_interval
from apps.metrics.statistics.intervals import Floats, Interval
from apps.metrics.statistics.proportions import student_quantile
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE, LEVEL, Correction, change_of


def front(quality: Sequence[float | None], price: Sequence[float | None]) -> list[bool]:
    """Whether no other run is at least as good, at most as expensive, and better in one of the two.

    `quality[i]` is better the higher it is, `price[i]` the lower. Runs that are equal in both are on the front
    together. A run without either value is not on the front and excludes no other. Empty without runs.

    Raises ValueError when the two differ in length.
    """
    if len(quality) != len(price):
        raise ValueError("A Pareto front needs a quality and a price of every run.")
    good = np.array([np.nan if value is None else value for value in quality], dtype=float)
    dear = np.array([np.nan if value is None else value for value in price], dtype=float)
    known = ~np.isnan(good) & ~np.isnan(dear)
    no_worse = (good[None, :] >= good[:, None]) & (dear[None, :] <= dear[:, None])
    better = (good[None, :] > good[:, None]) | (dear[None, :] < dear[:, None])
    beaten = (no_worse & better).any(axis=1)
    return [bool(one) for one in known & ~beaten]


EQUAL_PLACES = 12
"""Means are rounded to so many places, so that those that differ only by the order of summation are equal."""


def kendall_taus(before: Floats, after: Floats) -> Floats:
    """Kendall's τ-b of each row of two (draws, runs) arrays; NaN where it is not defined. One row fits any number."""
    one, other = np.triu_indices(before.shape[1], 1)
    first, second = np.sign(before[:, one] - before[:, other]), np.sign(after[:, one] - after[:, other])
    pairs = np.sqrt((first != 0).sum(axis=1) * (second != 0).sum(axis=1).astype(np.float64))
    alike = (first * second).sum(axis=1)
    return np.divide(alike, pairs, out=np.full(len(alike), np.nan), where=pairs > 0)


def tau_interval(tau: float, taus: Floats, share: float) -> Interval | None:
    """The percentile interval over draws, extended to include τ. None when τ or more than half of the draws are
    undefined.

    τ changes in steps, and where runs are close its draws tend to one side of it, so the percentile interval can leave
    out τ. An interval corrected for that bias would shrink to one step, and look most certain where it is least so.
    """
    if np.isnan(tau) or np.isnan(taus).mean() > MOST_UNDEFINED:
        return None
    low, high = percentile_interval(taus, share)
    return min(low, float(tau)), max(high, float(tau))


FEWEST_RUNS = 5
NOISE_OF_TAU = 0.437


def tau_over_runs(one: Sequence[float], other: Sequence[float], confidence: float = DEFAULT_CONFIDENCE) -> Estimate:
    """Kendall's τ-b of two figures over runs, with its interval; without a value for fewer than FEWEST_RUNS runs.

    The interval is on Fisher's scale, atanh τ, with the variance 0.437 / (n − 4) (Fieller, Hartley and Pearson,
    Biometrika 44, 1957) and Student's quantile of n − 2 degrees of freedom. τ of ±1 counts there as if one pair were
    half turned round, or nothing would be uncertain; the interval still includes it. The runs are taken as a sample.
    """
    n = len(one)
    if n < FEWEST_RUNS:
        return Estimate(None, n=n, reason=f"Fewer than {FEWEST_RUNS} runs have both figures: that says nothing.")
    first, second = (np.array(values, dtype=np.float64).round(EQUAL_PLACES)[None] for values in (one, other))
    tau = float(kendall_taus(first, second)[0])
    if math.isnan(tau):
        return Estimate(None, n=n, reason="One of the two figures is the same for all runs.")
    most = 1 - 2 / (n * (n - 1))
    centre = math.atanh(max(-most, min(most, tau)))
    half = student_quantile(confidence, n - 2) * math.sqrt(NOISE_OF_TAU / (n - 4))
    ends = min(tau, math.tanh(centre - half)), max(tau, math.tanh(centre + half))
    return Estimate.of(tau, ends, n, FISHER)


class RankRange(NamedTuple):
    """The possible places of a run, counted from 1. More than one: it is not told apart from others."""

    best: int
    worst: int

    @property
    def is_tied(self) -> bool:
        return self.best < self.worst

    @property
    def words(self) -> str:
        return f"{self.best} to {self.worst}" if self.is_tied else str(self.best)


class Places(NamedTuple):
    """The comparisons of all runs with each other; `better[i, j]`: run i is clearly better than run j.

    `pairs` is the number of comparisons that p was corrected over.
    """

    better: NDArray[np.bool_]
    pairs: int

    @property
    def ranges(self) -> list[RankRange]:
        ahead, behind = self.better.sum(axis=0), self.better.sum(axis=1)
        return [RankRange(1 + int(a), len(ahead) - int(b)) for a, b in zip(ahead, behind, strict=True)]

    @property
    def brackets(self) -> list[tuple[int, int]]:
        """The longest rows of neighbours of which none is better than another, as first and last run. Best first."""
        apart = self.better | self.better.T
        found: list[tuple[int, int]] = []
        last = -1
        for first in range(len(apart)):
            end = max(first, last)
            while end + 1 < len(apart) and not apart[first : end + 1, end + 1].any():
                end += 1
            if end > max(first, last):
                found.append((first, end))
                last = end
        return found

    def worse_than(self, run: int) -> list[int]:
        """The runs that this run is clearly better than."""
        return np.flatnonzero(self.better[run]).tolist()

    def better_than(self, run: int) -> list[int]:
        """The runs that are clearly better than this run."""
        return np.flatnonzero(self.better[:, run]).tolist()

    def not_told_apart_from(self, run: int) -> list[int]:
        apart = self.better[run] | self.better[:, run]
        apart[run] = True
        return np.flatnonzero(~apart).tolist()


def places(values: Floats, *, is_lower_better: bool = False, correction: Correction = Correction.HOLM) -> Places:
    """Compare each column of a (queries, runs) array with each other: paired t-test, p corrected over all pairs.

    A pair in which a query has no value (NaN) is not compared, as in a comparison of two runs. The p of a pair is never
    below that of the exact sign test if all queries that differ went one way: on a handful of queries the t-test would
    claim too much. Of fewer than six queries nothing is told apart.
    """
    n, runs = values.shape
    better = np.zeros((runs, runs), dtype=np.bool_)
    tested: list[tuple[int, int, float]] = []
    p_values: list[float] = []
    for run in range(runs - 1):
        change = change_of(values[:, [run]], values[:, run + 1 :])
        complete = np.flatnonzero(~np.isnan(change).any(axis=0)) if n else np.array([], dtype=np.int64)
        change = change[:, complete]
        tested += [
            (run, run + 1 + other, gain)
            for other, gain in zip(complete.tolist(), change.mean(axis=0).tolist() if n else [], strict=True)
        ]
        p_values += _paired_p(change).tolist()
    for (run, other, gain), p in zip(tested, correction.of(p_values), strict=True):
        if p < LEVEL:
            other_leads = (gain > 0) != is_lower_better
            better[(other, run) if other_leads else (run, other)] = True
    return Places(better, len(tested))


FEWEST_TO_CHOOSE_AMONG = 3


def lead_by_chance(values: Floats) -> float | None:
    """How far above the mean of all runs the best one is expected, if all columns of (queries, runs) are equally good.

    Queries that are hard for every run say nothing about runs, so the scatter is that of the interaction: what is left
    without the means of queries and of runs. The expected maximum of so many normal values is Blom's (Statistical
    Estimates and Transformed Beta-Variables, 1958). Queries without a value for any run are left out. None for fewer
    than three runs or two queries.
    """
    whole = values[~np.isnan(values).any(axis=1)]
    n, runs = whole.shape
    if n < 2 or runs < FEWEST_TO_CHOOSE_AMONG:
        return None
    left = whole - whole.mean(axis=1, keepdims=True)
    left = left - left.mean(axis=0)
    error = math.sqrt(float((left**2).sum()) / ((n - 1) * (runs - 1)) / n)
    return error * NormalDist().inv_cdf((runs - 0.375) / (runs + 0.25))


ROUNDING = 1e-9


def beats_by(step: float, value: float, best: float, *, is_lower_better: bool = False) -> bool:
    """Whether a value is better than the best so far by at least `step`, up to rounding.

    The rule of the Ladder (Blum & Hardt, The Ladder: A Reliable Leaderboard for Machine Learning Competitions, 2015,
    algorithm 1), by which a score on sealed data is published or not. There the published score is also rounded to the
    step. Here it is not, so that it agrees with its interval; the bound that they prove is of the rounded one.
    """
    gain = best - value if is_lower_better else value - best
    return gain >= step - ROUNDING


def _paired_p(change: Floats) -> Floats:
    """Two-sided p of the mean of each column, by Student's t, and at least that of the sign test at its clearest."""
    from scipy.special import stdtr  # loaded on use: `karat score` starts without SciPy

    n = len(change)
    if n < 2:
        return np.ones(change.shape[1])
    mean, spread = change.mean(axis=0), change.std(axis=0, ddof=1)
    flat = spread <= 1e-12 * np.abs(change).max(axis=0)
    t = np.divide(mean, spread / math.sqrt(n), out=np.full_like(mean, np.inf), where=~flat)
    clearest = 2.0 ** (1.0 - (change != 0).sum(axis=0))
    return np.minimum(1.0, np.maximum(2 * stdtr(n - 1, -np.abs(t)), clearest))
