"""Columns of ids as 64-bit words: a million ids are compared, looked up and sorted without a million objects.

An id is UTF-8 text without NUL. Its bytes fill a row of words, padded with zero bytes, so rows sort as the ids do. A
column is as wide as its longest id; very long ids would make it too wide, so they are replaced by a digest in their row
and stored separately as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import zip_longest
from typing import Any

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
        """The columns concatenated."""
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
