"""How much a slice tells of what the full set tells: the order of the runs it keeps, and how wide its intervals are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.columns import Floats
from apps.metrics.statistics.bootstrap import DEFAULT_CONFIDENCE, DEFAULT_SEED, Interval, resampled_means
from apps.metrics.statistics.proportions import widened
from apps.metrics.statistics.rank_correlation import EQUAL_PLACES, kendall_taus, tau_interval
from apps.metrics.statistics.significance import EQUAL, FEWEST_FOR_A_VERDICT

RESAMPLES = 1_000
NEARLY, LARGELY = 0.9, 0.7
FEWEST_RUNS = 2


class SliceSignal(NamedTuple):
    """Kendall's τ-b between the order of `runs` runs on the `n` questions of a slice and their order on all.

    None with fewer than two runs, or where one order is all ties. The interval needs six questions that tell runs
    apart: of fewer, draws repeat one order or have none, and would look certain.
    """

    tau: float | None
    interval: Interval | None
    n: int
    runs: int

    @property
    def words(self) -> str:
        """How well the order is kept, as the middle of a sentence."""
        if self.tau is None:
            return "in no order that can be compared with"
        if self.tau >= 1:
            return "in the same order as"
        if self.tau >= NEARLY:
            return "in nearly the same order as"
        return "in largely the same order as" if self.tau >= LARGELY else "in another order than"


def signal_of(values: Floats, inside: NDArray[np.bool_], *, seed: int = DEFAULT_SEED) -> SliceSignal:
    """The signal of the questions `inside`; `values` has the shape (questions, runs).

    The interval is over resampled questions of the slice; the order on the full set stays as it is. Questions without a
    value for any run are left out.
    """
    complete = ~np.isnan(values).any(axis=1)
    everything, part = values[complete], values[complete & inside]
    n, runs = part.shape
    if n == 0 or runs < FEWEST_RUNS:
        return SliceSignal(None, None, n, runs)
    whole = _rounded(everything.mean(axis=0))[None]
    tau = float(kendall_taus(whole, _rounded(part.mean(axis=0))[None])[0])
    spread = None
    if _told_apart(part) >= FEWEST_FOR_A_VERDICT:
        draws = _rounded(resampled_means(part, seed=seed, resamples=RESAMPLES))
        spread = tau_interval(tau, kendall_taus(whole, draws), widened(DEFAULT_CONFIDENCE, n))
    return SliceSignal(None if np.isnan(tau) else tau, spread, n, runs)


def _told_apart(values: Floats) -> int:
    """The number of questions for which not all runs have the same value."""
    return int((values.max(axis=1) - values.min(axis=1) > EQUAL).sum())


def _rounded(means: Floats) -> Floats:
    return np.round(means, EQUAL_PLACES)
