"""Ids of blocks and queries, many at a time: as columns of 64-bit words, and numbers for them.

In words a million ids are compared, looked up and sorted without a million objects.

An id is UTF-8 text without NUL. Its bytes fill a row of words, padded with zero bytes, so rows sort as the ids do. A
column is as wide as its longest id; very long ids would make it too wide, so they are replaced by a digest in their row
and stored separately as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]

WORD = 8
# MASKS[n] keeps the first n bytes of a word.
MASKS = np.array([(1 << (8 * size)) - 1 for size in range(WORD + 1)], dtype="<u8")


def words_at(text: bytes, places: Ints, count: int = 1) -> Words:
    """The eight bytes from each place in the text on, as rows of `count` consecutive words."""
    size = count * WORD
    everywhere = np.ndarray((len(text) - size + 1,), dtype=f"V{size}", buffer=text, strides=(1,))
    return everywhere[places].view("<u8").reshape(len(places), count)


def each_byte(byte: int) -> np.uint64:
    """The word whose eight bytes are all this one."""
    return np.uint64(int.from_bytes(bytes([byte]) * WORD, "little"))


LONGEST = 16 * WORD
NOT_UTF8 = b"\xff"
ODD = 0x9E3779B97F4A7C15
FACTORS = np.array([pow(ODD, power, 1 << 64) for power in range(1, LONGEST // WORD + 1)], dtype=np.uint64)
SHIFT = np.uint64(32)


class Ids:
    """A column of ids. `words` is rows by words; `long` has the ids above LONGEST bytes by their row."""

    def __init__(self, words: Words, long: Mapping[int, bytes] | None = None) -> None:
        self.words = words
        self.long = long or {}

    @classmethod
    def of(cls, ids: Sequence[bytes] | Sequence[str]) -> Ids:
        """The ids as a column. Text is encoded as UTF-8."""
        texts = [one.encode() if isinstance(one, str) else one for one in ids]
        long = {row: text for row, text in enumerate(texts) if len(text) > LONGEST}
        for row, text in long.items():
            texts[row] = blake2b(text, digest_size=2 * WORD - 1).digest() + NOT_UTF8
        width = -(-max(map(len, texts), default=1) // WORD) or 1
        return cls(np.array(texts, dtype=f"S{width * WORD}").view("<u8").reshape(len(texts), width), long)

    @classmethod
    def joined(cls, columns: Iterable[Ids]) -> Ids:
        parts = list(columns)
        width = max((part.words.shape[1] for part in parts), default=1)
        words = np.empty((sum(map(len, parts)), width), dtype="<u8")
        long: dict[int, bytes] = {}
        start = 0
        for part in parts:
            rows, wide = slice(start, start + len(part)), part.words.shape[1]
            words[rows, :wide], words[rows, wide:] = part.words, 0
            long.update((start + row, text) for row, text in part.long.items())
            start += len(part)
        return cls(words, long)

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, row: int) -> bytes:
        return self.long.get(row) or self.words[row].tobytes().rstrip(b"\0")

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.texts().tolist())

    def piece(self, rows: slice) -> Ids:
        """The ids at these adjacent rows, without a copy."""
        start, end, _ = rows.indices(len(self))
        return Ids(self.words[rows], {row - start: text for row, text in self.long.items() if start <= row < end})

    def take(self, rows: Ints) -> Ids:
        """The ids at these rows, in their order."""
        if not self.long:
            return Ids(np.take(self.words, rows, axis=0))
        long = {place: self.long[row] for place, row in enumerate(rows.tolist()) if row in self.long}
        return Ids(self.words[rows], long)

    def texts(self) -> NDArray[Any]:
        """The ids as an array that NumPy compares and sorts by their bytes, which is by their code points."""
        packed = np.ascontiguousarray(self.words).view(f"S{self.words.shape[1] * WORD}").ravel()
        if not self.long:
            return packed
        whole = packed.astype(object)
        whole[list(self.long)] = list(self.long.values())
        return whole

    @cached_property
    def marks(self) -> Words:
        """A hash of each id: the same for the same id in any column, and seldom the same for two others."""
        marks = np.zeros(len(self), dtype=np.uint64)
        for word, factor in zip(self.words.T, FACTORS, strict=False):
            part = word * factor
            part ^= part >> SHIFT
            marks += part * FACTORS[0]
        return marks ^ (marks >> SHIFT)

    def is_another(self) -> Bools:
        """Row by row, whether the id differs from the one before; the first does."""
        differs = np.zeros(len(self), dtype=bool)
        for word in self.words.T:
            differs[1:] |= word[1:] != word[:-1]
        differs[:1] = True
        return differs

    def same_as(self, other: Ids) -> Bools:
        """Row by row, whether two columns of one length have the same id."""
        same = np.ones(len(self), dtype=bool)
        for mine, theirs in zip_longest(self.words.T, other.words.T, fillvalue=np.uint64(0)):
            same &= mine == theirs
        return same


Known = Ids | Sequence[bytes] | Sequence[str]


class Vocabulary:
    """Numbers for ids, assigned in order of first use. `vocabulary[n]` is the UTF-8 bytes of id n."""

    def __init__(self) -> None:
        self.ids = Ids.of([])
        self._index = MarkIndex.of(self.ids.marks)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, number: int) -> bytes:
        return self.ids[number]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.ids)

    def numbers_of(self, ids: Known) -> Ints:
        """The number of each id; new ids get the next ones."""
        column = ids if isinstance(ids, Ids) else Ids.of(ids)
        all_numbers = self.known(column)
        new = np.flatnonzero(all_numbers < 0)
        if len(new):
            unknown = column if len(new) == len(column) else column.take(new)
            firsts, numbers = distinct(unknown)
            all_numbers[new] = len(self) + numbers
            self.ids = Ids.joined([self.ids, unknown.take(firsts)])
            self._index = MarkIndex.of(self.ids.marks)
        return all_numbers

    def known(self, ids: Ids) -> Ints:
        """The number of each id, -1 for unknown ones."""
        return self._index.find(ids.marks, lambda numbers, rows: self.ids.take(numbers).same_as(ids.take(rows)))


SPARSE = 8
"""How many places the sieve of an index has for each mark: an unknown mark falls through about seven times in eight."""


class MarkIndex(NamedTuple):
    """The rows of a column in the order of their marks.

    `sieve` tells, at the low bits of a mark, whether the index has any mark with these bits: most marks that are looked
    up are unknown, and that is enough to know it.
    """

    marks: Words
    rows: Ints
    sieve: Bools

    @classmethod
    def of(cls, marks: Words) -> MarkIndex:
        rows = np.argsort(marks)
        sieve = np.zeros(1 << max(SPARSE * len(marks), 1).bit_length(), dtype=bool)
        sieve[marks & np.uint64(len(sieve) - 1)] = True
        return cls(marks[rows], rows, sieve)

    def find(self, marks: Words, same: Callable[[Ints, Ints], Bools]) -> Ints:
        """For each mark its row, -1 where there is none.

        `same(rows, requested)` returns, position by position, whether the id of a row equals the requested one, since
        different ids can have the same mark.
        """
        matches = np.full(len(marks), -1, dtype=np.int64)
        left = np.flatnonzero(self.sieve[marks & np.uint64(len(self.sieve) - 1)])
        at = np.searchsorted(self.marks, marks[left])
        while len(left):
            is_within = at < len(self.marks)
            left, at = left[is_within], at[is_within]
            is_equal = self.marks[at] == marks[left]
            left, at = left[is_equal], at[is_equal]
            rows = self.rows[at]
            is_same = same(rows, left)
            matches[left[is_same]] = rows[is_same]
            left, at = left[~is_same], at[~is_same] + 1
        return matches


def distinct(ids: Ids) -> tuple[Ints, Ints]:
    """The row of the first occurrence of each different id, in row order, and for each row the index of its id among
    those.
    """
    if not len(ids):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    order = np.argsort(ids.marks)
    is_new = np.concatenate(([True], np.diff(ids.marks[order]) != 0))
    if (ids.take(order).is_another() & ~is_new).any():
        return _distinct_by_text(ids)
    firsts = np.minimum.reduceat(order, np.flatnonzero(is_new))
    by_use = np.argsort(firsts)
    place = np.empty_like(by_use)
    place[by_use] = np.arange(len(by_use))
    which = np.empty_like(order)
    which[order] = place[np.cumsum(is_new) - 1]
    return firsts[by_use], which


def _distinct_by_text(ids: Ids) -> tuple[Ints, Ints]:
    """As `distinct`, for ids of which two have the same mark."""
    rows: dict[bytes, int] = {}
    texts = list(ids)
    for row, text in enumerate(texts):
        rows.setdefault(text, row)
    firsts = np.array(list(rows.values()), dtype=np.int64)
    return firsts, np.searchsorted(firsts, np.array([rows[text] for text in texts], dtype=np.int64))
