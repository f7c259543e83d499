"""A difference that its judges settle themselves: who may answer, and when it has ended. No database.

A pair is a difference once every judge has graded it and the grades settle nothing. Each judge then sees the grades of
the others, and keeps their own or changes it. It ends when all grades are alike, or when nobody may answer any more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

MOST_TURNS = 2
"""How often a judge may answer: once, and once more when another judge changed their grade after that."""


class SecondAnswer(NamedTuple):
    """What a judge answers after seeing the grades of the others; None is "can't judge"."""

    judge: int
    grade: int | None


class DifferenceState(StrEnum):
    """A difference as one of its judges finds it."""

    YOURS = "yours"
    THEIRS = "theirs"
    RECONCILED = "reconciled"
    LEFT_TO_LEAD = "left to a lead"


@dataclass(frozen=True, slots=True)
class Difference:
    """The first grades by judge, and the answers since, in the order in which they were given.

    Answers of one judge with none of another between them are one turn: the last of them counts.
    """

    first: Mapping[int, int | None]
    answers: Sequence[SecondAnswer] = ()

    @property
    def current(self) -> dict[int, int | None]:
        """The grade of each judge now."""
        return {**self.first, **{answer.judge: answer.grade for answer in self.answers}}

    @property
    def reconciled(self) -> int | None:
        """The grade that all judges give now; None while they differ, or where all say that it can't be judged."""
        grades = set(self.current.values())
        return next(iter(grades)) if len(grades) == 1 else None

    @property
    def has_ended(self) -> bool:
        """Whether nobody may answer any more: all say the same now, or have said all they may."""
        return len(set(self.current.values())) == 1 or not any(self._is_asked(judge) for judge in self.first)

    def may_answer(self, judge: int) -> bool:
        """Whether this judge may answer now: they are asked, or nobody has answered after them."""
        if judge not in self.first or self.has_ended:
            return False
        return self._is_asked(judge) or self.answers[-1].judge == judge

    def state_for(self, judge: int) -> DifferenceState:
        """How this judge finds it."""
        if self.reconciled is not None:
            return DifferenceState.RECONCILED
        if self.has_ended:
            return DifferenceState.LEFT_TO_LEAD
        return DifferenceState.YOURS if self._is_asked(judge) else DifferenceState.THEIRS

    def has_answered(self, judge: int) -> bool:
        """Whether this judge has answered at least once."""
        return any(answer.judge == judge for answer in self.answers)

    def _is_asked(self, judge: int) -> bool:
        """Not answered yet; or another judge has changed their grade since, and one turn is left."""
        turns = self._turns(judge)
        if not turns:
            return True
        if len(turns) == MOST_TURNS:
            return False
        before = Difference(self.first, self.answers[: turns[-1] + 1]).current
        return any(grade != before[other] for other, grade in self.current.items() if other != judge)

    def _turns(self, judge: int) -> list[int]:
        """The places of the last answer of each of their turns."""
        places = [place for place, answer in enumerate(self.answers) if answer.judge == judge]
        return [place for place in places if place + 1 not in places]
