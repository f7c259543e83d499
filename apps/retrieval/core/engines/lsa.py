"""Latent semantic analysis: the cosine in the space of the largest singular vectors of a TF-IDF matrix.

Deerwester et al. 1990, "Indexing by latent semantic analysis"; the decomposition is scikit-learn's randomised
truncated SVD (Halko et al. 2009) with a fixed seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.core.engines import postings as lists
from apps.retrieval.core.engines.base import Hits, Parameters, Ranked, one_by_one
from apps.retrieval.core.engines.postings import Postings
from apps.retrieval.core.engines.tfidf import TfIdf
from apps.retrieval.core.engines.vectors import NOTHING, nearest, unit, unit_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_ROUNDS = 5
_ROWS_AT_ONCE = 20_000
_ARRAYS = ("boost", "axes", "vectors")


class Space(NamedTuple):
    """Terms and blocks as vectors: `axes` (terms × dimensions) and `vectors` (blocks × dimensions, length 1), both
    float32; `boost` (float64) is each term's idf.
    """

    vocabulary: dict[str, int]
    boost: NDArray[np.float64]
    axes: NDArray[np.float32]
    vectors: NDArray[np.float32]


@dataclass(frozen=True)
class Lsa:
    """Scores are cosines from 0 to 1; blocks with a cosine of 0 or below are not returned."""

    weights: TfIdf = field(default_factory=TfIdf)
    dimensions: int = 128
    seed: int = 0

    name: ClassVar[str] = "lsa"
    revision: ClassVar[int] = 1

    def identity(self) -> Parameters:
        own = {"engine": self.name, "revision": self.revision, "dimensions": self.dimensions, "seed": self.seed}
        return {**self.weights.identity(), **own}

    def index(self, blocks: Iterable[str]) -> Space:
        """The space has at most as many dimensions as there are blocks or terms."""
        postings = self.weights.index(blocks)
        matrix = _matrix(postings)
        axes = self._axes(matrix)
        vectors = np.zeros((matrix.shape[0], axes.shape[1]), dtype=np.float32)
        for start in range(0, matrix.shape[0], _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            vectors[part] = unit_rows(matrix[part] @ axes.astype(np.float64))
        return Space(postings.vocabulary, postings.boost, axes, vectors)

    def _axes(self, matrix: csr_array) -> NDArray[np.float32]:
        size = min(self.dimensions, *matrix.shape)
        if not size:
            return np.zeros((matrix.shape[1], 0), dtype=np.float32)
        # These imports take a second; only building an index needs them, not every command and worker.
        from sklearn.utils.extmath import randomized_svd
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):  # several threads add in another order
            _, _, right = randomized_svd(matrix, size, n_iter=_ROUNDS, random_state=self.seed)
        return np.ascontiguousarray(right.T, dtype=np.float32)

    def search(self, handle: Space, queries: Sequence[str], k: int) -> Hits:
        return one_by_one(lambda text: self._rank(handle, text, k), queries, k)

    def _rank(self, handle: Space, text: str, k: int) -> Ranked:
        terms, counts = lists.query_terms(handle.vocabulary, self.weights.analysis, text)
        if not len(terms):
            return NOTHING
        factors = self.weights.query_factors(counts, handle.boost[terms])
        vector = unit((factors[:, None] * handle.axes[terms]).sum(axis=0))
        return NOTHING if vector is None else nearest(handle.vectors, vector, k)

    def build(self, blocks: Iterable[str], folder: Path) -> None:
        handle = self.index(blocks)
        for name in _ARRAYS:
            np.save(folder / f"{name}.npy", getattr(handle, name))
        lists.save_terms(handle.vocabulary, folder)

    def load(self, folder: Path) -> Space:
        arrays = {name: lists.mapped(folder / f"{name}.npy") for name in _ARRAYS}
        return Space(vocabulary=lists.load_terms(folder), **arrays)


def _matrix(postings: Postings) -> csr_array:
    """The postings as a blocks × terms matrix."""
    from scipy.sparse import csc_array, csr_array

    shape = (postings.blocks, len(postings.vocabulary))
    return csr_array(csc_array((postings.weights.whole, postings.positions.whole, postings.indptr), shape=shape))
