"""Where the words of returned passages are in the blocks of a corpus.

A passage and a block have a run in common where RUN words or more are the same in both, one after the other. An index
of the corpus has every sequence of RUN words in sorted order. Some sequences of a passage say which documents hold it;
then all of them are looked up in these.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.common.text.words import words_of
from apps.metrics.columns import Ints, furthest_above, union_lengths, within

RUN = 4
"""So many words one after the other are the same words, and not by chance."""

STEP = 5
"""The documents of a passage are found by the sequence at every fifth word: by every run of RUN + STEP - 1 words."""

RARE, MOST_PLACES = 32, 10_000
"""A sequence with more places than RARE is not looked up: the run that it is in has a rarer one. Of a passage without
any, the rarest sequence is, at up to MOST_PLACES places."""

ENOUGH, HALF = 40, 0.5
"""A passage is located when half of its words are, or as many as these."""

REVISION = 1
"""Of the files of an index: others are built anew."""

TEXTS_AT_ONCE = 1_000
MOST_REMEMBERED = 1_000_000
_FILLER = 0
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], dtype=np.uint64)
_LAST_FACTOR, _HALF_BITS = np.uint64(0xFF51AFD7ED558CCD), np.uint64(32)
Words = NDArray[np.uint32]
Keys = NDArray[np.uint64]


class IndexedBlock(NamedTuple):
    """A block for the index: its number, that of its document, and its text."""

    number: int
    document: int
    text: str


class Located(NamedTuple):
    """Where passages are. A row for each run that a passage has in common with a block, by passage and place:

    words `first` to before `last` of the block are those from word `place` of the passage on; `passage` and `block` are
    numbers. For each passage: how many `words` it has, and how many of them were `found`.
    """

    passage: Ints
    block: Ints
    first: Ints
    last: Ints
    place: Ints
    words: Ints
    found: Ints

    @property
    def is_located(self) -> NDArray[np.bool_]:
        """For each passage whether enough of its words were found."""
        return self.found >= np.maximum(1, np.minimum(ENOUGH, np.ceil(HALF * self.words)))


def joined(parts: Sequence[Located]) -> Located:
    """Several of them as one: the passages of the second come after those of the first."""
    if not parts:
        return Located(*(np.empty(0, dtype=np.int64) for _ in Located._fields))
    firsts = np.cumsum([0, *(len(part.words) for part in parts)])
    shifted = [part._replace(passage=part.passage + first) for part, first in zip(parts, firsts, strict=False)]
    return Located(*(np.concatenate(columns) for columns in zip(*shifted, strict=True)))


def tokens_of(text: str) -> list[str]:
    """The words of a text for comparison: runs of letters and digits, without differences of capitals and forms of
    letters; of scripts without blanks, pairs of neighbouring characters.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return words_of(text.casefold().replace("_", " "))


class _Numbers(dict[str, int]):
    """The number of each word, which is the same on every machine."""

    def __missing__(self, word: str) -> int:
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        number = self[word] = zlib.crc32(word.encode())
        return number


class _Texts(NamedTuple):
    """Some texts as numbers of words, one after the other; one of fewer than RUN words is filled up to RUN.

    `sizes` are the words of each text, `starts` where each begins, and where the last one ends.
    """

    words: Words
    sizes: Ints
    starts: Ints

    @property
    def lengths(self) -> Ints:
        return np.diff(self.starts)

    def places(self) -> tuple[Ints, Ints]:
        """Every sequence of RUN words: the number of its text, and its place among all words."""
        counts = np.maximum(self.lengths - RUN + 1, 0)
        text = np.repeat(np.arange(len(counts)), counts)
        return text, self.starts[text] + within(counts)


def _numbered(texts: Iterable[str], numbers: _Numbers) -> _Texts:
    columns, sizes = [], []
    for text in texts:
        tokens = tokens_of(text)
        sizes.append(len(tokens))
        column = np.full(max(len(tokens), RUN) if tokens else 0, _FILLER, dtype=np.uint32)
        column[: len(tokens)] = np.fromiter(map(numbers.__getitem__, tokens), dtype=np.uint32, count=len(tokens))
        columns.append(column)
    words = np.concatenate(columns) if columns else np.empty(0, dtype=np.uint32)
    starts = np.concatenate(([0], np.cumsum([len(column) for column in columns], dtype=np.int64)))
    return _Texts(words, np.array(sizes, dtype=np.int64), starts.astype(np.int64))


def _hashes(words: Words, places: Ints) -> Keys:
    """32 bits of each sequence of RUN words that begins at these places, in the upper half of a number."""
    total = np.zeros(len(places), dtype=np.uint64)
    for step, factor in enumerate(_FACTORS):
        total += words[places + step].astype(np.uint64) * factor
    total ^= total >> np.uint64(29)
    return (total * _LAST_FACTOR) & ~np.uint64(0xFFFFFFFF)


class TextIndexer:
    """Builds the index of a corpus into a folder, and opens it. `order` gives the number and the document of each text
    that `build` is given; those of a document come one after the other.
    """

    def __init__(self, order: Callable[[], tuple[Ints, Ints]]) -> None:
        self._order = order

    def build(self, blocks: Iterable[str], folder: Path) -> None:
        for name, column in _columns(_numbered(blocks, _Numbers()), *self._order()).items():
            np.save(folder / f"{name}.npy", column)

    def load(self, folder: Path) -> TextIndex:
        return TextIndex(**{path.stem: np.load(path, mmap_mode="r") for path in folder.glob("*.npy")})


def index_of(blocks: Iterable[IndexedBlock]) -> TextIndex:
    """The index of some blocks, in memory."""
    ordered = sorted(blocks, key=lambda block: block.document)
    numbers = np.array([block.number for block in ordered], dtype=np.int64)
    documents = np.array([block.document for block in ordered], dtype=np.int64)
    return TextIndex(**_columns(_numbered((block.text for block in ordered), _Numbers()), numbers, documents))


def _columns(texts: _Texts, numbers: Ints, documents: Ints) -> dict[str, NDArray[Any]]:
    _, places = texts.places()
    keys = _hashes(texts.words, places) | places.astype(np.uint64)
    keys.sort()
    return {
        "words": texts.words,
        "sizes": texts.sizes,
        "starts": texts.starts,
        "numbers": numbers,
        "documents": documents,
        "keys": keys,
    }


class TextIndex:
    """The words of a corpus. `keys` are all sequences of RUN words, sorted: their hash, and their place in `words`."""

    def __init__(self, words: Words, sizes: Ints, starts: Ints, numbers: Ints, documents: Ints, keys: Keys) -> None:
        self.words, self.sizes, self.starts = words, sizes, starts
        self.numbers, self.documents, self.keys = numbers, documents, keys

    @property
    def block_sizes(self) -> Ints:
        """How many words each block has, by its number."""
        sizes = np.zeros(int(self.numbers.max(initial=-1)) + 1, dtype=np.int64)
        sizes[self.numbers] = self.sizes
        return sizes

    def place_in(self, number: int, text: str) -> tuple[int, int] | None:
        """The words of this block that are those of the text, from the first to before the last; None without any."""
        row = np.flatnonzero(self.numbers == number)
        wanted = _numbered([text], _Numbers())
        size = int(wanted.sizes[0])
        if not len(row) or not size:
            return None
        words = self.words[self.starts[row[0]] : self.starts[row[0]] + self.sizes[row[0]]]
        if len(words) < size:
            return None
        windows = np.lib.stride_tricks.sliding_window_view(words, size)
        found = np.flatnonzero((windows == wanted.words[:size]).all(axis=1))
        return (int(found[0]), int(found[0]) + size) if len(found) else None

    def locate(self, texts: Sequence[str]) -> Located:
        """Where these passages are.

        The documents that hold the most words of a passage count, all of them where several hold as many. In them every
        run counts, but for one that lies within a longer run of the passage.
        """
        numbers = _Numbers()
        some = (texts[first : first + TEXTS_AT_ONCE] for first in range(0, len(texts), TEXTS_AT_ONCE))
        return joined([self._locate(_numbered(one, numbers)) for one in some])

    def _locate(self, texts: _Texts) -> Located:
        runs = self._runs(texts, *self._signposts(texts))
        runs = runs.take(self._is_in_best_document(runs))
        pairs = np.unique(np.column_stack((runs.passage, self.documents[runs.block])), axis=0)
        runs = runs.joined(self._in_documents(texts, pairs[:, 0], pairs[:, 1]))
        runs = runs.take(~_is_within_longer(runs)).sorted()
        last = np.minimum(runs.first + runs.length, self.sizes[runs.block])
        found = np.zeros(len(texts.sizes), dtype=np.int64)
        passage, union = union_lengths(runs.passage, runs.place, runs.place + last - runs.first)
        found[passage] = union
        return Located(runs.passage, self.numbers[runs.block], runs.first, last, runs.place, texts.sizes, found)

    def _signposts(self, texts: _Texts) -> tuple[Ints, Ints, Ints]:
        """Sequences that say where passages are: passage, place among the words, and place in the corpus."""
        passage, place = texts.places()
        inside = place - texts.starts[passage]
        chosen = (inside % STEP == 0) | (inside == texts.lengths[passage] - RUN)
        passage, place = passage[chosen], place[chosen]
        hashes = _hashes(texts.words, place)
        first, count = self._range(hashes, hashes | np.uint64(0xFFFFFFFF))
        rarest = np.full(len(texts.sizes), MOST_PLACES + 1)
        np.minimum.at(rarest, passage[count > 0], count[count > 0])
        is_rare = (count > 0) & ((count <= RARE) | ((rarest[passage] > RARE) & (count == rarest[passage])))
        count = np.minimum(count, MOST_PLACES)
        return _expanded(passage[is_rare], place[is_rare], first[is_rare], count[is_rare], self.keys)

    def _range(self, low: Keys, high: Keys) -> tuple[Ints, Ints]:
        """Where the keys from `low` to `high` begin, and how many there are."""
        order = np.argsort(low)
        first = np.empty(len(low), dtype=np.int64)
        count = np.empty(len(low), dtype=np.int64)
        first[order] = np.searchsorted(self.keys, low[order], side="left")
        count[order] = np.searchsorted(self.keys, high[order], side="right")
        return first, count - first

    def _runs(self, texts: _Texts, passage: Ints, place: Ints, corpus: Ints) -> _Runs:
        """All runs on the diagonals through these places: where the passage's words meet a block's, one by one."""
        block = np.searchsorted(self.starts, corpus, side="right") - 1
        shift = corpus - place
        order = np.lexsort((block, shift, passage))
        passage, shift, block = passage[order], shift[order], block[order]
        is_new = np.ones(len(passage), dtype=bool)
        is_new[1:] = (np.diff(passage) != 0) | (np.diff(shift) != 0) | (np.diff(block) != 0)
        passage, shift, block = passage[is_new], shift[is_new], block[is_new]
        low = np.maximum(texts.starts[passage], self.starts[block] - shift)
        high = np.minimum(texts.starts[passage + 1], self.starts[block + 1] - shift)
        size = high - low
        row = np.repeat(np.arange(len(size)), size)
        at = low[row] + within(size)
        same = texts.words[at] == self.words[at + shift[row]]
        edge = np.ones(len(same), dtype=bool)
        edge[1:] = (np.diff(row) != 0) | (same[1:] != same[:-1])
        begins = np.flatnonzero(edge)
        length = np.diff(begins, append=len(same))
        chosen = same[begins] & (length >= RUN)
        begins, length = begins[chosen], length[chosen]
        row, at = row[begins], at[begins]
        return _Runs(
            passage[row],
            block[row],
            at + shift[row] - self.starts[block[row]],
            length,
            at - texts.starts[passage[row]],
        )

    def _is_in_best_document(self, runs: _Runs) -> NDArray[np.bool_]:
        """Whether a run is in one of the documents that hold the most words of its passage."""
        document = self.documents[runs.block]
        group, which = np.unique(np.column_stack((runs.passage, document)), axis=0, return_inverse=True)
        which = which.reshape(-1)
        held = np.zeros(len(group), dtype=np.int64)
        rows, union = union_lengths(which, runs.place, runs.place + runs.length)
        held[rows] = union
        most = np.zeros(int(runs.passage.max(initial=-1)) + 1, dtype=np.int64)
        np.maximum.at(most, group[:, 0], held)
        return (held == most[group[:, 0]])[which]

    def _in_documents(self, texts: _Texts, passages: Ints, documents: Ints) -> _Runs:
        """All runs of these passages in these documents; a row for each pair, by passage."""
        passage, place = texts.places()
        first = np.searchsorted(passages, passage, side="left")
        count = np.searchsorted(passages, passage, side="right") - first
        row = np.repeat(np.arange(len(passage)), count)
        document = documents[first[row] + within(count)]
        passage, place = passage[row], place[row]
        hashes = _hashes(texts.words, place)
        low = self.starts[np.searchsorted(self.documents, document, side="left")].astype(np.uint64)
        high = self.starts[np.searchsorted(self.documents, document, side="right")].astype(np.uint64)
        first, count = self._range(hashes | low, hashes | (high - np.uint64(1)))
        is_rare = count <= RARE
        rows = (column[is_rare] for column in (passage, place, first, count))
        return self._runs(texts, *_expanded(*rows, self.keys))


class _Runs(NamedTuple):
    """Words that a passage and a block have in common: from `first` of the block, and from `place` of the passage."""

    passage: Ints
    block: Ints
    first: Ints
    length: Ints
    place: Ints

    def take(self, rows: NDArray[np.generic]) -> _Runs:
        return _Runs(*(column[rows] for column in self))

    def joined(self, other: _Runs) -> _Runs:
        """Both, each run once."""
        columns = np.unique(np.concatenate((np.column_stack(self), np.column_stack(other))), axis=0)
        return _Runs(*columns.T)

    def sorted(self) -> _Runs:
        return self.take(np.lexsort((self.first, self.block, self.place, self.passage)))


def _expanded(passage: Ints, place: Ints, first: Ints, count: Ints, keys: Keys) -> tuple[Ints, Ints, Ints]:
    """A row for each of the keys from `first` on, with the place in the corpus that is in it."""
    row = np.repeat(np.arange(len(count)), count)
    corpus = (keys[first[row] + within(count)] & np.uint64(0xFFFFFFFF)).astype(np.int64)
    return passage[row], place[row], corpus


def _is_within_longer(runs: _Runs) -> NDArray[np.bool_]:
    """Whether a run lies within a longer run of its passage."""
    end = runs.place + runs.length
    spans, which = np.unique(np.column_stack((runs.passage, runs.place, -end)), axis=0, return_inverse=True)
    inside = furthest_above(spans[:, 0], -spans[:, 2]) >= -spans[:, 2]
    return inside[which.reshape(-1)]
