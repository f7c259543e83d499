"""Which pairs stand together when all pairs of a query are shown. Plain values, no database."""

from collections.abc import Iterable
from typing import NamedTuple

from apps.judging.core.seeded_order import seeded_number

FIRST = 1
CHECK = 0
APART = -1


class PairPlace(NamedTuple):
    """What decides where a pair stands."""

    seat: int
    query: int
    entry: int
    pass_number: int


def groups(places: Iterable[PairPlace], *, seed: int, who: int) -> dict[int, str]:
    """Name the group of each seat: one for a query, and another one for a pair that stands there already.

    A blind duplicate next to the grade it repeats would not be blind. The names are drawn from the seed, so they
    tell nobody which is which.
    """
    found = {}
    standing: set[tuple[int, int]] = set()
    for place in sorted(places, key=lambda place: (place.pass_number != FIRST, place.pass_number, place.seat)):
        turn = FIRST if place.pass_number in (FIRST, CHECK) else place.pass_number
        if (place.query, place.entry) in standing and turn == FIRST:
            turn = APART
        standing.add((place.query, place.entry))
        found[place.seat] = f"{seeded_number(seed, who, place.query, turn):x}"
    return found
