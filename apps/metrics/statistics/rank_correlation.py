"""Kendall's τ-b between two orders of the same runs, and its interval over resampled questions."""

from __future__ import annotations

import numpy as np

from apps.metrics.statistics.bootstrap import MOST_UNDEFINED, Floats, Interval, percentile_interval

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
