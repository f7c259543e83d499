"""Numbers for the ids of blocks and queries, assigned and looked up many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from apps.metrics.files.packed.ids import Bools, Ids, Ints, Words

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
