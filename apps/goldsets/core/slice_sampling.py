"""Which quarter a slice is of, how its kinds compare with the full set, and when each question has its turn.

Its questions are drawn by `queries.core.stratified`, and none twice before all were used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

ROTATING, CHALLENGE, REGRESSION, CANARY = SLICE_NAMES = ("rotating", "challenge", "regression", "canary")
"""How gates, files and commands name slices: those of `SliceKind`, for code without Django."""

USUAL_SIZE = 120
MONTHS = 3
QUARTER = re.compile(r"([0-9]{4})-Q([1-4])\Z")


def quarter_of(day: date) -> str:
    """ "2026-Q4". Quarters sort as texts."""
    return f"{day.year:04d}-Q{(day.month - 1) // MONTHS + 1}"


def is_quarter(text: str) -> bool:
    return QUARTER.match(text) is not None


def next_quarter(quarter: str) -> str:
    year, number = _parts(quarter)
    return f"{year:04d}-Q{number + 1}" if number < 12 // MONTHS else f"{year + 1:04d}-Q1"


def first_day(quarter: str) -> date:
    year, number = _parts(quarter)
    return date(year, (number - 1) * MONTHS + 1, 1)


def _parts(quarter: str) -> tuple[int, int]:
    match = QUARTER.match(quarter)
    if match is None:
        raise ValueError(f"{quarter!r} is no quarter; write it as 2026-Q4.")
    return int(match[1]), int(match[2])


class Balance(NamedTuple):
    """One kind of question: how many of the slice are of it, and how many of the full set."""

    field: str
    value: str
    inside: int
    of_slice: int
    overall: int
    of_all: int

    @property
    def share(self) -> float:
        return self.inside / self.of_slice if self.of_slice else 0.0

    @property
    def full_share(self) -> float:
        return self.overall / self.of_all if self.of_all else 0.0

    @property
    def points(self) -> float:
        """By how many percentage points the slice has more of it than the full set."""
        return 100 * (self.share - self.full_share)


def balance(fields: Sequence[str], everything: Sequence[tuple[str, ...]], inside: Sequence[bool]) -> list[Balance]:
    """Each value of each field with its counts, most frequent in the full set first. Fields of one value are left out.

    `everything` has the values of each question of the full set, one a field, "" where it has none.
    """
    rows = []
    for place, field in enumerate(fields):
        labels = [values[place] for values in everything]
        overall = Counter(labels)
        drawn = Counter(label for label, is_in in zip(labels, inside, strict=True) if is_in)
        if len(overall) > 1:
            ordered = sorted(overall, key=lambda value: (-overall[value], value))
            rows += [Balance(field, value, drawn[value], sum(inside), overall[value], len(labels)) for value in ordered]
    return rows


def furthest(rows: Sequence[Balance]) -> Balance | None:
    """The kind whose share differs most from the full set's."""
    return max(rows, key=lambda row: abs(row.points), default=None)


class Turn(NamedTuple):
    """A part of the full set: the questions of one quarter's slice, or what is left (`quarter` is empty)."""

    quarter: str
    questions: int
    state: str


USED, NOW, NEXT, LEFT = "used", "now", "next", "left"


def turns(used: Sequence[str], current: str, size: int) -> list[Turn]:
    """The full set as one bar: earlier quarters by the question's last one, this quarter, the next, and what is left.

    `used` has the last quarter of each question of the full set, "" for one that no slice had yet.
    """
    counts = Counter(used)
    unused = counts.pop("", 0)
    past = [Turn(quarter, counts[quarter], USED) for quarter in sorted(counts) if quarter < current]
    now = [Turn(current, counts[current], NOW)] if current in counts else []
    coming = min(unused, size)
    then = [Turn(next_quarter(current), coming, NEXT)] if coming else []
    left = [Turn("", unused - coming, LEFT)] if unused > coming else []
    return [*past, *now, *then, *left]
