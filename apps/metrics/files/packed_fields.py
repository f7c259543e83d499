"""The fields of many plain lines at once, as arrays: ten times the speed of a line at a time.

Lines are plain when every line has the right number of fields, separated by one space or tab each, with nothing before
and nothing after. All other lines are left to the reader of single lines, which also finds what is wrong with them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.common.files.linefiles import BYTE_ORDER_MARK
from apps.metrics.vocabulary import LONGEST, MASKS, WORD, Bools, Floats, Ids, Ints, Words, each_byte, words_at

# Numbers are read from the 64-bit words of their text. A word has eight characters, the first in its lowest byte. Eight
# digits become a number in three multiplications, each of which combines neighbours: digits to pairs, pairs to fours,
# fours to eight.

MOST_DIGITS = 15  # below 2 ** 53 for certain
LOWEST = np.uint64(0xFF)
BITS = np.arange(WORD, dtype=np.uint64) * np.uint64(WORD)
TENS = 10 ** np.arange(2 * WORD + 1, dtype=np.uint64)
POINT = ord(".")
ZEROS, DOTS, ONES, HIGHS = each_byte(ord("0")), each_byte(POINT), each_byte(1), each_byte(0x80)
LOWER, UPPER, CARRY, THREES = each_byte(0x0F), each_byte(0xF0), each_byte(6), each_byte(0x33)


def wholes(word: Words, sizes: Ints) -> tuple[Ints, Bools]:
    """The whole numbers in words of 1 to 8 digits, and whether each word is one."""
    digits = _filled(word, sizes)
    return (_eight(digits) // TENS[WORD - sizes]).astype(np.int64), _are_digits(digits)


def same_decimals(text: bytes, ends: Ints, sizes: Ints) -> Floats | None:
    """The numbers that end at `ends` in the text, as `decimals` reads them, where all have as many decimals as
    the first.

    None where they have not, where one has a sign, an exponent or more than fifteen digits, and where the text before
    the first is too short for the words of 8 bytes that are read from the end of a number.
    """
    first = text[int(ends[0] - sizes[0]) : int(ends[0])]
    after = len(first) - 1 - first.find(b".") if b"." in first else 0
    digits = sizes - 1 if after else sizes
    most = int(digits.max())
    if not 0 <= after < WORD or most > MOST_DIGITS or int(digits.min()) < max(after, 1) or ends[0] <= 2 * WORD:
        return None
    words = words_at(text, ends - 2 * WORD, 2)
    last, before = words[:, 1], words[:, 0] if int(sizes.max()) > WORD else None
    if after:
        if ((last >> BITS[WORD - 1 - after]) & LOWEST != POINT).any():
            return None
        last, before = _without_point(last, before, after)
    last = _from_right(last, np.minimum(digits, WORD))
    are_digits, whole = _are_digits(last).all(), _eight(last)
    if before is not None:
        before = _from_right(before, np.maximum(digits - WORD, 0))
        are_digits = are_digits and _are_digits(before).all()
        whole += _eight(before) * TENS[WORD]
    return whole.astype(np.float64) / float(TENS[after]) if are_digits else None


def _without_point(last: Words, before: Words | None, after: int) -> tuple[Words, Words | None]:
    """The last eight characters and those before them, without the point that `after` others follow.

    What was before the point moves up by one.
    """
    moved = (last & ~MASKS[WORD - after]) | ((last & MASKS[WORD - 1 - after]) << BITS[1])
    if before is None:
        return moved, None
    moved |= before >> BITS[WORD - 1]
    return moved, before << BITS[1]


def _from_right(word: Words, sizes: Ints) -> Words:
    """The word with zeros (the digit) before its last `sizes` bytes."""
    mask = MASKS[WORD - sizes]
    return (word & ~mask) | (ZEROS & mask)


def decimals(words: Words, sizes: Ints) -> tuple[Floats, Bools]:
    """The numbers in rows of two words at most, and whether each row could be read.

    Rows of at most fifteen digits with at most one point can be read: digits and power of ten are then doubles without
    rounding, so that their quotient is the double nearest to the decimal number.
    """
    low = words[:, 0]
    high = words[:, 1] if words.shape[1] > 1 else np.zeros_like(low)
    point = _point(low)
    if words.shape[1] > 1:
        point = np.where(point < WORD, point, WORD + _point(high))
    point = np.minimum(point, sizes)
    has_point = point < sizes
    low, high = _without(low, high, point, has_point)
    count = sizes - has_point
    low, high = _filled(low, np.minimum(count, WORD)), _filled(high, np.clip(count - WORD, 0, WORD))
    can = (count > 0) & (count <= MOST_DIGITS) & _are_digits(low) & _are_digits(high)
    left = np.clip(2 * WORD - count, 0, 2 * WORD)
    whole = (_eight(low) * TENS[WORD] + _eight(high)) // TENS[left]
    return whole.astype(np.float64) / TENS[np.clip(count - point, 0, 2 * WORD)].astype(np.float64), can


def _filled(word: Words, sizes: Ints) -> Words:
    """The word with zeros (the digit) after its first `sizes` bytes."""
    mask = MASKS[sizes]
    return (word & mask) | (ZEROS & ~mask)


def _are_digits(word: Words) -> Bools:
    are_digits: Bools = ((word & UPPER) | (((word + CARRY) & UPPER) >> np.uint64(4))) == THREES
    return are_digits


def _point(word: Words) -> Ints:
    """The place of the first point in each word, 8 where there is none."""
    bytes_off = word ^ DOTS
    marked = (bytes_off - ONES) & ~bytes_off & HIGHS
    lowest = marked & (~marked + np.uint64(1))
    return (np.bitwise_count(lowest - np.uint64(1)) >> 3).astype(np.int64)


def _without(low: Words, high: Words, point: Ints, has_point: Bools) -> tuple[Words, Words]:
    """Both words with the byte at `point` removed, where there is one; the following bytes move up."""
    before = MASKS[np.minimum(point, WORD)]
    after = MASKS[np.clip(point - WORD, 0, WORD)]
    moved_low = (low & before) | (((low >> np.uint64(8)) | (high << np.uint64(56))) & ~before)
    moved_high = (high & after) | ((high >> np.uint64(8)) & ~after)
    return np.where(has_point, moved_low, low), np.where(has_point, moved_high, high)


def _eight(word: Words) -> Words:
    """The number that eight digits make."""
    word = ((word & LOWER) * np.uint64(2561)) >> np.uint64(8)
    word = ((word & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601)) >> np.uint64(16)
    return ((word & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001)) >> np.uint64(32)


LONGEST_LINE = 64 * 1024
LONGEST_NUMBER = 3 * WORD
NEWLINE, SPACE, TAB, HASH, PLUS, MINUS = b"\n \t#+-"
OF_NUMBERS = b"0123456789+-.eE"


class Column(NamedTuple):
    """One field of each line: its start in the text, and its length. The text is followed by LONGEST extra bytes."""

    text: bytes
    starts: Ints
    sizes: Ints

    def take(self, rows: Ints) -> Column:
        return Column(self.text, self.starts[rows], self.sizes[rows])

    def words(self, width: int | None = None) -> Words:
        """The bytes as lines by 64-bit words, filled up with zero bytes: as many words as the longest field needs.

        `width`, at most LONGEST bytes, is another number of words; longer fields are cut.
        """
        longest = int(self.sizes.max(initial=0))
        shortest = int(self.sizes.min(initial=longest))
        count, are_alike = width or -(-max(longest, 1) // WORD), shortest == longest
        words = words_at(self.text, self.starts, count)
        for word in range(count):
            if shortest < (word + 1) * WORD:
                left = self.sizes[:1] if are_alike else self.sizes
                words[:, word] &= MASKS[np.clip(left - word * WORD, 0, WORD)]
        return words

    def ids(self) -> Ids:
        """The column as ids."""
        if self.sizes.max(initial=0) <= LONGEST:
            return Ids(self.words())
        return Ids.of(self._pieces())

    def stretches(self) -> tuple[Ids, Ints]:
        """The column as runs of the same id: the ids, and how many lines each stretch has."""
        ids = self.ids()
        firsts = np.flatnonzero(ids.is_another())
        return ids.take(firsts), np.diff(np.append(firsts, len(ids)))

    def wholes(self) -> Ints | None:
        """The column as whole numbers; None unless every field is one to eight digits."""
        if self.sizes.max(initial=0) > WORD:
            return None
        numbers, is_read = wholes(self.words(1)[:, 0], self.sizes)
        return numbers if is_read.all() else None

    def numbers(self) -> Floats | None:
        """The column as numbers, each the double nearest to the decimal number; None unless all are finite numbers."""
        alike = same_decimals(self.text, self.starts + self.sizes, self.sizes)
        return self._any_numbers() if alike is None else alike

    def _any_numbers(self) -> Floats | None:
        signs = np.frombuffer(self.text, dtype=np.uint8)[self.starts]
        is_signed = (signs == MINUS) | (signs == PLUS)
        bare = Column(self.text, self.starts + is_signed, self.sizes - is_signed)
        numbers, is_read = decimals(bare.words(2), bare.sizes)
        numbers[signs == MINUS] *= -1.0
        odd = np.flatnonzero(~is_read)
        if len(odd):
            others = _parsed(self.take(odd)._pieces())
            if others is None:
                return None
            numbers[odd] = others
        return numbers

    def _pieces(self) -> list[bytes]:
        ends = (self.starts + self.sizes).tolist()
        return [self.text[start:end] for start, end in zip(self.starts.tolist(), ends, strict=True)]


class Fields(NamedTuple):
    """The fields of some lines: `ends` is where each ends, line after line. `text` is as in Column."""

    text: bytes
    ends: Ints
    width: int

    def column(self, place: int) -> Column:
        ends = self.ends[place :: self.width]
        if place:
            starts = self.ends[place - 1 :: self.width] + 1
        else:
            starts = np.empty_like(ends)
            starts[0], starts[1:] = 0, self.ends[self.width - 1 : -1 : self.width] + 1
        return Column(self.text, starts, ends - starts)


def _parsed(texts: list[bytes]) -> Floats | None:
    """The numbers, in any notation; None unless all are finite numbers."""
    if b"".join(texts).translate(None, OF_NUMBERS) or max(map(len, texts)) > LONGEST_NUMBER:
        return None
    try:
        numbers = np.array(list(map(float, texts)))
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def plain_fields(chunk: bytes, width: int) -> Fields | None:
    """The fields of a chunk of whole lines, `width` each; None unless every line is plain and the text is UTF-8.

    A carriage return without a newline after it is not plain either.
    """
    if b"\r" in chunk:
        chunk = chunk.replace(b"\r\n", b"\n")
    if not chunk.endswith(b"\n"):
        chunk += b"\n"
    text = np.frombuffer(chunk, dtype=np.uint8)
    is_end = text <= SPACE
    ends = np.flatnonzero(is_end)
    line_ends = ends[width - 1 :: width]
    if len(ends) % width or not _divide(text, is_end, line_ends, len(ends)) or not _is_plain_text(chunk):
        return None
    starts = np.concatenate(([0], line_ends[:-1] + 1))
    if (line_ends - starts).max() > LONGEST_LINE or (HASH in chunk and (text[starts] == HASH).any()):
        return None
    return Fields(chunk + bytes(LONGEST), ends, width)


def _divide(text: NDArray[np.uint8], is_end: Bools, line_ends: Ints, count: int) -> bool:
    """Whether each line has its last field before a newline and the others before one space or tab; none is empty.

    `is_end` marks the white space and other low bytes of the text, `count` of them; `line_ends` is where newlines must
    be.
    """
    if is_end[0] or (is_end[1:] & is_end[:-1]).any() or (text[line_ends] != NEWLINE).any():
        return False
    newlines = np.count_nonzero(text == NEWLINE)
    between = np.count_nonzero(text == SPACE)
    if newlines + between < count:
        between += np.count_nonzero(text == TAB)
    return newlines == len(line_ends) and newlines + between == count


def _is_plain_text(chunk: bytes) -> bool:
    """Whether the chunk is UTF-8 without a byte order mark, which is allowed only at the beginning of a file."""
    if chunk.isascii():
        return True
    if BYTE_ORDER_MARK in chunk:
        return False
    try:
        chunk.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
