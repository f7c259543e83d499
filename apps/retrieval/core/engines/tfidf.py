"""TF-IDF with cosine similarity, in scikit-learn's smoothed form: idf = ln((1 + N) / (1 + df)) + 1."""

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
class TfIdf(Lexical):
    """With `sublinear` the weight of a count n is 1 + ln n. Scores are from 0 to 1; words that are not in the corpus
    do not count for the query's length.
    """

    sublinear: bool = True

    name: ClassVar[str] = "tfidf"

    def weigh(self, counts: Counts) -> Weigh:
        idf = self.boost(counts)

        def weights(part: csr_array, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
            raw = self._damped(part.data.astype(np.float64)) * idf[part.indices]
            rows = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
            return raw / np.sqrt(np.bincount(rows, weights=raw**2, minlength=part.shape[0]))[rows]

        return weights

    def boost(self, counts: Counts) -> NDArray[np.float64]:
        return np.log((1 + len(counts.lengths)) / (1 + counts.holders)) + 1

    def query_factors(self, counts: NDArray[np.float64], boost: NDArray[np.float64]) -> NDArray[np.float64]:
        factors = self._damped(counts) * boost
        return factors / np.sqrt((factors**2).sum())

    def _damped(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return 1 + np.log(counts) if self.sublinear else counts
