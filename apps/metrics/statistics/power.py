"""The smallest difference that a number of queries detects, and the queries needed for a difference.

Both are those of the two-sided paired t test, from the noncentral t distribution (Cohen, Statistical Power
Analysis for the Behavioral Sciences, 1988, chapter 2; for retrieval: Sakai, Information Retrieval Journal 19, 2016).
`spread` is the standard deviation of the paired differences, as `Paired.spread`: results apply to systems whose
differences vary like those seen.
"""

from __future__ import annotations

import math

from apps.common.text.wording import signed
from apps.metrics.estimate import QUERIES

POWER = 0.8
LEVEL = 0.05
MOST_QUERIES = 10_000_000
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


def queries_needed(difference: float, spread: float, power: float = POWER) -> int | None:
    """The fewest queries that detect this true mean difference with this power, two at least.

    None where no number does: a difference of zero, equal differences, or more than ten million.
    """
    if difference == 0 or not spread > 0:
        return None
    effect = abs(difference) / spread
    low, high = 1, 2
    while _power(effect, high) < power:
        if high >= MOST_QUERIES:
            return None
        low, high = high, min(2 * high, MOST_QUERIES)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _power(effect, middle) < power else (low, middle)
    return high


def queries_needed_by(difference: float, spread: float, n: int) -> int | None:
    """As `queries_needed`, of a difference seen over n queries; None where it is below its standard error.

    Such a difference may as well be none, or the other way: to plan for it would be to plan for chance.
    """
    return queries_needed(difference, spread) if abs(difference) * math.sqrt(n) >= spread else None


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
    """The queries needed, as a table cell: rounded for planning."""
    return "not known yet" if needed is None else f"{round_up(needed):,}"


EVEN, NINE_IN_TEN = 0.5, 0.9


def more_needed(difference: float, spread: float, n: int) -> tuple[int, int] | None:
    """How many more queries settle a true difference like the one seen over n: with an even chance, with nine in ten.

    Rounded up for planning; 0 where n are enough. None where the difference is below its standard error, or no number
    does.
    """
    if queries_needed_by(difference, spread, n) is None:
        return None
    even, likely = (_more(difference, spread, n, power) for power in (EVEN, NINE_IN_TEN))
    return even, likely


def more_needed_words(difference: float, spread: float, n: int) -> str:
    """How many more queries would settle a true difference like the one seen, which n queries did not, as a sentence.

    A difference below its standard error may as well be none: it gives no number. Two numbers are given, since one
    would sound like a promise. Empty where n are enough for either, as where p is high only after its correction.
    """
    more = more_needed(difference, spread, n)
    if more is None:
        small = "The difference is too small against its scatter to say how many more queries would settle it."
        return f"{small} That does not mean that they are equal."
    even, likely = more
    if not likely:
        return ""
    more_queries = f"{likely:,} more {QUERIES.one if likely == 1 else QUERIES.many} settle it in nine of ten cases"
    half = f", and {even:,} more in half of the cases" if even else ""
    return f"If the true difference is {signed(difference)} too, {more_queries}{half}."


def _more(difference: float, spread: float, n: int, power: float) -> int:
    return round_up(max(0, (queries_needed(difference, spread, power) or n) - n))
