"""What BM25 and TF-IDF share: they differ in the weights alone."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from apps.retrieval.engines import postings as lists
from apps.retrieval.engines.analysis import Analysis
from apps.retrieval.engines.base import Found, Parameters
from apps.retrieval.engines.postings import Postings


@dataclass(frozen=True)
class Lexical:
    """An engine over term-major postings. Subclasses say what a term in a block, and in a query, is worth."""

    analysis: Analysis = field(default_factory=Analysis)

    name: ClassVar[str]
    revision: ClassVar[int] = 1
    """Raised when the same parameters begin to give other scores."""

    def identity(self) -> Parameters:
        own = {key: value for key, value in asdict(self).items() if key != "analysis"}
        return {"engine": self.name, "revision": self.revision, **asdict(self.analysis), **own}

    def weigh(self, counts: csr_array) -> tuple[csr_array, NDArray[np.float64]]:
        """From a blocks × terms matrix of counts: what each count is worth, and what each term is worth
        in a query.
        """
        raise NotImplementedError

    def query_factors(self, counts: NDArray[np.float64], boost: NDArray[np.float64]) -> NDArray[np.float64]:
        """What each term of a query multiplies its postings by."""
        return counts * boost

    def index(self, blocks: Iterable[str]) -> Postings:
        vocabulary, counts = lists.count_terms(blocks, self.analysis)
        weights, boost = self.weigh(counts)
        return lists.from_weights(vocabulary, weights, boost)

    def search(self, handle: Postings, queries: Sequence[str], k: int) -> Found:
        if k < 1:
            raise ValueError("k must be 1 or more")
        answers: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        seconds = np.zeros(len(queries))
        for number, text in enumerate(queries):
            started = perf_counter()
            answers.append(self._rank(handle, text, k))
            seconds[number] = perf_counter() - started
        sizes = [len(found) for found, _ in answers]
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        positions = np.concatenate([np.zeros(0, np.int64), *(found for found, _ in answers)])
        scores = np.concatenate([np.zeros(0), *(values for _, values in answers)])
        return Found(offsets, positions.astype(np.int32), scores, seconds)

    def _rank(self, handle: Postings, text: str, k: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        terms, counts = lists.query_terms(handle, self.analysis, text)
        if not len(terms):
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        scores = lists.scores_of(handle, terms, self.query_factors(counts, handle.boost[terms]))
        found = lists.best(scores, k)
        return found, scores[found]

    def save(self, handle: Postings, folder: Path) -> None:
        lists.save(handle, folder)

    def load(self, folder: Path) -> Postings:
        return lists.load(folder)
