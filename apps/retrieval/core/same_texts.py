"""Duplicate texts: which of a query's blocks need no judgement, because the same text is judged for another block.

Two texts are the same when title and text are equal to the letter (exact), or when they share at least `NEAR_FROM` of
their shingles (near; see `corpus.core.near_duplicates`). A text is only compared with texts that are judged, since
near duplicates are not transitive.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NEAR_FROM = 0.9
MARGIN = 0.2
"""Signatures only estimate: texts within this margin below the limit, or above it, are compared by their shingles."""

Minima = Mapping[int, NDArray[np.uint32]]
Alike = Callable[[int, int], float]


class Representative(NamedTuple):
    """The text that is judged instead, and whether it is equal to the letter."""

    text: int
    is_exact: bool


def representatives(
    judged: Sequence[int], new: Sequence[int], digests: Mapping[int, str], minima: Minima, alike: Alike
) -> dict[int, Representative]:
    """The representative of each duplicate among the `new` texts. New texts without one are judged themselves.

    The texts in `judged` are judged in any case; of duplicates in `new`, which are best first, the first is. `digests`
    and `minima` are the digests and signatures of all these texts, `alike(one, other)` is their exact resemblance.
    """
    originals = list(judged)
    by_digest: dict[str, int] = {}
    for text in originals:
        by_digest.setdefault(digests[text], text)
    duplicates = {}
    for text in new:
        if (same := by_digest.get(digests[text])) is not None:
            duplicates[text] = Representative(same, is_exact=True)
        elif (same := _nearest(text, originals, minima, alike)) is not None:
            duplicates[text] = Representative(same, is_exact=False)
        else:
            originals.append(text)
            by_digest[digests[text]] = text
    return duplicates


def _nearest(text: int, originals: Sequence[int], minima: Minima, alike: Alike) -> int | None:
    """The original that resembles this text most, the first of ties; None when none reaches `NEAR_FROM`."""
    if not originals:
        return None
    rows = np.stack([minima[other] for other in originals])
    shares = (rows == minima[text][None, :]).mean(axis=1)
    close = [originals[place] for place in np.flatnonzero(shares >= NEAR_FROM - MARGIN).tolist()]
    best = max(close, key=lambda other: alike(text, other), default=None)
    return best if best is not None and alike(text, best) >= NEAR_FROM else None
