"""The control chart of a flag rate, and the rule that opens a calibration. Plain numbers.

A p-chart (Shewhart 1931; NIST/SEMATECH e-Handbook of Statistical Methods, section 6.3.3.2): the share of each group of
n reviews against the project's mean p, with limits at p ± 3 √(p (1 − p) / n). The limits follow n and are cut at 0 and
1. A group with fewer reviews than the minimum is drawn but never signals: it is too small for the normal approximation
of the limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import NamedTuple

SIGMAS = 3
RUN_LENGTH = 8

OUTSIDE, RUN = "outside", "run"


class Count(NamedTuple):
    """`hits` of `n` in one period. Periods are ordered by their name, such as "2026-03"."""

    period: str
    hits: int
    n: int


class Group(NamedTuple):
    """One point of the chart: the periods `first` to `last`, taken together, against the mean of the project."""

    first: str
    last: str
    hits: int
    n: int
    mean: float
    is_full: bool

    @property
    def rate(self) -> float:
        return self.hits / self.n

    @property
    def low(self) -> float:
        return limits(self.mean, self.n)[0]

    @property
    def high(self) -> float:
        return limits(self.mean, self.n)[1]

    @property
    def is_outside(self) -> bool:
        """Above the upper limit, with enough reviews."""
        return self.is_full and self.rate > self.high

    @property
    def label(self) -> str:
        return self.first if self.first == self.last else f"{self.first} to {self.last}"


class Signal(NamedTuple):
    """Why the rule fires: `rule` is OUTSIDE or RUN, `group` the newest full one, `run` how many are above the mean."""

    rule: str
    group: Group
    run: int


def limits(mean: float, n: int) -> tuple[float, float]:
    """The lower and the upper limit for a group of `n`, within 0 and 1. Raises ValueError for an empty group."""
    if n < 1:
        raise ValueError("a group without reviews has no limits")
    half = SIGMAS * sqrt(mean * (1 - mean) / n)
    return max(0.0, mean - half), min(1.0, mean + half)


def mean_of(counts: Iterable[Count]) -> float | None:
    """The share over all of them together; None when nothing was counted."""
    hits, n = 0, 0
    for count in counts:
        hits, n = hits + count.hits, n + count.n
    return hits / n if n else None


def groups_of(counts: Sequence[Count], mean: float, least: int) -> list[Group]:
    """Periods joined with later ones until each group has `least` reviews. The last group may have fewer."""
    groups: list[Group] = []
    first, hits, n = "", 0, 0
    for count in sorted(counts):
        if not count.n:
            continue
        first = first or count.period
        hits, n = hits + count.hits, n + count.n
        if n >= least:
            groups.append(Group(first, count.period, hits, n, mean, is_full=True))
            first, hits, n = "", 0, 0
        else:
            last = count.period
    if n:
        groups.append(Group(first, last, hits, n, mean, is_full=False))
    return groups


def signal_of(groups: Sequence[Group]) -> Signal | None:
    """The signal of the newest full group: it is above the limit, or ends a run of eight above the mean; else None.

    The run of eight is the fourth rule of the Western Electric handbook (1956). Groups that are not full are left out.
    """
    full = [group for group in groups if group.is_full]
    if not full:
        return None
    run = 0
    for group in reversed(full):
        if group.rate <= group.mean:
            break
        run += 1
    if full[-1].is_outside:
        return Signal(OUTSIDE, full[-1], run)
    return Signal(RUN, full[-1], run) if run >= RUN_LENGTH else None
