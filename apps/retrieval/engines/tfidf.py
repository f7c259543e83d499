"""TF-IDF with cosine similarity, in scikit-learn's smoothed form: idf = ln((1 + N) / (1 + df)) + 1."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from apps.retrieval.engines.lexical import Lexical


@dataclass(frozen=True)
class TfIdf(Lexical):
    """With `sublinear` a count n weighs 1 + ln n. Scores lie between 0 and 1; words the corpus does not know
    are left out of the query's length.
    """

    sublinear: bool = True

    name: ClassVar[str] = "tfidf"

    def weigh(self, counts: csr_array) -> tuple[csr_array, NDArray[np.float64]]:
        blocks, terms = counts.shape
        holders = np.bincount(counts.indices, minlength=terms)
        idf = np.log((1 + blocks) / (1 + holders)) + 1
        weights = self._damped(counts.data.astype(np.float64)) * idf[counts.indices]
        rows = np.repeat(np.arange(blocks), np.diff(counts.indptr))
        lengths = np.sqrt(np.bincount(rows, weights=weights**2, minlength=blocks))
        weights /= lengths[rows]
        return csr_array((weights, counts.indices, counts.indptr), shape=counts.shape), idf

    def query_factors(self, counts: NDArray[np.float64], boost: NDArray[np.float64]) -> NDArray[np.float64]:
        factors = self._damped(counts) * boost
        return factors / np.sqrt((factors**2).sum())

    def _damped(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return 1 + np.log(counts) if self.sublinear else counts
