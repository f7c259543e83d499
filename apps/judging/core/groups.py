"""Groups of pairs on the view that shows all pairs of a query. Plain values, no database."""

from collections.abc import Iterable
from typing import NamedTuple

from apps.judging.core.seeded_order import seeded_number

FIRST = 1
CHECK = 0
APART = -1


class PairPlace(NamedTuple):
    """What decides the place of a pair."""

    seat: int
    query: int
    entry: int
    pass_number: int


def groups(places: Iterable[PairPlace], *, seed: int, who: int) -> dict[int, str]:
    """The group of each seat: one for each query, and another for a pair that is in the first group already.

    A blind duplicate next to the grade it repeats would not be blind. The names come from the seed, so nobody can read
    from them which is which.
    """
    names = {}
    placed: set[tuple[int, int]] = set()
    for place in sorted(places, key=lambda place: (place.pass_number != FIRST, place.pass_number, place.seat)):
        turn = FIRST if place.pass_number in (FIRST, CHECK) else place.pass_number
        if (place.query, place.entry) in placed and turn == FIRST:
            turn = APART
        placed.add((place.query, place.entry))
        names[place.seat] = f"{seeded_number(seed, who, place.query, turn):x}"
    return names
