"""Exceptions for what Karat refuses: an action (Refusal) and an input file (InputError); the fields of a problem."""

from dataclasses import dataclass
from typing import Any


class Refusal(Exception):
    """An action that the rules do not allow, with the sentence shown to the person.

    `code` is stable and machine readable: clients of the API branch on it, never on the sentence.
    """

    status = 409

    def __init__(self, sentence: str, *, code: str = "refused") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code

    @classmethod
    def raise_for(cls, reason: str | None, *, code: str = "refused") -> None:
        """Raise this refusal where a rule has a reason against the action."""
        if reason:
            raise cls(reason, code=code)


class IllegalStep(Refusal):
    """A step that no table of states lists from here. Rules refuse it before, unless somebody was faster."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, code="illegal_step")


class Forbidden(Refusal):
    """A refusal because of who acts, not because of the state of the object."""

    status = 403


@dataclass(eq=False)
class InputError(Exception):
    """One fault in one place of an input file.

    `line` counts from 1 and includes a heading line; None when the fault is not in a line (an unreadable file).
    """

    file: str
    line: int | None
    field: str
    value: str
    message: str

    def __str__(self) -> str:
        place = self.file
        if self.line is not None:
            place += f", line {self.line}"
        if self.field:
            place += f", {self.field}"
        return f"{place}: {self.message}"


class InputErrors(Exception):
    """Every fault in one input, in file order; `capped` when reading stopped at the limit.

    `unlisted` counts faults beyond the limit, where they were counted.
    """

    def __init__(self, errors: list[InputError], *, capped: bool = False, unlisted: int = 0) -> None:
        super().__init__("; ".join(str(error) for error in errors[:5]))
        self.errors = errors
        self.capped = capped or unlisted > 0
        self.unlisted = unlisted


PROBLEM_TYPE = "application/problem+json"


def problem_facts(*, status: int, title: str, detail: str, code: str) -> dict[str, Any]:
    return {"type": f"urn:karat:problem:{code}", "title": title, "status": status, "detail": detail, "code": code}
