"""Term-major postings: the memory-mapped heart of the lexical engines."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, vstack

from apps.retrieval.engines.analysis import Analysis

_BLOCKS_AT_ONCE = 20_000
_NARROWEST_STRIPE = 4
_WIDEST_STRIPE = 256
_ARRAYS = ("indptr", "positions", "weights", "boost")


class Postings(NamedTuple):
    """For each term the blocks that hold it and what each is worth.

    Term t owns `positions[indptr[t]:indptr[t + 1]]` (int32, ascending) and the `weights` (float64) beside
    them; `boost[t]` (float64) is what one occurrence of the term in a query multiplies them by.
    """

    vocabulary: dict[str, int]
    indptr: NDArray[np.int64]
    positions: NDArray[np.int32]
    weights: NDArray[np.float64]
    boost: NDArray[np.float64]
    blocks: int


class _Lexicon(dict[str, int]):
    """Raw token to term number, grown while reading; −1 marks a stop word."""

    def __init__(self, analysis: Analysis) -> None:
        super().__init__()
        self.analysis = analysis
        self.terms: dict[str, int] = {}

    def __missing__(self, token: str) -> int:
        term = self.analysis.term(token)
        number = self.terms.setdefault(term, len(self.terms)) if term else -1
        self[token] = number
        return number


def count_terms(blocks: Iterable[str], analysis: Analysis) -> tuple[dict[str, int], csr_array]:
    """The vocabulary in order of first use, and how often each block (row) holds each term (column)."""
    lexicon = _Lexicon(analysis)
    parts = [_count_chunk(chunk, lexicon) for chunk in _chunks(blocks)]
    width = len(lexicon.terms)
    for part in parts:
        part.resize((part.shape[0], width))
    counts = csr_array(vstack(parts, format="csr")) if parts else csr_array((0, width), dtype=np.int32)
    return lexicon.terms, counts


def _chunks(blocks: Iterable[str]) -> Iterator[list[str]]:
    source = iter(blocks)
    while chunk := list(islice(source, _BLOCKS_AT_ONCE)):
        yield chunk


def _count_chunk(texts: Sequence[str], lexicon: _Lexicon) -> csr_array:
    numbers: list[int] = []
    ends = np.zeros(len(texts) + 1, dtype=np.int64)
    for row, text in enumerate(texts):
        numbers.extend(map(lexicon.__getitem__, lexicon.analysis.tokens(text)))
        ends[row + 1] = len(numbers)
    terms = np.array(numbers, dtype=np.int32)
    kept = terms >= 0
    indptr = np.concatenate(([0], np.cumsum(kept)))[ends]
    terms = terms[kept]
    counts = csr_array((np.ones(len(terms), dtype=np.int32), terms, indptr), shape=(len(texts), len(lexicon.terms)))
    counts.sum_duplicates()
    return counts


def from_weights(vocabulary: dict[str, int], weights: csr_array, boost: NDArray[np.float64]) -> Postings:
    """Postings from a blocks × terms matrix of weights."""
    by_term = csc_array(weights)
    by_term.sort_indices()
    return Postings(
        vocabulary,
        by_term.indptr.astype(np.int64),
        by_term.indices.astype(np.int32),
        by_term.data.astype(np.float64),
        boost,
        weights.shape[0],
    )


def query_terms(postings: Postings, analysis: Analysis, text: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The known terms of a query, ascending, and how often each occurs; unknown words count for nothing."""
    known = (postings.vocabulary.get(analysis.term(token), -1) for token in analysis.tokens(text))
    counts = Counter(known)
    del counts[-1]
    terms = sorted(counts)
    return np.array(terms, dtype=np.int64), np.array([counts[term] for term in terms], dtype=np.float64)


def scores_of(postings: Postings, terms: NDArray[np.int64], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The score of every block: the sum over terms, in ascending term order, of factor × weight."""
    if not len(terms):
        return np.zeros(postings.blocks)
    bounds = [slice(postings.indptr[term], postings.indptr[term + 1]) for term in terms]
    positions = np.concatenate([postings.positions[part] for part in bounds])
    weights = np.concatenate([postings.weights[part] * factor for part, factor in zip(bounds, factors, strict=True)])
    return np.bincount(positions, weights=weights, minlength=postings.blocks).astype(np.float64, copy=False)


def best(scores: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Positions of the `k` highest scores above zero: score descending, ties by position descending."""
    candidates = np.flatnonzero(scores >= _floor(scores, k))[::-1]
    candidates = candidates[scores[candidates] > 0]
    order = np.argsort(-scores[candidates], kind="stable")
    return candidates[order[:k]]


def _floor(scores: NDArray[np.float64], k: int) -> float:
    """A bound that at least `k` scores reach (or zero), found without sorting them all.

    The corpus is cut into stripes; the k-th highest of the stripes' maxima is reached k times at least, and
    few others reach it.
    """
    width = min(_WIDEST_STRIPE, len(scores) // (2 * k))
    if width < _NARROWEST_STRIPE:
        return 0.0
    stripes = len(scores) // width
    maxima = scores[: stripes * width].reshape(stripes, width).max(axis=1)
    return float(np.partition(maxima, stripes - k)[stripes - k])


def save(postings: Postings, folder: Path) -> None:
    """One file an array, and the terms one a line in the order of their numbers."""
    for name in _ARRAYS:
        np.save(folder / f"{name}.npy", getattr(postings, name))
    np.save(folder / "blocks.npy", np.int64(postings.blocks))
    (folder / "terms.txt").write_bytes("\n".join(postings.vocabulary).encode())


def load(folder: Path) -> Postings:
    """What `save` wrote, with the arrays memory-mapped read-only."""
    words = (folder / "terms.txt").read_bytes().decode()
    terms = words.split("\n") if words else []
    arrays = {name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r")) for name in _ARRAYS}
    blocks = int(np.load(folder / "blocks.npy"))
    return Postings(vocabulary={term: number for number, term in enumerate(terms)}, blocks=blocks, **arrays)
