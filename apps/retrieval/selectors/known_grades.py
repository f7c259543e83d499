"""What has been judged of a pool's pairs. Rooms above this one keep grades; each registers here how to ask it."""

from collections.abc import Callable, Mapping

from apps.retrieval.models import Pool

RELEVANT_FROM = 1
"""The lowest grade that counts as relevant, as in every measure that names no other."""

Grades = Mapping[tuple[int, int], int]
Kept = Callable[[Pool], Grades]

_kept: list[Kept] = []


def keeps_grades(kept: Kept) -> Kept:
    """Register `kept(pool)`: the settled grade of every (query id, block version id) on the pool's snapshot."""
    if kept not in _kept:
        _kept.append(kept)
    return kept


def grades_of(pool: Pool) -> dict[tuple[int, int], int]:
    """The settled grades on the pool's snapshot, whichever pool they were given in. Slow: for jobs."""
    return {pair: grade for kept in _kept for pair, grade in kept(pool).items()}
