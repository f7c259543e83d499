"""A figure with its uncertainty: the one form for the command line, the API, gates, agreement and reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self, TypedDict

from apps.common.text.wording import plural


class Items(NamedTuple):
    """The noun for one and for several."""

    one: str
    many: str

    def counted(self, number: int) -> str:
        """ "1 query", "2,000 queries"."""
        return plural(number, self.one, self.many)


QUERIES = Items("query", "queries")
QUESTIONS = Items("question", "questions")


WILSON, SCALED_WILSON, WEIGHTED_WILSON, MOVER, STUDENT, FISHER, PERCENTILE = METHODS = (
    "wilson",
    "wilson-scaled",
    "wilson-weighted",
    "mover",
    "student",
    "fisher",
    "percentile",
)
"""How an interval is made: that of a yes-or-no measure, of any other mean, of a weighted mean, of a mean of strata
weighted to their shares, of a difference, of a rank correlation over runs; by resampling of any other.
"""


def interval_of(low: float | None, high: float | None) -> tuple[float, float] | None:
    """The ends of an interval as a pair; None without one."""
    return None if low is None or high is None else (low, high)


def excludes_zero(interval: tuple[float, float] | None) -> bool:
    """Whether a difference with this interval is settled; without one it is not."""
    return interval is not None and (interval[0] > 0 or interval[1] < 0)


class EstimateJson(TypedDict):
    """An `Estimate` in JSON; every key is always present."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    method: str
    reason: str


class Estimate(NamedTuple):
    """A figure, the ends of its interval and `n`, the number of queries, items or grades behind it.

    `value` is None where the figure is undefined, `low` and `high` where it has no interval; `reason` is then a
    sentence, unless no interval was requested. `method` names the kind of interval; "" without one.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    method: str = ""
    reason: str = ""

    @classmethod
    def of(
        cls, value: float | None, interval: tuple[float, float] | None, n: int, method: str = "", reason: str = ""
    ) -> Self:
        """The figure with its interval as a pair; without an interval `method` is dropped."""
        if interval is None:
            return cls(value, n=n, reason=reason)
        return cls(value, *interval, n, method, reason)

    @property
    def interval(self) -> tuple[float, float] | None:
        return interval_of(self.low, self.high)

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> Self:
        """The figure from a manifest. Versions released before figures had one form have both ends in `ci`."""
        low, high = facts["ci"] or (None, None) if "ci" in facts else (facts.get("low"), facts.get("high"))
        return cls(facts["value"], low, high, facts["n"], facts.get("method", ""), facts.get("reason", ""))

    @property
    def as_json(self) -> EstimateJson:
        return EstimateJson(
            value=self.value, low=self.low, high=self.high, n=self.n, method=self.method, reason=self.reason
        )
