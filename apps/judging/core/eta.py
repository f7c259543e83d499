"""The progress of a round and the forecast of its end from its recent pace. Plain values, no database."""

from datetime import date, timedelta
from math import ceil
from typing import NamedTuple

from apps.common.text.wording import plural

MOST_TICKS = 240
WIDTH = 1200


def minutes(milliseconds: float | None) -> str:
    """A time as minutes and seconds, "1:48"; empty for None."""
    if not milliseconds:
        return ""
    seconds = round(milliseconds / 1000)
    return f"{seconds // 60}:{seconds % 60:02}"


class Workload(NamedTuple):
    """What one person has done of their share of a round: pairs done, those timed, and those of the last `days` days.

    `mean_ms` is the mean time of the timed pairs, `fast` counts those below a limit.
    """

    done: int
    share: int
    timed: int
    mean_ms: float | None
    fast: int
    lately: int
    days: int

    @property
    def to_go(self) -> int:
        return max(0, self.share - self.done)

    @property
    def of_share(self) -> int:
        """How much of the share is done; what somebody did after it is `beyond`."""
        return min(self.done, self.share)

    @property
    def beyond(self) -> int:
        return self.done - self.of_share

    @property
    def pace(self) -> str:
        """The mean time of a pair, "1:48"; empty while nothing was timed."""
        return minutes(self.mean_ms)


class ProgressTick(NamedTuple):
    """One tick: its meaning, and its place in a drawing 1,200 wide and 10 high."""

    kind: str
    x: str
    y: int
    width: str
    height: int


def ticks(done: int, total: int) -> list[ProgressTick]:
    """The layout of `total` ticks, the first `done` tall, the next one full height. No ticks for a total of 0."""
    n = min(total, MOST_TICKS)
    if n == 0:
        return []
    filled = done if total <= MOST_TICKS else done * n // total
    step = WIDTH / n
    width = max(1.0, min(3.0, step / 4))
    rows = []
    for place in range(n):
        x = f"{place * step + (step - width) / 2:.1f}"
        if place < filled:
            rows.append(ProgressTick("done", x, 3, f"{width:.1f}", 7))
        elif place == filled:
            rows.append(ProgressTick("now", x, 0, f"{width + 1:.1f}", 10))
        else:
            rows.append(ProgressTick("todo", x, 6, f"{width:.1f}", 4))
    return rows


MINUTE_MS = 60_000


class TimePerPair(NamedTuple):
    """Milliseconds that a pair takes one person after the other, from `low` to `high`."""

    low: float
    high: float

    def of(self, pairs: int) -> str:
        """ "about 3 h 20 min", "2 h to 3 h 10 min"; empty for no pairs."""
        if not pairs:
            return ""
        low, high = (_words(pairs * each) for each in self)
        return f"about {low}" if low == high else f"{low} to {high}"


def _words(milliseconds: float) -> str:
    minutes = max(1, int(milliseconds / MINUTE_MS + 0.5))
    hours, rest = divmod(minutes, 60)
    return " ".join(part for part in (f"{hours:,} h" if hours else "", f"{rest} min" if rest else "") if part)


LOOKS_BACK = 7
FEWEST = 20
FASTEST_MS = 5_000
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
        return f"{hours:.1f} hours" if minutes > 90 else plural(minutes, "minute")

    @property
    def hours_per_day(self) -> float | None:
        """Hours of work a day, with the mean time for those that were not timed; None where none was timed."""
        return self.per_day * self.timed_ms / self.timed / 3_600_000 if self.timed else None


class Eta(NamedTuple):
    """What is left, and the day it ends at the present pace; without a day, why none can be named."""

    to_go: int
    days: int | None
    day: date | None
    why_not: str = ""


def estimate(to_go: int, lately: Lately, *, today: date) -> Eta:
    """When `to_go` judgements are done. No day from a pace that tells nothing, or beyond ten years."""
    if why_not := _why_not(lately):
        return Eta(to_go, None, None, why_not)
    days = ceil(to_go / lately.per_day)
    if days > FURTHEST:
        return Eta(to_go, None, None, "at this pace it takes more than ten years")
    return Eta(to_go, days, today + timedelta(days=days))


def _why_not(lately: Lately) -> str:
    """Why nothing follows from what was judged of late: nothing, too little, too fast, or for less than a day."""
    if not lately.judgements:
        return f"nothing was judged in this round {'yet' if lately.days < LOOKS_BACK else 'in the last 7 days'}"
    if is_too_fast(lately.timed_ms, lately.timed):
        seconds = max(1, round(lately.timed_ms / lately.timed / 1_000))
        return f"the latest grades took {plural(seconds, 'second')} each, too fast to go by"
    if lately.days == 1:
        return "the round was opened less than a day ago"
    if lately.judgements < FEWEST:
        judgements = plural(lately.judgements, "judgement")
        return (
            f"{judgements} in the last {lately.days} days {'is' if lately.judgements == 1 else 'are'} too few to go by"
        )
    return ""


def is_too_fast(total_ms: float, timed: int) -> bool:
    """Whether pairs took less time on average than it takes to read one, so that no forecast rests on it."""
    return timed > 0 and total_ms / timed < FASTEST_MS
