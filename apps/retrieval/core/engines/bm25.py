"""Okapi BM25 in Lucene's form (Kamphuis et al. 2020, "Which BM25 do you mean?", "Lucene (accurate)").

score(q, d) = Σ over terms t of q: n(t, q) · idf(t) · tf / (tf + k1 · (1 − b + b · |d| / average |d|)),
idf(t) = ln(1 + (N − df + 0.5) / (df + 0.5)); |d| counts the terms of a block after stop words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.core.engines.building import Counts, Weigh
from apps.retrieval.core.engines.lexical import Lexical

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class Bm25(Lexical):
    k1: float = 0.9
    b: float = 0.4

    name: ClassVar[str] = "bm25"

    def weigh(self, counts: Counts) -> Weigh:
        blocks, lengths = len(counts.lengths), counts.lengths
        average = lengths.mean() if lengths.any() else 1.0
        idf = np.log1p((blocks - counts.holders + 0.5) / (counts.holders + 0.5))

        def weights(part: csr_array, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
            saturation = self.k1 * (1 - self.b + self.b * lengths / average)
            frequency = part.data.astype(np.float64)
            return idf[part.indices] * frequency / (frequency + np.repeat(saturation, np.diff(part.indptr)))

        return weights

    def boost(self, counts: Counts) -> NDArray[np.float64]:
        return np.ones(len(counts.holders))
