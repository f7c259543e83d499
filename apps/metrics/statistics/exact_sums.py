"""Sums that are the same, to the last bit, in any order and on any number of threads.

A matrix product on several threads adds in another order than on one, and floating point then gives another last digit.
Whole numbers below 2^53 are added without rounding, so the values are put on a grid first: they become whole multiples
of a power of two, much finer than any figure shown.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

EXACT_BITS = 52
MOST_EXPONENT = 1000


class WholeValues(NamedTuple):
    """Values as whole numbers, stored as doubles: `whole / scale` is the values again, within half a `1 / scale`.

    A column of a matrix has a scale of its own.
    """

    whole: Floats
    scale: Floats


def on_grid(values: Floats, terms: int) -> WholeValues:
    """The values on the finest grid on which any sum of up to `terms` of a column, repeats counted, is exact.

    The step is 2^-51 of the column's largest absolute value, times `terms` (rounded up to a power of two): 1e-13 of it
    for a thousand terms. Columns of nothing but zeros, or of values too small for a grid, become zeros. Raises
    ValueError for values that are not finite, and for more terms than the grid has room for.
    """
    if not np.isfinite(values).all():
        raise ValueError("Only finite values can be put on a grid.")
    room = EXACT_BITS - max(terms, 1).bit_length()
    if room < 1:
        raise ValueError(f"{terms} terms are too many to be added exactly.")
    largest = np.abs(values).max(axis=0, initial=0.0)
    exponent = np.maximum(room - np.frexp(largest)[1], -MOST_EXPONENT)
    scale = np.where((largest > 0) & (exponent <= MOST_EXPONENT), np.ldexp(1.0, np.minimum(exponent, MOST_EXPONENT)), 0)
    return WholeValues(np.rint(values * scale), np.where(scale > 0, scale, 1.0))
