"""Seeded numbers and orders that come out the same on every machine and every database."""

from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import TypeVar

Item = TypeVar("Item")

_TOP = 1 << 63


def seeded_number(seed: int, *parts: str | int) -> int:
    """Hash the parts under the seed to a whole number in [0, 2**63).

    Parts are length-prefixed, so ("ab", "c") and ("a", "bc") differ.
    """
    digest = blake2b(str(seed).encode(), digest_size=8)
    for part in parts:
        data = str(part).encode()
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return int.from_bytes(digest.digest(), "big") % _TOP


def shuffled(items: Iterable[Item], *, seed: int, who: str | int, key: Callable[[Item], str | int]) -> list[Item]:
    """Order items the way this annotator sees them: seeded, different for everyone, the same every time."""
    return sorted(items, key=lambda item: (seeded_number(seed, who, key(item)), key(item)))
