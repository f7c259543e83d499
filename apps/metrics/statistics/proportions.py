"""Intervals for proportions, on plain numbers."""

from __future__ import annotations

from functools import lru_cache
from math import cos, floor, lgamma, log, pi, sin, sqrt, tan
from statistics import NormalDist

MOST_TERMS = 200
HALVINGS = 60
ROUNDING = 1e-9


@lru_cache(maxsize=256)
def normal_quantile(confidence: float) -> float:
    """The two-sided standard normal quantile: 1.96 for 0.95."""
    if not 0 < confidence < 1:
        raise ValueError("confidence is between 0 and 1, both excluded")
    return NormalDist().inv_cdf((1 + confidence) / 2)


@lru_cache(maxsize=256)
def student_quantile(confidence: float, degrees: int) -> float:
    """The two-sided quantile of Student's t: 2.262 for 0.95 and 9 degrees of freedom.

    Abramowitz and Stegun, Handbook of Mathematical Functions, 1964: 26.7.3 and 26.7.4, solved by bisection, and from
    200 degrees of freedom on the expansion 26.7.5; accurate to ten digits. Plain Python, since loading SciPy takes
    longer than scoring a run.
    """
    if degrees < 1:
        raise ValueError("Student's t has at least one degree of freedom")
    z = normal_quantile(confidence)
    if degrees >= MOST_TERMS:
        return _expanded(z, degrees)
    low, high = 0.0, pi / 2
    for _ in range(HALVINGS):
        angle = (low + high) / 2
        low, high = (angle, high) if _share_within(angle, degrees) < confidence else (low, angle)
    return sqrt(degrees) * tan(low)


def _share_within(angle: float, degrees: int) -> float:
    """The chance that |t| stays below sqrt(degrees) * tan(angle)."""
    is_odd = degrees % 2
    term = cos(angle) if is_odd else 1.0
    total = term if degrees > 1 else 0.0
    for step in range(2 + is_odd, degrees - 1, 2):
        term *= cos(angle) ** 2 * (step - 1) / step
        total += term
    return 2 / pi * (angle + sin(angle) * total) if is_odd else sin(angle) * total


def _expanded(z: float, degrees: int) -> float:
    """Student's quantile from the normal one, by powers of 1 / degrees."""
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / degrees**power for power, term in enumerate(terms, 1))


@lru_cache(maxsize=256)
def widened(confidence: float, n: int) -> float:
    """The confidence for the percentiles of a bootstrap of n items, so that its interval covers as often as it claims.

    A percentile interval of few items is too narrow, since resampling has the spread of n and not of n - 1, and the
    normal's tails, not Student's. Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician
    69 (2015), uses percentiles further out: 0.958 for 0.95 at 50 items. Raises ValueError for fewer than two.
    """
    if n < 2:
        raise ValueError("An interval needs two items")
    return 1 - 2 * NormalDist().cdf(-sqrt(n / (n - 1)) * student_quantile(confidence, n - 1))


def freedom_of_spread(n: int, second: float, fourth: float, groups: int = 1) -> int:
    """The degrees of freedom of the spread of n values, from the sums of their squares and fourth powers.

    Where few values make most of the spread (runs that differ on one query in ten, a measure that is nearly always 1)
    it is less certain than that of n normal values. Shoemaker, Fixing the F Test for Equal Variances, The American
    Statistician 57 (2003), uses 2n / (kurtosis - (n - 3) / (n - 1)), which is n - 1 for the normal's 3. Never more than
    n - groups: a more certain spread makes no interval narrower.
    """
    known = n - groups
    if known < 1:
        raise ValueError("An interval needs more items than groups")
    if second**2 == 0.0:  # no spread, or one too small to be squared
        return known
    kurtosis = max(1.0, n * fourth / second**2)  # by rounding alone it is less than 1
    return max(1, min(known, floor(2 * n / (kurtosis - (n - 3) / (n - 1)) + ROUNDING)))


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
    return wilson_at(successes / n, normal_quantile(confidence) ** 2 / n)


def wilson_at(share: float, variance: float) -> tuple[float, float]:
    """The ends of Wilson's interval around a share; `variance` is the squared quantile divided by n.

    All shares p with (share - p)² ≤ variance · p · (1 - p).
    """
    centre = (share + variance / 2) / (1 + variance)
    half = sqrt(variance * share * (1 - share) + variance**2 / 4) / (1 + variance)
    low = 0.0 if share == 0 else max(0.0, centre - half)
    high = 1.0 if share == 1 else min(1.0, centre + half)
    return low, high


def most_missed(sampled: int, outside: int, confidence: float = 0.95) -> int:
    """The upper bound of how many of `outside` blocks are relevant when none of a random sample of them is.

    One-sided and exact: the largest number with which a sample without replacement would hold none with a probability
    above 1 − confidence (hypergeometric; its share tends to that of Clopper and Pearson, Biometrika 26, 1934, which is
    1 − (1 − confidence) ** (1 / sampled), as `outside` grows). All of them without a sample, 0 when all were sampled.
    """
    if not 0 <= sampled <= outside:
        raise ValueError(f"{sampled} of {outside} is not a sample")
    if not 0 < confidence < 1:
        raise ValueError("confidence is between 0 and 1, both excluded")
    low, high = 0, outside - sampled
    while low < high:
        middle = (low + high + 1) // 2
        is_rejected = _log_chance_of_none(middle, sampled, outside) < log(1 - confidence) + ROUNDING
        low, high = (low, middle - 1) if is_rejected else (middle, high)
    return low


def _log_chance_of_none(relevant: int, sampled: int, outside: int) -> float:
    """The logarithm of the chance that a sample holds none of the relevant ones, of which it leaves enough others."""
    rest = outside - relevant
    return lgamma(rest + 1) - lgamma(rest - sampled + 1) - lgamma(outside + 1) + lgamma(outside - sampled + 1)


def none_of(n: int, confidence: float = 0.95) -> float:
    """The exact upper end for a share of which none of `n` cases was one: what is rarer is not excluded.

    For 0.95 it is close to 3 / n, the rule of three (Hanley and Lippman-Hand, JAMA 249 (1983)).
    """
    return 1.0 - (1.0 - confidence) ** (1.0 / n)
