"""Registration of blindings, by which apps above hide the verdicts of a triple from a person for now.

A calibration has people review past triples once more without seeing the verdicts.
"""

from collections.abc import Callable, Sequence

from apps.accounts.models import User
from apps.triples.models import Triple

Blinding = Callable[[Sequence[Triple], User], set[int]]
_blindings: list[Blinding] = []


def add_blinding(blinding: Blinding) -> Blinding:
    """`blinding(triples, person)` gives the ids of those whose verdicts are hidden from the person."""
    if blinding not in _blindings:
        _blindings.append(blinding)
    return blinding


def blinded_among(triples: Sequence[Triple], person: User) -> set[int]:
    """The keys of the triples whose verdicts are hidden from the person for now."""
    return set().union(*(blinding(triples, person) for blinding in _blindings)) if triples else set()


def is_blinded(triple: Triple, person: User) -> bool:
    return triple.pk in blinded_among([triple], person)
