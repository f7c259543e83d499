"""The people of the demo, and how they grade. Plain values, no database.

The annotators differ: each has a temperament that determines, by a hash of person and pair, where they deviate from the
careful reader's grade. So the demo's agreement is computed from real rows, and the same on every machine.
"""

import hashlib
from typing import NamedTuple

from apps.accounts.enums import Role


class Person(NamedTuple):
    """One person of the demo."""

    key: str
    name: str
    roles: tuple[str, ...]


class Temperament(NamedTuple):
    """How often a person deviates: shares of pairs, 0 to 1.

    `generous` and `strict`: one grade up or down; half as often, a generous person grades a block that is not
    relevant above 0. `hasty`: grades a related block as not relevant. `unsure`: can't judge.
    """

    generous: float
    strict: float
    hasty: float
    unsure: float


class DemoGrade(NamedTuple):
    """A grade, or None with the reason why it cannot be given."""

    grade: int | None
    cant_judge: str = ""
    note: str = ""


CAST = (
    Person("petra", "Petra Lomas", (Role.LEAD,)),
    Person("mara", "Mara Quill", (Role.ANNOTATOR,)),
    Person("sef", "Sef Arden", (Role.ANNOTATOR,)),
    Person("ines", "Ines Okonjo-Vale", (Role.ANNOTATOR,)),
    Person("jun", "Jun Hallam", (Role.ANNOTATOR,)),
    Person("tobias", "Tobias Renn", (Role.REVIEWER,)),
    Person("hanna", "Hanna Roth", (Role.REVIEWER,)),
    Person("ola", "Ola Vik", (Role.VIEWER,)),
)
ANNOTATORS = {
    "mara": Temperament(generous=0.07, strict=0.07, hasty=0.06, unsure=0.004),
    "sef": Temperament(generous=0.24, strict=0.10, hasty=0.22, unsure=0.012),
    "ines": Temperament(generous=0.08, strict=0.20, hasty=0.10, unsure=0.006),
}
AUTHORS = ("jun", "ines")
REVIEWERS = ("tobias", "hanna")
LEAD = "petra"
WAVERING = 0.4


def graded(
    person: str, query_id: str, block_id: str, careful: int, *, highest: int = 3, is_again: bool = False
) -> DemoGrade:
    """The answer of `person` to a pair with the careful reader's grade `careful`.

    When a pair comes back (`is_again`) they decide again on a share of WAVERING.
    """
    temper = ANNOTATORS[person]
    if share(person, query_id, block_id, "unsure") < temper.unsure:
        return DemoGrade(None, "missing_context", "The passage points to another section that I cannot see here.")
    mood = share(person, query_id, block_id, "mood")
    if is_again and share(person, query_id, block_id, "again") < WAVERING:
        mood = share(person, query_id, block_id, "mood again")
    if careful == 0:
        return DemoGrade(0 if mood > temper.generous / 2 else 2 if mood < temper.generous / 12 else 1)
    if careful == 1 and mood < temper.hasty:
        return DemoGrade(0)
    if mood < temper.hasty + temper.generous and careful < highest:
        return DemoGrade(careful + 1)
    if mood > 1 - temper.strict:
        return DemoGrade(careful - 1, note="It points in the right direction but leaves a part out.")
    return DemoGrade(careful)


def share(*words: str) -> float:
    """A number from 0 to below 1, determined by the words."""
    digest = hashlib.sha256("\x1f".join(words).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
