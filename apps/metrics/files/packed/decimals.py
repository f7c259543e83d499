"""Reads many decimal numbers at once from the 64-bit words of their text.

A word has eight characters, the first in its lowest byte. Eight digits become a number in three multiplications, each
of which combines neighbours: digits to pairs, pairs to fours, fours to eight.
"""

from __future__ import annotations

import numpy as np

from apps.metrics.files.packed.words import MASKS, WORD, Bools, Floats, Ints, Words, each_byte, words_at

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


def are_wholes(word: Words, sizes: Ints) -> bool:
    """Whether the first `sizes` characters, 1 to 8, of every word are a whole number."""
    return bool(_are_digits(_filled(word, sizes)).all())


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
