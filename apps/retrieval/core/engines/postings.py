"""Term-major postings, the index of the lexical engines, in files."""

import mmap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.core.engines.analysis import Analysis

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
