"""What a measure has a value for, in words: queries by grades, questions by triples."""

from __future__ import annotations

from typing import NamedTuple


class Items(NamedTuple):
    """The noun for one and for several."""

    one: str
    many: str

    def counted(self, number: int) -> str:
        """ "1 query", "2,000 queries"."""
        return f"{number:,} {self.one if number == 1 else self.many}"


QUERIES = Items("query", "queries")
QUESTIONS = Items("question", "questions")


def items_of(hit: object) -> Items:
    """The noun for scores by this hit rule; by grades where it is empty."""
    return QUESTIONS if hit else QUERIES
