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
