"""An imagined item: the ratings that two raters might give, as far as is known beforehand.

Half of it is spread evenly over all pairs of categories (Perks, Journal of the Institute of Actuaries 73, 1947), half
over those that agree. A small part of it is added to the resampled items: rare ratings that a small sample lacks, such
as a far miss or two raters who agree on a rare category, are in no resample otherwise (pseudo-Bayes estimates: Bishop,
Fienberg and Holland, Discrete Multivariate Analysis, 1975, chapter 12).
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.agreement.counting import Counts

Floats = NDArray[np.float64]

MOST = 200


class Pairs(NamedTuple):
    """Pairs of categories, each with its share of the item. Very many pairs are represented by some of them."""

    first: Counts
    second: Counts
    shares: Floats


def pairs_of_categories(size: int) -> Pairs:
    everywhere, alike = spread(size * size), spread(size) * (size + 1)
    cells = np.union1d(everywhere, alike)
    shares = np.isin(cells, everywhere) / (2 * len(everywhere)) + np.isin(cells, alike) / (2 * len(alike))
    return Pairs(cells // size, cells % size, shares)


def rows_of_pairs(raters: Counts, columns: int, size: int, missing: int) -> tuple[Counts, Floats]:
    """The item as rows of `columns` raters of whom two rated it, and the share of each row; empty for one rater."""
    one, other = np.triu_indices(len(raters), 1)
    pairs = pairs_of_categories(size)
    chosen = spread(len(one) * len(pairs.shares))
    who, what = np.divmod(chosen, len(pairs.shares))
    rows = np.full((len(chosen), columns), missing, dtype=np.int64)
    places = np.arange(len(chosen))
    rows[places, raters[one[who]]] = pairs.first[what]
    rows[places, raters[other[who]]] = pairs.second[what]
    shares = pairs.shares[what]
    return rows, shares / shares.sum() if len(shares) else shares


def spread(count: int) -> Counts:
    """The numbers below `count`, or MOST of them when there are more, spread evenly and always the same."""
    if count <= MOST:
        return np.arange(count)
    step = round(count * 0.6180339887)  # with the golden section neighbours in a row do not share columns
    while gcd(step, count) > 1:
        step += 1
    return np.sort(np.arange(MOST) * step % count)
