"""Negatives for training: hard ones, which a baseline ranks high and people judged 0, and easy, random ones.

An unjudged block that a good system ranks high may well be relevant, so a hard negative is always judged. An easy one
is sampled from the blocks that no run has in its top; where nobody judged it, it is marked as assumed. Near-duplicates
of a relevant block are never proposed. Knows no database.
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

# Whether each block of the first column is a near-duplicate of any block of the second.
Alike = Callable[[Ints, Ints], Bools]


class NegativesChoice(NamedTuple):
    """How many of each kind per query, how many ranks count as high, and the seed of the easy ones."""

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
    """More candidates than needed, best first, since those like a relevant block are dropped later."""

    relevant: Ints
    hard: Ints
    hard_ranks: Ints
    easy: Ints


def sample_negatives(
    query: str, ranking: Ints, tops: Ints, grades: Mapping[int, int], blocks: int, choice: NegativesChoice
) -> SampledNegatives:
    """Candidates for one query. `ranking` is the baseline's, best first; `tops` has the top results of every run.

    The easy ones depend only on the query's id, the seed and the excluded blocks.
    """
    relevant = np.array(sorted(place for place, grade in grades.items() if grade > 0), dtype=np.int64)
    high = np.asarray(ranking[: choice.depth], dtype=np.int64)
    is_hard = np.array([grades.get(place, 1) <= 0 for place in high.tolist()], dtype=bool)
    hard = np.flatnonzero(is_hard)[: choice.hard + SPARE]
    excluded = np.union1d(np.concatenate([tops, high]), relevant)
    random = np.random.default_rng([choice.seed, crc32(query.encode())])
    wanted = choice.easy + SPARE if choice.easy else 0
    tries = random.choice(blocks, size=min(blocks, wanted + len(excluded)), replace=False) if wanted else relevant[:0]
    easy = tries[~np.isin(tries, excluded)][:wanted]
    return SampledNegatives(relevant, high[hard], hard + 1, easy.astype(np.int64))


def choose_negatives(
    sampled: SampledNegatives, grades: Mapping[int, int], alike: Alike, choice: NegativesChoice
) -> list[Negative]:
    """The negatives of one query: hard ones by rank, then easy ones in the order in which they were sampled."""
    hard, easy = (alike(column, sampled.relevant) for column in (sampled.hard, sampled.easy))
    negatives = [
        Negative(place, HARD, JUDGED, rank, grades[place])
        for place, rank in zip(sampled.hard[~hard].tolist(), sampled.hard_ranks[~hard].tolist(), strict=True)
    ][: choice.hard]
    for place in sampled.easy[~easy].tolist()[: choice.easy]:
        negatives.append(Negative(place, EASY, JUDGED if place in grades else ASSUMED, None, grades.get(place)))
    return negatives


def alike_by(texts: Mapping[int, str], signatures: Signatures | None) -> Alike:
    """Near-duplicates: the same digest in `texts` (by position), or signatures that agree in four fifths."""

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
