"""A sample of questions by stratum, the same for the same seed.

Questions stand in the order of their strata, and every so-many-th is taken from a random place on. So each stratum, and
each group of strata that begin alike, has its share of the sample to within one question, however small it is: one that
holds a tenth of all is in every sample of ten. Of many such samples the one is taken whose kinds are nearest to their
shares in every field, since the fields after the first are otherwise left to chance where there are many small strata.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

MOST_TRIALS, FEWEST_TRIALS, ITEMS_TRIED = 200, 5, 100_000


class Candidate(NamedTuple):
    """A question to draw. `strata` count in their order; `used` is the last quarter that had it, "" for none."""

    name: str
    strata: tuple[str, ...]
    used: str = ""


def draw(candidates: Iterable[Candidate], size: int, *, seed: str, trials: int = MOST_TRIALS) -> list[str]:
    """The names of `size` questions, or of all where there are fewer, sorted; whatever the order of the candidates.

    Those never used come first, then those used longest ago. Within each of these ages the sample is stratified: the
    best of at most so many trials.
    """
    ages: defaultdict[str, list[Candidate]] = defaultdict(list)
    for one in candidates:
        ages[one.used].append(one)
    drawn: list[str] = []
    for age in sorted(ages):
        drawn += _stratified(ages[age], min(size - len(drawn), len(ages[age])), seed, trials)
    return sorted(drawn, key=str.encode)


def _stratified(candidates: Sequence[Candidate], size: int, seed: str, most: int) -> list[str]:
    """Of several samples the one whose kinds, of every field, are nearest to their shares."""
    if size <= 0:
        return []
    trials = max(FEWEST_TRIALS, min(most, ITEMS_TRIED // len(candidates)))
    samples = [_every_so_many(candidates, size, f"{seed}\n{trial}") for trial in range(trials)]
    best = min(samples, key=lambda sample: _distance(sample, candidates, size))
    return [one.name for one in best]


def _every_so_many(candidates: Sequence[Candidate], size: int, seed: str) -> list[Candidate]:
    """Place i is taken where i × size passes a multiple of the number of candidates, from a random start on.

    The strata stand in a random order, those that begin alike together.
    """
    total = len(candidates)
    prefixes = {one.strata[: depth + 1] for one in candidates for depth in range(len(one.strata))}
    places = {prefix: _number("\n".join((seed, *prefix))) for prefix in prefixes}

    def place(one: Candidate) -> tuple[int | str, ...]:
        strata = (places[one.strata[: depth + 1]] for depth in range(len(one.strata)))
        return (*strata, _number(f"{seed}\n\n{one.name}"), one.name)

    ordered = sorted(candidates, key=place)
    start = _number(f"{seed}\n\n\n") % total
    return [ordered[(start + step * total) // size] for step in range(size)]


def _distance(sample: Sequence[Candidate], candidates: Sequence[Candidate], size: int) -> tuple[int, int]:
    """How far the kinds are from their shares: the furthest one, then the sum of squares; in whole numbers."""
    off = []
    for field in range(len(candidates[0].strata)):
        inside = Counter(one.strata[field] for one in sample)
        overall = Counter(one.strata[field] for one in candidates)
        off += [abs(inside[kind] * len(candidates) - count * size) for kind, count in overall.items()]
    return max(off, default=0), sum(one * one for one in off)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
