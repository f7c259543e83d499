"""Texts that say the same: which of a query's blocks need no judgement of their own, because another has one.

A text is the same as another when title and text are equal to the letter (exact), or when the two share at least
`NEAR_FROM` of their shingles (near; see `corpus.neardups`). Every text is compared with those that are judged, never
with one that another stands for: likeness does not carry from text to text.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NEAR_FROM = 0.9
MARGIN = 0.2
"""Signatures estimate; what comes as near as this to the limit is compared word by word."""

Minima = Mapping[int, NDArray[np.uint32]]
Alike = Callable[[int, int], float]


class Stand(NamedTuple):
    """The text that is judged instead, and whether it is equal to the letter."""

    text: int
    is_exact: bool


def stand_ins(
    judged: Sequence[int], new: Sequence[int], digests: Mapping[int, str], minima: Minima, alike: Alike
) -> dict[int, Stand]:
    """Tell for which of the `new` texts another one is judged, and which. The others are judged themselves.

    `judged` are judged in any case; of `new`, given best first, the first of each kind is. `digests` and `minima` hold
    the digest and the signature of every text named, `alike(one, other)` the exact likeness of two.
    """
    standing = list(judged)
    equal: dict[str, int] = {}
    for text in standing:
        equal.setdefault(digests[text], text)
    found = {}
    for text in new:
        if (same := equal.get(digests[text])) is not None:
            found[text] = Stand(same, is_exact=True)
        elif (same := _nearest(text, standing, minima, alike)) is not None:
            found[text] = Stand(same, is_exact=False)
        else:
            standing.append(text)
            equal[digests[text]] = text
    return found


def _nearest(text: int, standing: Sequence[int], minima: Minima, alike: Alike) -> int | None:
    """The standing text that is most like this one and enough so, the first of equals; None where none is."""
    if not standing:
        return None
    rows = np.stack([minima[other] for other in standing])
    shares = (rows == minima[text][None, :]).mean(axis=1)
    close = [standing[place] for place in np.flatnonzero(shares >= NEAR_FROM - MARGIN).tolist()]
    best = max(close, key=lambda other: alike(text, other), default=None)
    return best if best is not None and alike(text, best) >= NEAR_FROM else None
