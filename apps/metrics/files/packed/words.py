"""Text as 64-bit words: eight bytes each, the first in the lowest place, on every machine."""

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
