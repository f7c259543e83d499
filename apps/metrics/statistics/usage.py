"""What a run used, how many of its requests failed, and what 1,000 queries cost by prices.

A usage has some of `NAMES`: counts of the whole run, and its seconds. `requests` counts every request sent, retries
too; `timeouts` those without an answer in the time allowed, `errors` all others that failed. The two never overlap.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from apps.metrics.estimate import WILSON, Estimate
from apps.metrics.statistics.proportions import wilson

COUNTS = ("requests", "errors", "timeouts", "input_tokens", "output_tokens")
SECONDS = "seconds"
NAMES = (*COUNTS, SECONDS)
MOST = 10**15
EXAMPLE = "requests=1200 errors=3 timeouts=1"
HOUR = "hour"
PRICES = {
    "requests": "1,000 requests",
    "input_tokens": "1,000 input tokens",
    "output_tokens": "1,000 output tokens",
    HOUR: "one hour",
}
"""What a price is for, by its name."""
PLACES = Decimal("0.0001")

Usage = dict[str, int | float]


class UsageError(ValueError):
    """A usage or a price that cannot be: the field, its value and a sentence."""

    def __init__(self, field: str, value: object, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.value = value


def checked_usage(given: Mapping[str, object]) -> Usage:
    """The usage in plain values, in the order of NAMES. Raises UsageError."""
    usage: Usage = {}
    if unknown := sorted(set(given) - set(NAMES)):
        raise UsageError(unknown[0], given[unknown[0]], f"'{unknown[0]}' is not known; give {', '.join(NAMES)}.")
    for name in NAMES:
        if name not in given:
            continue
        value = given[name]
        is_number = isinstance(value, int) or (name == SECONDS and isinstance(value, float))
        if isinstance(value, bool) or not isinstance(value, int | float) or not is_number or not 0 <= value <= MOST:
            kind = "number" if name == SECONDS else "whole number"
            raise UsageError(name, value, f"{name} must be a {kind} from 0 on.")
        usage[name] = value
    failed = usage.get("errors", 0) + usage.get("timeouts", 0)
    field = "errors" if "errors" in usage else "timeouts"
    if failed and "requests" not in usage:
        raise UsageError(field, usage[field], "give requests too: without them errors and timeouts have no rate.")
    if failed > usage.get("requests", failed):
        message = (
            f"errors and timeouts are {failed:,} in all, of {usage['requests']:,} requests. A timeout is no error."
        )
        raise UsageError(field, usage[field], message)
    return usage


def usage_of_words(text: str) -> Usage:
    """The usage written as `name=value`, separated by spaces or commas; {} for a blank text. Raises UsageError."""
    given: dict[str, object] = {}
    for word in text.replace(",", " ").split():
        name, sign, written = word.partition("=")
        if not sign or name in given:
            message = f"'{name}' is there twice." if sign else f"'{word}' is not name=value, such as {EXAMPLE}."
            raise UsageError(name, written, message)
        try:
            given[name] = float(written) if name == SECONDS else int(written)
        except ValueError:
            given[name] = written
    return checked_usage(given)


def usage_in_words(usage: Mapping[str, int | float] | None) -> str:
    """ "1,200 requests, 51,200 input tokens": what a run used, without what failed; "" for nothing."""
    used = {name: value for name, value in (usage or {}).items() if name not in ("errors", "timeouts")}
    return ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in used.items())


def added(one: Mapping[str, int | float] | None, other: Mapping[str, int | float]) -> Usage:
    """Both together, for a run that is made in parts."""
    one = one or {}
    return {name: one.get(name, 0) + other.get(name, 0) for name in NAMES if name in one or name in other}


class FailureRates(NamedTuple):
    """The shares of requests that ended in an error, and without an answer in time, with Wilson's intervals."""

    errors: Estimate
    timeouts: Estimate


def failure_rates(usage: Mapping[str, int | float] | None) -> FailureRates | None:
    """None for a run that does not say how many requests it sent, and for one that sent none."""
    n = int((usage or {}).get("requests", 0))
    if not n:
        return None
    failed = (int((usage or {}).get(name, 0)) for name in ("errors", "timeouts"))
    return FailureRates(*(Estimate.of(count / n, wilson(count, n), n, WILSON) for count in failed))


def priced(usage: Mapping[str, int | float] | None, mean_ms: float | None) -> list[str]:
    """The names of the prices that a cost can be worked out of for a run that tells this."""
    is_timed = mean_ms is not None or SECONDS in (usage or {})
    return [name for name in PRICES if (is_timed if name == HOUR else name in (usage or {}))]


def cost_of_thousand(
    prices: Mapping[str, Decimal], usage: Mapping[str, int | float] | None, queries: int, mean_ms: float | None
) -> Decimal:
    """The cost of 1,000 queries by `prices` (keys of PRICES), to four decimals, of a run of `queries` queries.

    The time is the `seconds` of the usage, and without those the mean latency of a query. Raises UsageError for a price
    of something that the run does not tell.
    """
    used = usage or {}
    total = Decimal(0)
    for name, price in prices.items():
        if name == HOUR:
            if SECONDS in used:
                amount = Decimal(str(used[SECONDS])) / queries * 1000 if queries else Decimal(0)
            elif mean_ms is not None:
                amount = Decimal(str(mean_ms))  # milliseconds of one query are seconds of 1,000
            else:
                raise UsageError(name, price, "This run has no times, so an hour has no price here.")
            total += price * amount / 3600
        elif name in used:
            total += price * int(used[name]) / max(1, queries)
        else:
            words = name.replace("_", " ")
            raise UsageError(name, price, f"This run does not say how many {words} it used.")
    return total.quantize(PLACES)
