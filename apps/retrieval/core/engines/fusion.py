"""Reciprocal-rank fusion (Cormack, Clarke and Büttcher 2009): a block gets 1 / (k + rank) from each ranking."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.core.engines.base import BadParameters, Ranked

DEFAULT_K = 60.0
LARGEST_K = 10_000.0


@dataclass(frozen=True)
class Fusion:
    """`systems` are the digests of the fused systems, sorted. With a smaller `k` low ranks lose weight faster."""

    systems: tuple[str, ...]
    k: float = DEFAULT_K

    name: ClassVar[str] = "fusion"
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if len(set(self.systems)) < 2 or len(set(self.systems)) < len(self.systems):
            raise BadParameters("A fusion needs at least two different systems.")
        if not 0 <= self.k <= LARGEST_K:
            raise BadParameters(f"k must be a number from 0 to {LARGEST_K:g}, not {self.k:g}.")
        object.__setattr__(self, "systems", tuple(sorted(self.systems)))

    def identity(self) -> dict[str, Any]:
        return {"engine": self.name, "revision": self.revision, "systems": list(self.systems), "k": float(self.k)}

    def fuse(self, rankings: Sequence[NDArray[np.int32]], depth: int) -> Ranked:
        """The best `depth` blocks of the rankings: score descending, ties by position descending.

        `rankings` are positions, best first; each is read down to `depth`, and a block gets nothing from a ranking
        without it. Give them in the order of `systems`: the order of additions decides the last bits of a score.
        """
        tops = [ranking[:depth] for ranking in rankings]
        places = np.concatenate([np.zeros(0, np.int32), *tops])
        gains = np.concatenate([np.zeros(0), *(1.0 / (self.k + np.arange(1, len(top) + 1)) for top in tops)])
        positions, number = np.unique(places, return_inverse=True)
        scores = np.bincount(number, weights=gains, minlength=len(positions)).astype(np.float64, copy=False)
        order = np.argsort(-scores[::-1], kind="stable")[:depth]
        return positions[::-1][order].astype(np.int64), scores[::-1][order]
