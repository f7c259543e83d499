"""The smallest difference that a number of queries detects, and the queries needed for a difference.

Both are those of the two-sided paired t test, from the noncentral t distribution (Cohen, Statistical Power
Analysis for the Behavioral Sciences, 1988, chapter 2; for retrieval: Sakai, Information Retrieval Journal 19, 2016).
`spread` is the standard deviation of the paired differences, as `Paired.spread`: results apply to systems whose
differences vary like those seen.
"""

from __future__ import annotations

import math

POWER = 0.8
LEVEL = 0.05
MOST_QUERIES = 10_000_000
MOST_PLANNED = 100_000
HALVINGS = 100


def detectable_difference(spread: float, n: int) -> float | None:
    """The smallest true mean difference that n queries detect with a power of 80 %, in the measure's own unit.

    None where it is undefined: fewer than two queries, or equal differences.
    """
    if n < 2 or not spread > 0:
        return None
    low, high = 0.0, 1.0
    while _power(high, n) < POWER:
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _power(middle, n) < POWER else (low, middle)
    return high * spread


def queries_needed(difference: float, spread: float) -> int | None:
    """The fewest queries that detect this true mean difference with a power of 80 %, two at least.

    None where no number does: a difference of zero, equal differences, or more than ten million.
    """
    if difference == 0 or not spread > 0:
        return None
    effect = abs(difference) / spread
    low, high = 1, 2
    while _power(effect, high) < POWER:
        if high >= MOST_QUERIES:
            return None
        low, high = high, min(2 * high, MOST_QUERIES)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _power(effect, middle) < POWER else (low, middle)
    return high


def _power(effect: float, n: int) -> float:
    from scipy.special import nctdtr, stdtrit  # loaded on use: `karat score` starts without SciPy

    bar = float(stdtrit(n - 1, 1 - LEVEL / 2))
    shift = effect * math.sqrt(n)
    below, beyond = float(nctdtr(n - 1, shift, bar)), float(nctdtr(n - 1, shift, -bar))
    return 1.0 - (0.0 if math.isnan(below) else below) + (0.0 if math.isnan(beyond) else beyond)


def round_up(count: int) -> int:
    """A number of queries to plan with: two leading digits, never fewer than needed."""
    unit = 10 ** max(0, len(str(count)) - 2)
    return -(-count // unit) * unit


def needed_words(needed: int | None) -> str:
    """The queries needed, as a table cell: rounded, and without numbers too large to plan for."""
    if needed is None:
        return "none would do"
    return f"over {MOST_PLANNED:,}" if needed > MOST_PLANNED else f"{round_up(needed):,}"
