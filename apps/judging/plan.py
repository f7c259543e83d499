"""The plan of a round: which pairs of a pool get how many seats. Plain values, no database."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from apps.judging.order import seeded_number


class Preview(NamedTuple):
    """How much work a plan means, before anybody is asked to judge."""

    pairs: int
    repeated: int
    judgements: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A share of the pairs is judged `judges` times, the others once.

    `overlap` lies in 0..1. The usual plan is 20 % twice; an overlap of 1 is "`judges` for all".
    """

    overlap: float = 0.2
    judges: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.overlap <= 1:
            raise ValueError("overlap is a share of the pairs: 0 to 1")
        if self.judges < 1:
            raise ValueError("a pair needs at least one judge")

    def repeated(self, pairs: int) -> int:
        """Count the pairs that get `judges` judgements: the share of all, rounded half up."""
        return int(self.overlap * pairs + 0.5) if self.judges > 1 else 0

    def preview(self, pairs: int) -> Preview:
        """Count the judgements that `pairs` pairs mean, without looking at any of them."""
        repeated = self.repeated(pairs)
        return Preview(pairs, repeated, pairs + repeated * (self.judges - 1))

    def seats(self, pairs: Iterable[tuple[str, str]]) -> list[int]:
        """Give each (query id, block digest) its number of seats, in the order given.

        The pairs with the lowest hash under the seed are the repeated ones, so the choice depends on ids and
        seed alone, not on the order or the machine. Raises ValueError for a pair that comes twice.
        """
        hashes = [(seeded_number(self.seed, query, block), query, block) for query, block in pairs]
        ranked = sorted(hashes)
        if any(one == other for one, other in pairwise(ranked)):
            raise ValueError("a pair is listed twice")
        chosen = set(ranked[: self.repeated(len(ranked))])
        return [self.judges if entry in chosen else 1 for entry in hashes]
