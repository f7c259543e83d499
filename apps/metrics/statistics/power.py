"""Power of a number of queries, the smallest difference they detect, and the queries needed for a difference.

All three are those of the two-sided paired t test, from the noncentral t distribution (Cohen, Statistical Power
Analysis for the Behavioral Sciences, 1988, chapter 2; for retrieval: Sakai, Information Retrieval Journal 19, 2016).
`spread` is the standard deviation of the paired differences, as `Paired.spread`: results apply to systems whose
differences vary like those seen.
"""

from __future__ import annotations

import math

DEFAULT_POWER = 0.8
DEFAULT_LEVEL = 0.05
MOST_QUERIES = 10_000_000
MOST_PLANNED = 100_000
HALVINGS = 100


def power_of(difference: float, spread: float, n: int, *, level: float = DEFAULT_LEVEL) -> float:
    """The probability that n queries detect a true mean difference at this level of significance.

    Raises ValueError for fewer than two queries and for a spread that is not above zero.
    """
    if n < 2 or not spread > 0:
        raise ValueError("Power needs two queries or more, and differences that scatter.")
    return _power(abs(difference) / spread, n, level)


def _power(effect: float, n: int, level: float) -> float:
    from scipy.special import nctdtr, stdtrit  # loaded on use: `karat score` starts without SciPy

    bar = float(stdtrit(n - 1, 1 - level / 2))
    shift = effect * math.sqrt(n)
    below, beyond = float(nctdtr(n - 1, shift, bar)), float(nctdtr(n - 1, shift, -bar))
    return 1.0 - (0.0 if math.isnan(below) else below) + (0.0 if math.isnan(beyond) else beyond)


def detectable_difference(
    spread: float, n: int, *, level: float = DEFAULT_LEVEL, power: float = DEFAULT_POWER
) -> float | None:
    """The smallest true mean difference that n queries detect with this power, in the measure's own unit.

    None where it is undefined: fewer than two queries, or equal differences. Raises ValueError unless level < power <
    1.
    """
    _check(level, power)
    if n < 2 or not spread > 0:
        return None
    low, high = 0.0, 1.0
    while _power(high, n, level) < power:
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _power(middle, n, level) < power else (low, middle)
    return high * spread


def queries_needed(
    difference: float, spread: float, *, level: float = DEFAULT_LEVEL, power: float = DEFAULT_POWER
) -> int | None:
    """The fewest queries that detect this true mean difference with this power, two at least.

    None where no number does: a difference of zero, equal differences, or more than ten million. Raises ValueError
    unless level < power < 1.
    """
    _check(level, power)
    if difference == 0 or not spread > 0:
        return None
    effect = abs(difference) / spread
    low, high = 1, 2
    while _power(effect, high, level) < power:
        if high >= MOST_QUERIES:
            return None
        low, high = high, min(2 * high, MOST_QUERIES)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _power(effect, middle, level) < power else (low, middle)
    return high


def _check(level: float, power: float) -> None:
    if not 0 < level < power < 1:
        raise ValueError("Level and power are shares, and the power is above the level.")


def round_up(count: int) -> int:
    """A number of queries to plan with: two leading digits, never fewer than needed."""
    unit = 10 ** max(0, len(str(count)) - 2)
    return -(-count // unit) * unit


def needed_words(needed: int | None) -> str:
    """The queries needed, as a table cell: rounded, and without numbers too large to plan for."""
    if needed is None:
        return "none would do"
    return f"over {MOST_PLANNED:,}" if needed > MOST_PLANNED else f"{round_up(needed):,}"
