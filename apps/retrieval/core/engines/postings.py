"""Term-major postings, the memory-mapped index of the lexical engines."""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.core.engines.analysis import Analysis

_NARROWEST_STRIPE = 4
_WIDEST_STRIPE = 256
_ARRAYS = ("indptr", "positions", "weights", "boost")


class Postings(NamedTuple):
    """For each term the blocks that contain it, and their weights.

    The blocks of term t are `positions[indptr[t]:indptr[t + 1]]` (int32, ascending), with their `weights` (float64)
    at the same indices. One occurrence of the term in a query multiplies the weights by `boost[t]` (float64).
    """

    vocabulary: dict[str, int]
    indptr: NDArray[np.int64]
    positions: NDArray[np.int32]
    weights: NDArray[np.float64]
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
    bounds = [slice(postings.indptr[term], postings.indptr[term + 1]) for term in terms.tolist()]
    positions = np.concatenate([postings.positions[part] for part in bounds])
    weights = np.concatenate(
        [
            postings.weights[part] if factor == 1 else postings.weights[part] * factor
            for part, factor in zip(bounds, factors.tolist(), strict=True)
        ]
    )
    ends = np.zeros(len(bounds) + 1, dtype=np.int32)
    np.cumsum([part.stop - part.start for part in bounds], out=ends[1:])
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
    """The postings in a folder that `Lexical.build` filled; the arrays are memory-mapped and read-only."""
    arrays = {name: mapped(folder / f"{name}.npy") for name in _ARRAYS}
    return Postings(vocabulary=load_terms(folder), blocks=int(np.load(folder / "blocks.npy")), **arrays)


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
