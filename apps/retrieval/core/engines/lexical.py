"""The common part of BM25 and TF-IDF, which differ only in their weights."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.core.engines import postings as lists
from apps.retrieval.core.engines.analysis import Analysis
from apps.retrieval.core.engines.base import Hits, Parameters, one_by_one
from apps.retrieval.core.engines.building import Counts, Weigh, count_terms, write_lists
from apps.retrieval.core.engines.postings import Postings


@dataclass(frozen=True)
class Lexical:
    """An engine over term-major postings. Subclasses define the weight of a term in a block and in a query."""

    analysis: Analysis = field(default_factory=Analysis)

    name: ClassVar[str]
    revision: ClassVar[int] = 1
    """Increased when a change of the code changes scores."""

    def identity(self) -> Parameters:
        own = {key: value for key, value in asdict(self).items() if key != "analysis"}
        return {"engine": self.name, "revision": self.revision, **asdict(self.analysis), **own}

    def weigh(self, counts: Counts) -> Weigh:
        """The function that turns the counts of a part into weights."""
        raise NotImplementedError

    def boost(self, counts: Counts) -> NDArray[np.float64]:
        """The weight of each term in a query."""
        raise NotImplementedError

    def query_factors(self, counts: NDArray[np.float64], boost: NDArray[np.float64]) -> NDArray[np.float64]:
        """The factor for the postings of each query term."""
        return counts * boost

    def index(self, blocks: Iterable[str]) -> Postings:
        """The arrays are in files that have no name any more, memory-mapped."""
        with TemporaryDirectory(prefix="karat-index-") as folder:
            self.build(blocks, Path(folder))
            return lists.load(Path(folder))

    def build(self, blocks: Iterable[str], folder: Path) -> None:
        with TemporaryFile(dir=folder) as file:
            counts = count_terms(blocks, self.analysis, file)
            boost = self.boost(counts)
            indptr = write_lists(counts, self.weigh(counts), folder)
        lists.save_terms(counts.vocabulary, folder)
        for name, values in (("indptr", indptr), ("boost", boost), ("blocks", np.int64(len(counts.lengths)))):
            np.save(folder / f"{name}.npy", values)

    def search(self, handle: Postings, queries: Sequence[str], k: int) -> Hits:
        return one_by_one(lambda text: self._rank(handle, text, k), queries, k)

    def _rank(self, handle: Postings, text: str, k: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        terms, counts = lists.query_terms(handle.vocabulary, self.analysis, text)
        if not len(terms):
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        scores = lists.scores_of(handle, terms, self.query_factors(counts, handle.boost[terms]))
        positions = lists.best(scores, k)
        return positions, scores[positions]

    def load(self, folder: Path) -> Postings:
        return lists.load(folder)
