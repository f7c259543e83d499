"""Intervals for proportions, on plain numbers."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist


def normal_quantile(confidence: float) -> float:
    """The two-sided standard normal quantile: 1.96 for 0.95."""
    if not 0 < confidence < 1:
        raise ValueError("confidence lies between 0 and 1, both excluded")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def wilson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float] | None:
    """Wilson's score interval for a proportion; None when nothing was counted.

    Wilson, "Probable inference, the law of succession, and statistical inference",
    JASA 22 (1927), without continuity correction. The ends stay within 0 and 1 and are
    exactly 0 or 1 when no or every case succeeded.
    """
    if n < 0 or not 0 <= successes <= max(n, 0):
        raise ValueError(f"{successes} of {n} is not a proportion")
    if n == 0:
        return None
    z = normal_quantile(confidence)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high
