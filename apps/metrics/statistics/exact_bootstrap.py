"""The exact bootstrap distribution of a mean: the limit of ever more draws. No end of an interval depends on a seed.

The sum of n values drawn with replacement is distributed as the n-fold convolution of one draw, and with strata as the
product over them. For up to `FEW` values every possible draw is listed. For more the convolution is a power of the
Fourier transform on a grid: exact where the values are multiples of one step (shares of ten, reciprocal ranks,
success), else so fine that an end moves by less than a thousandth of the interval's width. Zero stays exact.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEW = 8
"""Values of which all draws are listed: 6,435 for eight."""
PARTS = 2_520
"""Multiples of 1 / 2,520 are exact: every share and reciprocal up to ten."""
CELLS, MORE_CELLS, MANY = 1 << 14, 1 << 16, 1_000
"""Cells of the grid; more of them for many values, each of which is divided between two cells."""
SPARE = 1_024
REACH = 24.0
"""How many standard deviations of the sum the grid covers, where that is less than all possible sums."""
LOST = 1e-14
"""Rounding noise of the transform where the result is zero."""
RAREST = 1e-9
"""The most extreme quantile that is computed: beyond it is rounding noise."""
SLACK = 1e-12
SAME = 1e-9
"""Values that differ by no more are equal."""
NOISE = 1e-12  # of the largest value: far more than sums lose, far less than a measure can differ by


class Drawn(NamedTuple):
    """The possible means, ascending, and the probability of each; `step` apart, 0 where all draws are listed."""

    means: Floats
    shares: Floats
    step: float = 0.0

    def low(self, tail: float) -> float:
        """The lowest mean such that at least this share of draws is at or below it."""
        place = np.searchsorted(np.cumsum(self.shares), max(tail, RAREST) - SLACK)
        return float(self.means[min(int(place), len(self.means) - 1)])

    def high(self, tail: float) -> float:
        """The highest mean such that at least this share of draws is at or above it."""
        place = np.searchsorted(np.cumsum(self.shares[::-1]), max(tail, RAREST) - SLACK)
        return float(self.means[::-1][min(int(place), len(self.means) - 1)])

    def below(self, mean: float) -> float:
        """The share of draws below this mean, those that equal it counted half."""
        slack = self.step / 2 or NOISE * float(np.abs(self.means).max())
        is_equal = np.abs(self.means - mean) <= slack
        return float(self.shares[(self.means < mean) & ~is_equal].sum() + self.shares[is_equal].sum() / 2)


def every_draw(values: Floats, strata: Ints | None = None) -> Drawn:
    """The means of as many values as there are, drawn from them with replacement, with their probabilities.

    With `strata`, a number for each value, as many are drawn from each stratum as it has. Values must be finite, with
    at least one of them. No mean is beyond the values.
    """
    groups = [values] if strata is None else [values[strata == one] for one in np.unique(strata)]
    spread = math.sqrt(sum(len(group) * float(group.var()) for group in groups))
    if spread <= NOISE * float(np.abs(values).max(initial=0.0)):
        mean = math.fsum(values) / len(values)
        return Drawn(np.clip([mean], values.min(), values.max()), np.ones(1))
    drawn = _listed(values) if len(groups) == 1 and len(values) <= FEW else _convolved(groups, len(values), spread)
    return drawn._replace(means=_settled(drawn.means, float(values.min()), float(values.max())))


def _settled(means: Floats, low: float, high: float) -> Floats:
    """The means without rounding noise where it would change a result: at zero and at either end."""
    slack = NOISE * max(abs(low), abs(high))
    for end in (low, high, 0.0):
        means = np.where(np.abs(means - end) <= slack, end, means)
    return np.clip(means, low, high)


def _listed(values: Floats) -> Drawn:
    times, shares = _draws_of(len(values))
    centre = math.fsum(values) / len(values)
    whole, scale = on_grid((values - centre)[:, None], len(values))
    means = (times @ whole)[:, 0] / (len(values) * float(scale[0])) + centre
    order = np.argsort(means, kind="stable")
    return Drawn(means[order], shares[order])


@lru_cache(maxsize=FEW)
def _draws_of(n: int) -> tuple[Floats, Floats]:
    """How often each of n is drawn in every draw of n, and the share of draws that are so."""
    rows = np.array(list(combinations_with_replacement(range(n), n)))
    times = (rows[:, :, None] == np.arange(n)).sum(axis=1)
    factorials = np.array([math.factorial(time) for time in range(n + 1)], dtype=np.float64)
    return times.astype(np.float64), factorials[n] / factorials[times].prod(axis=1) / float(n**n)


class Grid(NamedTuple):
    """Cells that sums fall into, `step / parts` apart, and the values of each group in cells."""

    cells: int
    step: float
    parts: int
    places: list[Floats]


def _convolved(groups: list[Floats], n: int, spread: float) -> Drawn:
    grid = _grid(groups, n, spread)
    first = _first_cell(grid)
    transform = np.ones(grid.cells // 2 + 1, dtype=np.complex128)
    for place in grid.places:
        transform *= _power(np.fft.rfft(_one_draw(place, grid.cells)), len(place))
    shares = np.roll(np.fft.irfft(transform, grid.cells), -(first % grid.cells))
    shares[shares < LOST] = 0.0
    some = np.flatnonzero(shares)
    unit = grid.parts * n
    return Drawn((first + some) * grid.step / unit, shares[some] / shares.sum(), grid.step / unit)


def _grid(groups: list[Floats], n: int, spread: float) -> Grid:
    reach = min(sum(len(group) * float(np.ptp(group)) for group in groups), REACH * spread)
    common = _common_parts(np.concatenate(groups))
    if common and reach * PARTS / common < MORE_CELLS - 2:
        cells = 1 << math.ceil(math.log2(reach * PARTS / common + 2))
        return Grid(cells, common, PARTS, [np.rint(group * PARTS / common) for group in groups])
    cells = CELLS if n <= MANY else MORE_CELLS
    step, top = reach / (cells - SPARE), max(float(np.abs(group).max()) for group in groups)
    step = top / max(1, math.floor(top / step))  # the value farthest from zero has a cell of its own, as zero does
    return Grid(cells, step, 1, [group / step for group in groups])


def _common_parts(values: Floats) -> int:
    """The greatest number of parts, 1 / PARTS each, that all values are multiples of; 0 where there is none."""
    parts = values * PARTS
    whole = np.rint(parts)
    if np.abs(parts - whole).max() > SAME * PARTS or np.abs(whole).max() > 2**53:
        return 0
    return int(np.gcd.reduce(whole.astype(np.int64)))


def _first_cell(grid: Grid) -> int:
    """The first sum in the grid: the smallest possible one, or the one that puts the mean in the middle."""
    least = sum(len(place) * math.floor(float(place.min())) for place in grid.places)
    most = sum(len(place) * math.ceil(float(place.max())) for place in grid.places)
    middle = round(sum(math.fsum(place) for place in grid.places)) - grid.cells // 2
    return least if most - least < grid.cells else max(least, min(middle, most - grid.cells + 1))


def _one_draw(place: Floats, cells: int) -> Floats:
    """The share of each cell in one draw. A value between two cells is divided between both, so that the mean stays."""
    lower = np.floor(place)
    above = place - lower
    low = np.mod(lower, cells).astype(np.int64)
    both = np.concatenate([low, (low + 1) % cells])
    return np.bincount(both, weights=np.concatenate([1.0 - above, above]), minlength=cells) / len(place)


def _power(values: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    """By squaring: the same bits on every machine that multiplies alike, and faster than logarithms."""
    power, base = np.ones_like(values), values
    while exponent:
        if exponent & 1:
            power = power * base
        exponent >>= 1
        if exponent:
            base = base * base
    return power


# Sums that are the same, to the last bit, in any order and on any number of threads. A matrix product on several
# threads adds in another order than on one, and floating point then gives another last digit. Whole numbers below 2^53
# are added without rounding, so the values are put on a grid first: they become whole multiples of a power of two, much
# finer than any figure shown.

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
