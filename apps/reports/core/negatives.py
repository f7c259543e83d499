"""Negatives to train on: hard ones that a baseline ranks high and people judged 0, and easy random ones.

A block that nobody judged may well be relevant when a good system ranks it high, so a hard negative is always a judged
one. An easy one is drawn from what no run has in its top; it is judged, or assumed not to be relevant, and says
which. Blocks much like a relevant one are never proposed. Knows no database.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from apps.corpus.core.near_duplicates import Signatures
from apps.metrics.columns import Ints
from apps.metrics.statistics.seeds import DEFAULT_SEED

HARD, EASY = "hard", "easy"
JUDGED, ASSUMED = "judged", "assumed"
ALIKE = 0.8
SPARE = 10

Bools = NDArray[np.bool_]

# Whether each block of the first column is much like any of the second.
Alike = Callable[[Ints, Ints], Bools]


class NegativesChoice(NamedTuple):
    """How many of each kind a query is to have, how far down "high" reaches, and the seed of the easy ones."""

    hard: int = 10
    easy: int = 5
    depth: int = 100
    seed: int = DEFAULT_SEED


class Negative(NamedTuple):
    """A block by its position. `rank` counts from 1 in the baseline; an easy one has none, an assumed one no grade."""

    position: int
    kind: str
    basis: str
    rank: int | None
    grade: int | None


class SampledNegatives(NamedTuple):
    """More candidates than are wanted, best first, so that some may turn out to be like a relevant block."""

    relevant: Ints
    hard: Ints
    hard_ranks: Ints
    easy: Ints


def draw(
    query: str, ranking: Ints, tops: Ints, grades: Mapping[int, int], blocks: int, choice: NegativesChoice
) -> SampledNegatives:
    """Candidates for one query. `ranking` is the baseline's, best first; `tops` what any run has in its top.

    The easy ones depend on the query's id, the seed and what is excluded, on nothing else.
    """
    relevant = np.array(sorted(place for place, grade in grades.items() if grade > 0), dtype=np.int64)
    found = np.asarray(ranking[: choice.depth], dtype=np.int64)
    is_hard = np.array([grades.get(place, 1) <= 0 for place in found.tolist()], dtype=bool)
    where = np.flatnonzero(is_hard)[: choice.hard + SPARE]
    taken = np.union1d(np.concatenate([tops, found]), relevant)
    random = np.random.default_rng([choice.seed, crc32(query.encode())])
    wanted = choice.easy + SPARE if choice.easy else 0
    tries = random.choice(blocks, size=min(blocks, wanted + len(taken)), replace=False) if wanted else relevant[:0]
    easy = tries[~np.isin(tries, taken)][:wanted]
    return SampledNegatives(relevant, found[where], where + 1, easy.astype(np.int64))


def settle(drawn: SampledNegatives, grades: Mapping[int, int], alike: Alike, choice: NegativesChoice) -> list[Negative]:
    """The negatives of one query: hard ones by rank, then easy ones as they were drawn."""
    hard, easy = (alike(column, drawn.relevant) for column in (drawn.hard, drawn.easy))
    found = [
        Negative(place, HARD, JUDGED, rank, grades[place])
        for place, rank in zip(drawn.hard[~hard].tolist(), drawn.hard_ranks[~hard].tolist(), strict=True)
    ][: choice.hard]
    for place in drawn.easy[~easy].tolist()[: choice.easy]:
        found.append(Negative(place, EASY, JUDGED if place in grades else ASSUMED, None, grades.get(place)))
    return found


def alike_by(texts: Mapping[int, str], signatures: Signatures | None) -> Alike:
    """By text digest, in `texts` by position, and by signatures that agree in four fifths, where there are any."""

    def alike(candidates: Ints, relevant: Ints) -> Bools:
        if not len(candidates) or not len(relevant):
            return np.zeros(len(candidates), dtype=bool)
        known = {texts[place] for place in relevant.tolist()}
        same = np.array([texts[place] in known for place in candidates.tolist()], dtype=bool)
        if signatures is None:
            return same
        minima = signatures.minima
        share = (minima[candidates][:, None, :] == minima[relevant][None, :, :]).mean(axis=2)
        return same | (share >= ALIKE).any(axis=1)

    return alike
