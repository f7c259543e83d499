"""What somebody who leaves gives up, as values. No Django."""

from typing import Any, NamedTuple


class Holding(NamedTuple):
    """Some things of one kind that a person has, and what becomes of them when the person leaves.

    `what` is the noun, singular and plural where that is not the same with an s: "identity,identities".
    """

    what: str
    number: int
    becomes: str
    project: str = ""

    @property
    def as_record(self) -> dict[str, Any]:
        facts = {"what": self.what.partition(",")[0], "count": self.number}
        return {**facts, "project": self.project} if self.project else facts
