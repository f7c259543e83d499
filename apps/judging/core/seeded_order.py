"""Seeded numbers and orders, the same on every machine and every database."""

from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")

PRIME = 2_147_483_647
_TOP = 1 << 63


def seeded_number(seed: int, *parts: str | int) -> int:
    """A hash of the parts under the seed, a whole number in [0, 2**63).

    Parts are length-prefixed, so ("ab", "c") and ("a", "bc") differ.
    """
    digest = blake2b(str(seed).encode(), digest_size=8)
    for part in parts:
        data = str(part).encode()
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return int.from_bytes(digest.digest(), "big") % _TOP


def shuffled(items: Iterable[Item], *, seed: int, who: str | int, key: Callable[[Item], str | int]) -> list[Item]:
    """Items in this annotator's order: seeded, different for everyone, the same every time."""
    return sorted(items, key=lambda item: (seeded_number(seed, who, key(item)), key(item)))


class OwnOrder(NamedTuple):
    """A person's order of the pairs of a query, which the database can compute as well.

    `rank` squares a line over a prime field, so it looks random, is the same every time, and never leaves 63 bits.
    """

    factor: int
    shift: int

    def rank(self, entry: int) -> int:
        """The rank of a pair; of equal ones the lower key comes first."""
        line = ((entry % PRIME) * self.factor + self.shift) % PRIME
        return line * line % PRIME


def own_order(seed: int, who: int) -> OwnOrder:
    """This person's order under the seed."""
    factor = 1 + seeded_number(seed, "factor", who) % (PRIME - 1)
    return OwnOrder(factor, seeded_number(seed, "shift", who) % PRIME)


def place_in_order(query: int, entry: int, reached: int, own: OwnOrder) -> tuple[bool, int, int, int]:
    """A key to sort a person's pairs by: queries as they reach them, going round, and within one their own order."""
    return query <= reached, query, own.rank(entry), entry
