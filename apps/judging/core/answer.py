"""A person's answer for a pair."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's answer for a pair: a grade, or a reason why it can't be judged.

    Without `is_again` it is their first answer for the pair, and refused when they have graded it already.
    """

    grade: int | None = None
    cant_judge: str = ""
    note: str = ""
    spans: Any = field(default_factory=list)
    active_ms: int | None = None
    away_ms: int | None = None
    is_again: bool = True


MOST_TIME_MS = 7 * 24 * 3_600_000
"""The longest time that a client may report, a week."""
LONGEST_TIME_MS = 2_000_000_000
"""The longest time that is stored."""


def milliseconds(value: int | None) -> int | None:
    """A time as it is stored: within what the column holds, whatever a browser's clock said."""
    return None if value is None else max(0, min(value, LONGEST_TIME_MS))
