"""The door through which apps above say whose eyes a triple's verdicts are veiled to for now.

A calibration, in `agreement`, has people review past triples once more without seeing what was said.
"""

from collections.abc import Callable, Sequence

from apps.accounts.models import User
from apps.triples.models import Triple

Veil = Callable[[Sequence[Triple], User], set[int]]
_veils: list[Veil] = []


def add_veil(veil: Veil) -> Veil:
    """`veil(triples, person)` gives the ids of those whose verdicts are hidden from the person."""
    if veil not in _veils:
        _veils.append(veil)
    return veil


def veiled_among(triples: Sequence[Triple], person: User) -> set[int]:
    """The keys of the triples whose verdicts the person must not see for now."""
    return set().union(*(veil(triples, person) for veil in _veils)) if triples else set()


def is_veiled(triple: Triple, person: User) -> bool:
    return triple.pk in veiled_among([triple], person)
