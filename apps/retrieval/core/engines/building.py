"""From texts to postings, in parts that lie on disk, so that memory does not grow with the corpus.

Blocks are counted some thousands at a time. When the whole corpus is known the counts of each part are weighed, and
the weights are gathered for some terms at a time, over all parts.
"""

from __future__ import annotations

import os
import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.format import header_data_from_array_1_0, write_array_header_1_0
from numpy.typing import NDArray

from apps.common.text.words import windows, words_of

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array  # slow to load, here and in the functions that need it

_ENGLISH = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to
was will with
"""
# The English list is that of Lucene's StandardAnalyzer; the others are of the same kind and case-folded like texts.
_GERMAN = """
aber als am an auch auf aus bei bin bis da das dass dem den der des die durch ein eine einem einen einer eines er es
für hat ich ihr im in ist kein mit nach nicht noch nur ob oder ohne sich sie sind so über um und unter vom von vor war
was wenn wer wie wir wird zu zum zur
"""
_FRENCH = """
à au aux avec c ce ces cet cette d dans de des du elle elles en est et il ils j je l la le les leur leurs lui m mais
n ne nous on ou où par pas pour qu que qui s sa se ses si son sont sur t un une vous y
"""
_SPANISH = """
a al como con de del donde e el ella ellas ellos en entre era es esa ese esta este esto ha la las le les lo los más me
mi no nos o para pero por que qué se si sin sobre son su sus también te tu u un una unas uno unos y ya
"""
TOKENIZERS = ("words_or_bigrams", "words", "trigrams")
STEMMERS = ("none", "s")
_BLOCKS_AT_ONCE = 20_000
_POSTINGS_AT_ONCE = 1_000_000


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in text.split())


STOP_WORDS: dict[str, frozenset[str]] = {
    "none": frozenset(),
    "english": _words(_ENGLISH),
    "german": _words(_GERMAN),
    "french": _words(_FRENCH),
    "spanish": _words(_SPANISH),
}

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Analysis:
    """How a text becomes terms.

    The tokens `words` are runs of letters, digits and underscores after NFKC and case folding. `words_or_bigrams` are
    these too, but pairs of characters where a script has no blanks between words (`words_of`). `trigrams` are the
    three-character windows of each word of any script; they are not stemmed. Stop words are whole words, removed
    before stemming. The stemmer `s` removes English plural endings (Harman 1991, "How effective is suffixing?").
    """

    tokenizer: str = "words_or_bigrams"
    stop_words: str = "english"
    stemmer: str = "s"

    def tokens(self, text: str) -> list[str]:
        """The raw tokens of a text, in order; `term` turns each into an index term."""
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text)
        text = text.casefold()
        if self.tokenizer == "words_or_bigrams":
            return words_of(text)
        words = _WORD.findall(text)
        if self.tokenizer == "words":
            return words
        content_words = (word for word in words if word not in STOP_WORDS[self.stop_words])
        return [gram for word in content_words for gram in windows(word, 3)]

    def term(self, token: str) -> str:
        """The index term of a token; empty for a stop word."""
        if self.tokenizer == "trigrams":
            return token
        if token in STOP_WORDS[self.stop_words]:
            return ""
        return _singular(token) if self.stemmer == "s" else token


def _singular(token: str) -> str:
    """Harman's S stemmer: the first rule with a matching ending applies; its exceptions leave the word unchanged."""
    if len(token) < 4 or not token.endswith("s"):
        return token
    if token.endswith("ies"):
        return token if token.endswith(("eies", "aies")) else token[:-3] + "y"
    if token.endswith("es"):
        return token if token.endswith(("aes", "ees", "oes")) else token[:-1]
    return token if token.endswith(("us", "ss")) else token[:-1]


class _Stored(NamedTuple):
    """An array in a file with others."""

    file: IO[bytes]
    offset: int
    dtype: np.dtype[Any]
    size: int

    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """The elements from `start` to `stop`, read-only."""
        count = (self.size if stop is None else stop) - start
        width = self.dtype.itemsize
        data = os.pread(self.file.fileno(), count * width, self.offset + start * width)
        return np.frombuffer(data, dtype=self.dtype)


class BlockPart(NamedTuple):
    """A sparse matrix in a file: some consecutive blocks by the terms known so far, or terms by blocks."""

    shape: tuple[int, int]
    indptr: _Stored
    indices: _Stored
    data: _Stored


def _stored(file: IO[bytes], matrix: csr_array | csc_array) -> BlockPart:
    """The matrix at the end of the file."""
    places = []
    for values in (matrix.indptr, matrix.indices, matrix.data):
        places.append(_Stored(file, file.seek(0, os.SEEK_END), values.dtype, len(values)))
        file.write(values.tobytes())
    file.flush()
    return BlockPart(matrix.shape, *places)


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

    `parts` are blocks × terms matrices of consecutive blocks, in `file`. `holders` (int64) is for each term the number
    of blocks that contain it, `lengths` (int64) for each block the number of its terms.
    """

    vocabulary: dict[str, int]
    file: IO[bytes]
    parts: list[BlockPart]
    holders: NDArray[np.int64]
    lengths: NDArray[np.int64]


Weigh = Callable[["csr_array", NDArray[np.int64]], NDArray[np.float64]]
"""Turns the counts of a part into weights; the second argument has the lengths of the part's blocks."""


def count_terms(blocks: Iterable[str], analysis: Analysis, file: IO[bytes]) -> Counts:
    """Count the terms of the blocks into a file. The vocabulary is in order of first use."""
    lexicon, parts = _Lexicon(analysis), []
    holders, lengths = np.zeros(0, dtype=np.int64), [np.zeros(0, dtype=np.int64)]
    for chunk in _chunks(blocks):
        part = _count_chunk(chunk, lexicon)
        so_far, holders = holders, np.bincount(part.indices, minlength=part.shape[1])
        holders[: len(so_far)] += so_far
        lengths.append(np.asarray(part.sum(axis=1, dtype=np.int64)).ravel())
        parts.append(_stored(file, part))
    return Counts(lexicon.terms, file, parts, holders, np.concatenate(lengths))


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


def write_lists(counts: Counts, weigh: Weigh, folder: Path) -> NDArray[np.int64]:
    """Write the positions and the weights of every term, one file each, as `np.save` would write them in one piece.

    Returns where the list of each term begins, and at last where all of them end.
    """
    indptr = np.concatenate(([0], np.cumsum(counts.holders))).astype(np.int64)
    parts = list(_weighed(counts, weigh))
    with (folder / "positions.npy").open("wb") as positions, (folder / "weights.npy").open("wb") as weights:
        _write_header(positions, np.int32, int(indptr[-1]))
        _write_header(weights, np.float64, int(indptr[-1]))
        for first, last in pairwise(_cuts(indptr)):
            lists = _joined(parts, indptr, first, last)
            positions.write(lists[0].tobytes())
            weights.write(lists[1].tobytes())
    return indptr


def _write_header(file: IO[bytes], dtype: type[np.generic], size: int) -> None:
    write_array_header_1_0(file, {**header_data_from_array_1_0(np.empty(0, dtype=dtype)), "shape": (size,)})


def _weighed(counts: Counts, weigh: Weigh) -> Iterator[BlockPart]:
    """The parts by term, with positions in the corpus and weights, in the same file."""
    from scipy.sparse import csc_array, csr_array

    first = 0
    for part in counts.parts:
        matrix = csr_array((part.data.read(), part.indices.read(), part.indptr.read()), shape=part.shape)
        blocks = part.shape[0]
        matrix.data = weigh(matrix, counts.lengths[first : first + blocks])
        by_term = csc_array(matrix)
        by_term.indices += np.int32(first)
        yield _stored(counts.file, by_term)
        first += blocks


def _cuts(indptr: NDArray[np.int64]) -> list[int]:
    """Term numbers, ascending from 0, between any two of which there are some hundred thousands of postings."""
    steps = np.arange(0, indptr[-1], _POSTINGS_AT_ONCE)
    return sorted({0, *np.searchsorted(indptr, steps, side="right").tolist(), len(indptr) - 1})


def _joined(
    parts: Sequence[BlockPart], indptr: NDArray[np.int64], first: int, last: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The positions and weights of the terms from `first` up to `last`.

    The entries of each part are appended to the lists of their terms, so nothing has to be sorted.
    """
    ends = indptr[first:last] - indptr[first]
    size = int(indptr[last] - indptr[first])
    positions, weights = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.float64)
    for part in parts:
        known = min(last, part.shape[1])
        if known <= first:
            continue
        bounds = part.indptr.read(first, known + 1)
        sizes = np.diff(bounds)
        places = np.arange(sizes.sum()) + np.repeat(ends[: len(sizes)] - (bounds[:-1] - bounds[0]), sizes)
        positions[places] = part.indices.read(bounds[0], bounds[-1])
        weights[places] = part.data.read(bounds[0], bounds[-1])
        ends[: len(sizes)] += sizes
    return positions, weights
