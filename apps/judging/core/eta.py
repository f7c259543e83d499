"""Forecast of a round's end from its recent pace. Plain values, no database."""

from datetime import date, timedelta
from math import ceil
from typing import NamedTuple

LOOKS_BACK = 7
FURTHEST = 3_650


class Lately(NamedTuple):
    """What was judged in the last `days` days; `timed_ms` is the time of the `timed` ones among them."""

    days: int
    judgements: int
    timed: int
    timed_ms: int

    @property
    def per_day(self) -> float:
        """Judgements a day, days off included."""
        return self.judgements / self.days

    @property
    def whole_per_day(self) -> int:
        """Judgements a day, rounded up, so that it is at least 1."""
        return ceil(self.per_day)

    @property
    def time_per_day(self) -> str:
        """The time judged per day in words, "2.1 hours" or "20 minutes"; empty where none was timed."""
        hours = self.hours_per_day
        if hours is None:
            return ""
        minutes = round(hours * 60)
        return f"{hours:.1f} hours" if minutes > 90 else f"{minutes} minute{'' if minutes == 1 else 's'}"

    @property
    def hours_per_day(self) -> float | None:
        """Hours of work a day, with the mean time for those that were not timed; None where none was timed."""
        return self.per_day * self.timed_ms / self.timed / 3_600_000 if self.timed else None


class Eta(NamedTuple):
    """What is left: the work in hours where it is known, and the day it ends at the present pace."""

    to_go: int
    hours: float | None
    days: int | None
    day: date | None

    @property
    def whole_hours(self) -> int | None:
        """The hours of work, rounded; 0 for less than one."""
        return None if self.hours is None else int(self.hours + 0.5) if self.hours >= 1 else 0


def estimate(to_go: int, lately: Lately, *, mean_ms: float | None, today: date) -> Eta:
    """When `to_go` judgements are done. No day when nothing was judged recently, or when it is beyond ten years."""
    hours = to_go * mean_ms / 3_600_000 if mean_ms else None
    days = ceil(to_go / lately.per_day) if lately.judgements else None
    if days is None or days > FURTHEST:
        return Eta(to_go, hours, None, None)
    return Eta(to_go, hours, days, today + timedelta(days=days))
