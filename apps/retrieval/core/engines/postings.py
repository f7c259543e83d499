"""The lexical engines BM25 and TF-IDF, and their index in files: term-major postings."""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.core.engines.base import NOTHING, Hits, Parameters, Ranked, one_by_one
from apps.retrieval.core.engines.building import Analysis, Counts, Weigh, count_terms, write_lists

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_NARROWEST_STRIPE = 4
_WIDEST_STRIPE = 256
KEPT_BYTES = 96 * 1024 * 1024
"""Of each array, before what was read is given back: reading it again then costs little beside the queries."""


class Stored:
    """An array in a file, mapped into memory read-only, of which parts are read.

    What is read of a mapping counts as memory of the process: after some queries, most of a large index. So it is given
    back now and then. The system keeps the file itself in memory, as long as nobody needs that more.
    """

    def __init__(self, path: Path) -> None:
        mapping = np.load(path, mmap_mode="r")
        self.whole: NDArray[Any] = np.asarray(mapping)
        self._mapping: mmap.mmap = mapping.base
        self._read = 0

    def parts(self, bounds: Sequence[slice]) -> NDArray[Any]:
        """A copy of these parts, one after the other."""
        values = np.concatenate([self.whole[part] for part in bounds])
        self._read += values.nbytes
        if self._read > KEPT_BYTES:
            self.give_back()
        return values

    def give_back(self) -> None:
        """Unload what was read; what is read again is loaded again."""
        self._read = 0
        if hasattr(mmap, "MADV_DONTNEED"):
            self._mapping.madvise(mmap.MADV_DONTNEED)


class Postings(NamedTuple):
    """For each term the blocks that contain it, and their weights.

    The blocks of term t are `positions[indptr[t]:indptr[t + 1]]` (int32, ascending), with their `weights` (float64)
    at the same indices. One occurrence of the term in a query multiplies the weights by `boost[t]` (float64).
    """

    vocabulary: dict[str, int]
    indptr: NDArray[np.int64]
    positions: Stored
    weights: Stored
    boost: NDArray[np.float64]
    blocks: int


def query_terms(
    vocabulary: dict[str, int], analysis: Analysis, text: str
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The known terms of a query, ascending, and how often each occurs; unknown words are ignored."""
    known = (vocabulary.get(analysis.term(token), -1) for token in analysis.tokens(text))
    counts = Counter(known)
    del counts[-1]
    terms = sorted(counts)
    return np.array(terms, dtype=np.int64), np.array([counts[term] for term in terms], dtype=np.float64)


def scores_of(postings: Postings, terms: NDArray[np.int64], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The score of every block: the sum over terms, in ascending term order, of factor × weight."""
    from scipy.sparse import csc_array  # slow to load

    if not len(terms):
        return np.zeros(postings.blocks)
    starts, stops = postings.indptr[terms].tolist(), postings.indptr[terms + 1].tolist()
    bounds = [slice(start, stop) for start, stop in zip(starts, stops, strict=True)]
    positions, weights = postings.positions.parts(bounds), postings.weights.parts(bounds)
    ends = np.zeros(len(bounds) + 1, dtype=np.int32)
    np.cumsum([part.stop - part.start for part in bounds], out=ends[1:])
    for number, factor in enumerate(factors.tolist()):
        if factor != 1:
            weights[ends[number] : ends[number + 1]] *= factor
    # Multiplying by one keeps rounding the same on processors that multiply and add in one step.
    return csc_array((weights, positions, ends), shape=(postings.blocks, len(bounds))) @ np.ones(len(bounds))


def best(scores: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Positions of the `k` highest scores above zero: score descending, ties by position descending."""
    candidates = np.flatnonzero(scores >= floor(scores, k))[::-1]
    candidates = candidates[scores[candidates] > 0]
    order = np.argsort(-scores[candidates], kind="stable")
    return candidates[order[:k]]


def floor(scores: NDArray[np.floating], k: int) -> float:
    """A lower bound that at least `k` scores reach (or zero), computed without sorting them all.

    The scores are cut into stripes. At least k scores reach the k-th highest of the stripes' maxima, and few more.
    """
    width = min(_WIDEST_STRIPE, len(scores) // (2 * k))
    if width < _NARROWEST_STRIPE:
        return 0.0
    stripes = len(scores) // width
    maxima = scores[: stripes * width].reshape(stripes, width).max(axis=1)
    return float(np.partition(maxima, stripes - k)[stripes - k])


def load(folder: Path) -> Postings:
    """The postings in a folder that `Lexical.build` filled; the arrays are read-only."""
    return Postings(
        vocabulary=load_terms(folder),
        indptr=mapped(folder / "indptr.npy"),
        positions=Stored(folder / "positions.npy"),
        weights=Stored(folder / "weights.npy"),
        boost=mapped(folder / "boost.npy"),
        blocks=int(np.load(folder / "blocks.npy")),
    )


def save_terms(vocabulary: dict[str, int], folder: Path) -> None:
    """One term per line, in the order of their numbers. No term contains a line end."""
    (folder / "terms.txt").write_bytes("\n".join(vocabulary).encode())


def load_terms(folder: Path) -> dict[str, int]:
    """The number of each term that `save_terms` wrote."""
    words = (folder / "terms.txt").read_bytes().decode()
    return {term: number for number, term in enumerate(words.split("\n") if words else [])}


def mapped(path: Path) -> NDArray[Any]:
    """The array in a file, memory-mapped read-only."""
    return np.asarray(np.load(path, mmap_mode="r"))


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
        return counts * boost

    def index(self, blocks: Iterable[str]) -> Postings:
        """The arrays are in files that have no name any more, memory-mapped."""
        with TemporaryDirectory(prefix="karat-index-") as folder:
            self.build(blocks, Path(folder))
            return load(Path(folder))

    def build(self, blocks: Iterable[str], folder: Path) -> None:
        with TemporaryFile(dir=folder) as file:
            counts = count_terms(blocks, self.analysis, file)
            boost = self.boost(counts)
            indptr = write_lists(counts, self.weigh(counts), folder)
        save_terms(counts.vocabulary, folder)
        for name, values in (("indptr", indptr), ("boost", boost), ("blocks", np.int64(len(counts.lengths)))):
            np.save(folder / f"{name}.npy", values)

    def search(self, handle: Postings, queries: Sequence[str], k: int) -> Hits:
        return one_by_one(lambda text: self._rank(handle, text, k), queries, k)

    def _rank(self, handle: Postings, text: str, k: int) -> Ranked:
        terms, counts = query_terms(handle.vocabulary, self.analysis, text)
        if not len(terms):
            return NOTHING
        scores = scores_of(handle, terms, self.query_factors(counts, handle.boost[terms]))
        positions = best(scores, k)
        return positions, scores[positions]

    def load(self, folder: Path) -> Postings:
        return load(folder)


@dataclass(frozen=True)
class Bm25(Lexical):
    """Okapi BM25 in Lucene's form (Kamphuis et al. 2020, "Which BM25 do you mean?", "Lucene (accurate)").

    score(q, d) = Σ over terms t of q: n(t, q) · idf(t) · tf / (tf + k1 · (1 − b + b · |d| / average |d|)), where idf(t)
    = ln(1 + (N − df + 0.5) / (df + 0.5)); |d| counts the terms of a block after stop words.
    """

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
