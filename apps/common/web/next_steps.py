"""What to do next on a page whose own app does not know it: an app above answers."""

from collections.abc import Callable
from typing import Any, NamedTuple


class NextStep(NamedTuple):
    """The words of a primary button, and where it leads."""

    words: str
    url: str


Answer = Callable[[Any], NextStep | None]
_answers: dict[type, Answer] = {}


def answer_next_step(of: type, answer: Answer) -> None:
    """Let `answer` say what comes after an object of this class."""
    _answers[of] = answer


def next_step(after: object) -> NextStep | None:
    """What a lead does next after this object was made; None where no app names anything."""
    answer = _answers.get(type(after))
    return answer(after) if answer else None
