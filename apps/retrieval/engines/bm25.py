"""Okapi BM25 as Lucene counts it (Kamphuis et al. 2020, "Which BM25 do you mean?", "Lucene (accurate)").

score(q, d) = Σ over terms t of q: n(t, q) · idf(t) · tf / (tf + k1 · (1 − b + b · |d| / average |d|)),
idf(t) = ln(1 + (N − df + 0.5) / (df + 0.5)); |d| counts the terms of a block after stop words.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from apps.retrieval.engines.lexical import Lexical


@dataclass(frozen=True)
class Bm25(Lexical):
    k1: float = 0.9
    b: float = 0.4

    name: ClassVar[str] = "bm25"

    def weigh(self, counts: csr_array) -> tuple[csr_array, NDArray[np.float64]]:
        blocks, terms = counts.shape
        lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
        average = lengths.mean() if blocks and lengths.any() else 1.0
        holders = np.bincount(counts.indices, minlength=terms)
        idf = np.log1p((blocks - holders + 0.5) / (holders + 0.5))
        saturation = self.k1 * (1 - self.b + self.b * lengths / average)
        frequency = counts.data.astype(np.float64)
        rows = np.repeat(np.arange(blocks), np.diff(counts.indptr))
        weights = idf[counts.indices] * frequency / (frequency + saturation[rows])
        return csr_array((weights, counts.indices, counts.indptr), shape=counts.shape), np.ones(terms)
