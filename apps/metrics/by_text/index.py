"""Where the words of returned passages are in the blocks of a corpus.

A passage and a document have a run in common where RUN words or more are the same in both, one after the other; a run
can go from one block into the next. An index of the corpus has every sequence of RUN words in sorted order. Some
sequences of a passage say which documents hold it; then all of them are looked up in these.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.common.text.words import word_spans, words_of
from apps.metrics.columns import Ints, furthest_above, pair_keys, union_lengths, within

RUN = 4
"""So many words one after the other are the same words, and not by chance."""

STEP = 5
"""The documents of a passage are found by the sequence at every fifth word: by every run of RUN + STEP - 1 words."""

RARE, MOST_PLACES = 32, 1_000
"""A sequence with more places than RARE is not looked up: the run that it is in has a rarer one. Of a passage without
any, the first of the rarest is, at its first MOST_PLACES places."""

MOST_CELLS = 2_000_000
"""So many pairs of words are compared at a time."""

ENOUGH, HALF = 40, 0.5
"""A passage is located when half of its words are, or as many as these."""

REVISION = 2
"""Of the files of an index: others are built anew."""

TEXTS_AT_ONCE = 1_000
_HEBREW_SIGNS = {0x5BE, 0x5C0, 0x5C3, 0x5C6}
_SILENT = dict.fromkeys(
    {0xAD, *range(0x200B, 0x200E), 0x2060, 0xFEFF, 0x640, *range(0x64B, 0x660), 0x670, *range(0x591, 0x5C8)}
    - _HEBREW_SIGNS
)
"""What a word may have or lack: soft hyphens and other characters without width, vowel marks of Arabic and Hebrew."""

_FILLER = 0
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], dtype=np.uint64)
_LAST_FACTOR, _HALF_BITS = np.uint64(0xFF51AFD7ED558CCD), np.uint64(32)
_POWERS = np.cumprod(np.full(256, 0x100000001B3, dtype=np.uint64))
_IS_WORD = np.array([chr(code).isalnum() for code in range(128)])
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


def word_places(text: str) -> list[tuple[int, int]]:
    """Where each of the words of a text is in it, as characters from … to before …; in the order of `tokens_of`."""
    forms = [_plain(letter).casefold().replace("_", " ") for letter in text]
    origin = [place for place, form in enumerate(forms) for _ in form]
    return [(origin[start], origin[end - 1] + 1) for start, end in word_spans("".join(forms))]


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
    return words_of(_plain(text).casefold().replace("_", " "))


def _plain(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_SILENT)


class _Texts(NamedTuple):
    """Some texts as numbers of words, one after the other. `sizes` are the words of each, `starts` where each begins,
    and where the last one ends.
    """

    words: Words
    sizes: Ints
    starts: Ints

    @property
    def lengths(self) -> Ints:
        return np.diff(self.starts)


def _numbered(texts: Iterable[str], *, least: int = 0) -> _Texts:
    """The texts; those with fewer words than `least`, but any, are filled up."""
    parts, sizes = [np.empty(0, dtype=np.uint32)], [np.empty(0, dtype=np.int64)]
    source = iter(texts)
    while some := list(islice(source, TEXTS_AT_ONCE)):
        words, size = word_numbers(some)
        parts.append(words)
        sizes.append(size)
    words, size = np.concatenate(parts), np.concatenate(sizes)
    length = np.where(size > 0, np.maximum(size, least), 0)
    starts = np.concatenate(([0], np.cumsum(length)))
    filled = np.full(int(starts[-1]), _FILLER, dtype=np.uint32)
    filled[np.repeat(starts[:-1], size) + within(size)] = words
    return _Texts(filled, size, starts)


def word_numbers(texts: Sequence[str]) -> tuple[Words, Ints]:
    """The words of some texts as numbers, which are the same on every machine, and how many words each text has.

    A number is 32 bits of a polynomial over the code points of the word. All words are computed at once.
    """
    plain = [text.lower() if text.isascii() else " ".join(tokens_of(text)) for text in texts]
    ends = np.cumsum([len(text) + 1 for text in plain])
    codes = np.frombuffer("\n".join([*plain, ""]).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    is_word = np.where(codes < len(_IS_WORD), _IS_WORD[np.minimum(codes, len(_IS_WORD) - 1)], True)
    letters = np.flatnonzero(is_word)
    firsts = letters[~is_word[letters - 1] | (letters == 0)]
    lengths = np.diff(np.searchsorted(letters, firsts), append=len(letters))
    if not len(firsts):
        return np.empty(0, dtype=np.uint32), np.zeros(len(texts), dtype=np.int64)
    terms = codes[letters].astype(np.uint64) * _POWERS[within(lengths) % len(_POWERS)]
    total = np.add.reduceat(terms, np.cumsum(lengths) - lengths)
    counts = np.diff(np.searchsorted(firsts, ends), prepend=0)
    return ((total * _LAST_FACTOR) >> _HALF_BITS).astype(np.uint32), counts


def _sequences(starts: Ints) -> tuple[Ints, Ints]:
    """Every sequence of RUN words: the number of its text, and its place among all words."""
    counts = np.maximum(np.diff(starts) - RUN + 1, 0)
    text = np.repeat(np.arange(len(counts)), counts)
    return text, starts[text] + within(counts)


def _hashes(words: Words, places: Ints) -> Keys:
    """32 bits of each sequence of RUN words that begins at these places, in the upper half of a number."""
    total = np.zeros(len(places), dtype=np.uint64)
    for step, factor in enumerate(_FACTORS):
        total += words[places + step].astype(np.uint64) * factor
    total ^= total >> np.uint64(29)
    return (total * _LAST_FACTOR) & ~np.uint64(0xFFFFFFFF)


class TextIndexer:
    """Builds the index of a corpus into a folder, and opens it. `order` gives the number and the document of each text
    that `build` is given: by document, and in it as they are read, so that a passage over two blocks is one run.
    """

    def __init__(self, order: Callable[[], tuple[Ints, Ints]]) -> None:
        self._order = order

    def build(self, blocks: Iterable[str], folder: Path) -> None:
        for name, column in _columns(_numbered(blocks), *self._order()).items():
            np.save(folder / f"{name}.npy", column)

    def load(self, folder: Path) -> TextIndex:
        return TextIndex(**{path.stem: np.load(path, mmap_mode="r") for path in folder.glob("*.npy")})


def index_of(blocks: Iterable[IndexedBlock]) -> TextIndex:
    """The index of some blocks, in memory. Those of a document are in the order in which they are read."""
    ordered = sorted(blocks, key=lambda block: block.document)
    numbers = np.array([block.number for block in ordered], dtype=np.int64)
    documents = np.array([block.document for block in ordered], dtype=np.int64)
    return TextIndex(**_columns(_numbered(block.text for block in ordered), numbers, documents))


def _columns(texts: _Texts, numbers: Ints, documents: Ints) -> dict[str, NDArray[Any]]:
    """A block of fewer than RUN words is in its document, and once more alone and filled up: so it is found where it is
    all that a system returns.
    """
    short = np.flatnonzero((texts.sizes > 0) & (texts.sizes < RUN))
    alone = np.full((len(short), RUN), _FILLER, dtype=np.uint32)
    for row, block in enumerate(short.tolist()):
        alone[row, : texts.sizes[block]] = texts.words[texts.starts[block] : texts.starts[block + 1]]
    words = np.concatenate((texts.words, alone.ravel()))
    is_first = np.diff(documents, prepend=-1) != 0
    after = len(texts.words) + RUN * np.arange(len(short) + 1)
    streams = np.concatenate((texts.starts[:-1][is_first], after))
    _, places = _sequences(streams)
    keys = _hashes(words, places) | places.astype(np.uint64)
    keys.sort()
    return {
        "words": words,
        "sizes": np.concatenate((texts.sizes, texts.sizes[short])),
        "starts": np.concatenate((texts.starts[:-1], after)),
        "numbers": np.concatenate((numbers, numbers[short])),
        "streams": streams,
        "keys": keys,
    }


class TextIndex:
    """The words of a corpus. `starts`, `sizes` and `numbers` are those of its blocks, `streams` says where documents
    begin. `keys` are all sequences of RUN words, sorted: their hash, and their place in `words`.
    """

    def __init__(self, words: Words, sizes: Ints, starts: Ints, numbers: Ints, streams: Ints, keys: Keys) -> None:
        self.words, self.sizes, self.starts = np.asarray(words), np.asarray(sizes), np.asarray(starts)
        self.numbers, self.streams, self.keys = np.asarray(numbers), np.asarray(streams), np.asarray(keys)

    @property
    def block_sizes(self) -> Ints:
        """How many words each block has, by its number."""
        sizes = np.zeros(int(self.numbers.max(initial=-1)) + 1, dtype=np.int64)
        sizes[self.numbers] = self.sizes
        return sizes

    def place_in(self, number: int, text: str) -> tuple[int, int] | None:
        """The words of this block that are those of the text, from the first to before the last; None without any."""
        row = np.flatnonzero(self.numbers == number)
        wanted = _numbered([text])
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
        some = (texts[first : first + TEXTS_AT_ONCE] for first in range(0, len(texts), TEXTS_AT_ONCE))
        return joined([self._locate(_numbered(one, least=RUN)) for one in some])

    def _locate(self, texts: _Texts) -> Located:
        runs = _in_best_streams(self._runs(texts, *self._signposts(texts)))
        passage, stream = _distinct(runs.passage, runs.stream)
        whole = runs.passage[runs.length == texts.lengths[runs.passage]]
        is_open = ~np.isin(passage, whole)  # all that a run of the whole passage leaves lies within it
        passage, stream = passage[is_open], stream[is_open]
        for start, end in _portions(texts.lengths[passage], MOST_CELLS):
            runs = runs.joined(self._in_streams(texts, passage[start:end], stream[start:end]))
        runs = runs.take(~_is_within_longer(runs))
        passage, block, first, last, place = self._pieces(runs)
        found = np.zeros(len(texts.sizes), dtype=np.int64)
        some, union = union_lengths(passage, place, place + last - first)
        found[some] = union
        return Located(passage, self.numbers[block], first, last, place, texts.sizes, found)

    def _pieces(self, runs: _Runs) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Runs by block: passage, row of the block, its words from … to before …, and the place in the passage."""
        first_block = self._block_at(runs.corpus)
        blocks = self._block_at(runs.corpus + runs.length - 1) - first_block + 1
        row = np.repeat(np.arange(len(blocks)), blocks)
        block = first_block[row] + within(blocks)
        begin = np.maximum(runs.corpus[row], self.starts[block])
        end = np.minimum(runs.corpus[row] + runs.length[row], self.starts[block] + self.sizes[block])
        passage, place = runs.passage[row], runs.place[row] + begin - runs.corpus[row]
        order = np.lexsort((begin, block, place, passage))
        order = order[end[order] > begin[order]]
        passage, block, begin, end, place = (column[order] for column in (passage, block, begin, end, place))
        return passage, block, begin - self.starts[block], end - self.starts[block], place

    def _block_at(self, corpus: Ints) -> Ints:
        """The row of the block that has these words."""
        return np.searchsorted(self.starts, corpus, side="right") - 1

    def _signposts(self, texts: _Texts) -> tuple[Ints, Ints, Ints]:
        """Sequences that say where passages are: passage, place among the words, and place in the corpus."""
        passage, place = _sequences(texts.starts)
        inside = place - texts.starts[passage]
        chosen = (inside % STEP == 0) | (inside == texts.lengths[passage] - RUN)
        passage, place = passage[chosen], place[chosen]
        hashes = _hashes(texts.words, place)
        first, count = self._range(hashes, hashes | np.uint64(0xFFFFFFFF))
        order = np.lexsort((place, np.where(count > 0, count, len(self.keys) + 1), passage))
        is_rarest = np.zeros(len(order), dtype=bool)
        is_rarest[order[np.diff(passage[order], prepend=-1) != 0]] = True
        count = np.where((count <= RARE) | is_rarest, np.minimum(count, MOST_PLACES), 0)
        return _expanded(passage, place, first, count, self.keys)

    def _range(self, low: Keys, high: Keys) -> tuple[Ints, Ints]:
        """Where the keys from `low` to `high` begin, and how many there are."""
        order = np.argsort(low)
        first = np.empty(len(low), dtype=np.int64)
        first[order] = np.searchsorted(self.keys, low[order])
        count = np.zeros(len(low), dtype=np.int64)
        if not len(self.keys):
            return count, count
        for step in (0, 1):
            at = first + step
            count += (at < len(self.keys)) & (self.keys[np.minimum(at, len(self.keys) - 1)] <= high)
        several = np.flatnonzero(count == 2)
        count[several] = np.searchsorted(self.keys, high[several], side="right") - first[several]
        return first, count

    def _runs(self, texts: _Texts, passage: Ints, place: Ints, corpus: Ints) -> _Runs:
        """All runs on the diagonals through these places: where a passage's words meet a document's, one by one."""
        stream = np.searchsorted(self.streams, corpus, side="right") - 1
        passage, shift, stream = _distinct(passage, corpus - place, stream)
        low = np.maximum(texts.starts[passage], self.streams[stream] - shift)
        size = np.minimum(texts.starts[passage + 1], self.streams[stream + 1] - shift) - low
        columns = (passage, stream, shift, low, size)
        parts = [
            self._runs_on(texts, *(column[first:last] for column in columns))
            for first, last in _portions(size, MOST_CELLS)
        ]
        return _Runs(*(np.concatenate(some) for some in zip(*parts, strict=True)))

    def _runs_on(self, texts: _Texts, passage: Ints, stream: Ints, shift: Ints, low: Ints, size: Ints) -> _Runs:
        row = np.repeat(np.arange(len(size)), size)
        at = low[row] + within(size)
        same = texts.words[at] == self.words[at + shift[row]]
        edge = np.ones(len(same), dtype=bool)
        edge[1:] = (np.diff(row) != 0) | (same[1:] != same[:-1])
        begins = np.flatnonzero(edge)
        length = np.diff(begins, append=len(same))
        chosen = same[begins] & (length >= RUN)
        row, at = row[begins[chosen]], at[begins[chosen]]
        return _Runs(passage[row], stream[row], at + shift[row], length[chosen], at - texts.starts[passage[row]])

    def _in_streams(self, texts: _Texts, passages: Ints, streams: Ints) -> _Runs:
        """All runs of these passages in these documents; a row for each pair, by passage."""
        passage, place = _sequences(texts.starts)
        first = np.searchsorted(passages, passage, side="left")
        count = np.searchsorted(passages, passage, side="right") - first
        row = np.repeat(np.arange(len(passage)), count)
        stream = streams[first[row] + within(count)]
        passage, place = passage[row], place[row]
        hashes = _hashes(texts.words, place)
        low, high = (self.streams[stream + step].astype(np.uint64) for step in (0, 1))
        first, count = self._range(hashes | low, hashes | (high - np.uint64(1)))
        count[count > RARE] = 0
        return self._runs(texts, *_expanded(passage, place, first, count, self.keys))


class _Runs(NamedTuple):
    """Words that a passage and a document have in common: `length` words, from `corpus` of all words of the corpus on,
    and from `place` of the passage on.
    """

    passage: Ints
    stream: Ints
    corpus: Ints
    length: Ints
    place: Ints

    def take(self, rows: NDArray[np.generic]) -> _Runs:
        return _Runs(*(column[rows] for column in self))

    def joined(self, other: _Runs) -> _Runs:
        """Both, each run once."""
        return _Runs(*_distinct(*(np.concatenate(pair) for pair in zip(self, other, strict=True))))


def _portions(sizes: Ints, most: int) -> list[tuple[int, int]]:
    """Where to divide these sizes, so that those of a portion are not much more than `most` together; one at least."""
    number = np.cumsum(sizes) // most
    firsts = [0, *np.flatnonzero(np.diff(number) > 0) + 1]
    return list(zip(map(int, firsts), [*map(int, firsts[1:]), len(sizes)], strict=True))


def _distinct(*columns: Ints) -> list[Ints]:
    """The distinct rows of these columns, sorted by the first, then the second, and so on."""
    order = np.lexsort(columns[::-1])
    rows = [column[order] for column in columns]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in rows])
    return [column[is_new] for column in rows]


def _in_best_streams(runs: _Runs) -> _Runs:
    """The runs in the documents that hold the most words of their passage."""
    pair = pair_keys(runs.passage, runs.stream)
    pairs, held = union_lengths(pair, runs.place, runs.place + runs.length)
    most = np.zeros(int(runs.passage.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(most, pairs >> 32, held)
    return runs.take((held == most[pairs >> 32])[np.searchsorted(pairs, pair)])


def _expanded(passage: Ints, place: Ints, first: Ints, count: Ints, keys: Keys) -> tuple[Ints, Ints, Ints]:
    """A row for each of the keys from `first` on, with the place in the corpus that is in it."""
    row = np.repeat(np.arange(len(count)), count)
    corpus = (keys[first[row] + within(count)] & np.uint64(0xFFFFFFFF)).astype(np.int64)
    return passage[row], place[row], corpus


def _is_within_longer(runs: _Runs) -> NDArray[np.bool_]:
    """Whether a run lies within a longer run of its passage."""
    order = np.lexsort((-runs.length, runs.place, runs.passage))
    passage, begin, length = runs.passage[order], runs.place[order], runs.length[order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (np.diff(passage) != 0) | (np.diff(begin) != 0) | (np.diff(length) != 0)
    end = (begin + length)[is_new]
    inside = furthest_above(passage[is_new], end) >= end
    is_inside = np.empty(len(order), dtype=bool)
    is_inside[order] = inside[np.cumsum(is_new) - 1]
    return is_inside
