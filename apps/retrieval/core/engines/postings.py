"""Term-major postings, the memory-mapped index of the lexical engines."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.core.engines.analysis import Analysis

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # slow to load, here and in the functions that need it

_BLOCKS_AT_ONCE = 20_000
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


class _Lexicon(dict[str, int]):
    """Term numbers by raw token, filled on lookup; −1 for a stop word."""

    def __init__(self, analysis: Analysis) -> None:
        super().__init__()
        self.analysis = analysis
        self.terms: dict[str, int] = {}

    def __missing__(self, token: str) -> int:
        term = self.analysis.term(token)
        number = self.terms.setdefault(term, len(self.terms)) if term else -1
        self[token] = number
        return number


class Counts(NamedTuple):
    """How often each term occurs in each block.

    `parts` are blocks × terms matrices of consecutive blocks, so that a large corpus is never in memory twice.
    `holders` (int64) is for each term the number of blocks that contain it, `lengths` (int64) for each block the
    number of its terms.
    """

    vocabulary: dict[str, int]
    parts: list[csr_array]
    holders: NDArray[np.int64]
    lengths: NDArray[np.int64]


Weigh = Callable[["csr_array", NDArray[np.int64]], NDArray[np.float64]]
"""Turns the counts of a part into weights; the second argument has the lengths of the part's blocks."""


def count_terms(blocks: Iterable[str], analysis: Analysis) -> Counts:
    """Count the terms of the blocks. The vocabulary is in order of first use."""
    lexicon = _Lexicon(analysis)
    parts = [_count_chunk(chunk, lexicon) for chunk in _chunks(blocks)]
    holders = np.zeros(len(lexicon.terms), dtype=np.int64)
    for part in parts:
        holders[: part.shape[1]] += np.bincount(part.indices, minlength=part.shape[1])
    lengths = [np.asarray(part.sum(axis=1, dtype=np.int64)).ravel() for part in parts]
    return Counts(lexicon.terms, parts, holders, np.concatenate([np.zeros(0, np.int64), *lengths]))


def _chunks(blocks: Iterable[str]) -> Iterator[list[str]]:
    source = iter(blocks)
    while chunk := list(islice(source, _BLOCKS_AT_ONCE)):
        yield chunk


def _count_chunk(texts: Sequence[str], lexicon: _Lexicon) -> csr_array:
    from scipy.sparse import csr_array

    numbers = array("i")
    ends = np.zeros(len(texts) + 1, dtype=np.int64)
    for row, text in enumerate(texts):
        numbers.extend(map(lexicon.__getitem__, lexicon.analysis.tokens(text)))
        ends[row + 1] = len(numbers)
    terms = np.frombuffer(numbers, dtype=np.int32)
    is_indexed = terms >= 0
    indptr = np.concatenate(([0], np.cumsum(is_indexed)))[ends]
    terms = terms[is_indexed]
    counts = csr_array((np.ones(len(terms), dtype=np.int32), terms, indptr), shape=(len(texts), len(lexicon.terms)))
    counts.sum_duplicates()
    counts.data = counts.data.astype(np.min_scalar_type(int(counts.data.max(initial=0))))
    return counts


def from_counts(counts: Counts, weigh: Weigh, boost: NDArray[np.float64]) -> Postings:
    """Postings with the weights that `weigh` returns. The list of parts is empty afterwards, to free memory.

    The entries of each part are appended to the lists of their terms, so nothing has to be sorted.
    """
    from scipy.sparse import csc_array

    indptr = np.concatenate(([0], np.cumsum(counts.holders))).astype(np.int64)
    positions, weights = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=np.float64)
    ends, first = indptr[:-1].copy(), 0
    counts.parts.reverse()
    while counts.parts:
        part = counts.parts.pop()
        blocks, terms = part.shape
        part.data = weigh(part, counts.lengths[first : first + blocks])
        by_term = csc_array(part)
        places = np.arange(by_term.nnz) + np.repeat(ends[:terms] - by_term.indptr[:-1], np.diff(by_term.indptr))
        positions[places] = by_term.indices + first
        weights[places] = by_term.data
        ends[:terms] += np.diff(by_term.indptr)
        first += blocks
    return Postings(counts.vocabulary, indptr, positions, weights, boost, first)


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
    if not len(terms):
        return np.zeros(postings.blocks)
    from scipy.sparse import csc_array

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


def save(postings: Postings, folder: Path) -> None:
    """One file per array, and a file of terms, one per line in the order of their numbers."""
    for name in _ARRAYS:
        np.save(folder / f"{name}.npy", getattr(postings, name))
    np.save(folder / "blocks.npy", np.int64(postings.blocks))
    save_terms(postings.vocabulary, folder)


def load(folder: Path) -> Postings:
    """The postings that `save` wrote; the arrays are memory-mapped and read-only."""
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
