"""The ranking of one query as bytes, and which of its blocks need no judgement because the same text is judged."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

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

    Two texts are the same when title and text are equal to the letter (exact), or when they share at least `NEAR_FROM`
    of their shingles (near; see `corpus.core.near_duplicates`). A text is only compared with texts that are judged,
    since near duplicates are not transitive.

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


_POSITION = np.dtype("<i4")
_SCORE = np.dtype("<f8")
ENTRY_BYTES = _POSITION.itemsize + _SCORE.itemsize


def pack(positions: ArrayLike, scores: ArrayLike) -> bytes:
    """All positions as little-endian int32, then all scores as little-endian float64: 12 bytes per entry.

    Raises ValueError when the columns differ in length, a score is not finite, a position comes twice, or the order
    is not score descending, ties by position descending.
    """
    place, score = np.asarray(positions, dtype=_POSITION), np.asarray(scores, dtype=_SCORE)
    if place.shape != score.shape or place.ndim != 1:
        raise ValueError("positions and scores must be two columns of one length")
    if not np.isfinite(score).all():
        raise ValueError("a score is not a finite number")
    if not is_ranked(place, score):
        raise ValueError("entries must fall by score, ties by position, and no position may come twice")
    return place.tobytes() + score.tobytes()


def unpack(packed: bytes) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The positions and scores that were packed. Raises ValueError when bytes are missing."""
    entries, rest = divmod(len(packed), ENTRY_BYTES)
    if rest:
        raise ValueError(f"{len(packed)} bytes are not a whole number of entries")
    split = entries * _POSITION.itemsize
    positions = np.frombuffer(packed, dtype=_POSITION, count=entries)
    scores = np.frombuffer(packed, dtype=_SCORE, count=entries, offset=split)
    return positions.astype(np.int32), scores.astype(np.float64)


def in_order(positions: ArrayLike, scores: ArrayLike) -> NDArray[np.int64]:
    """The indices that sort entries into a ranking: score descending, ties by position descending."""
    return np.lexsort((-np.asarray(positions, dtype=np.int64), -np.asarray(scores, dtype=np.float64)))


def is_ranked(positions: NDArray[np.int32], scores: NDArray[np.float64]) -> bool:
    """Whether the entries are in the order of a ranking and no position comes twice."""
    falls = scores[:-1] > scores[1:]
    tied = (scores[:-1] == scores[1:]) & (positions[:-1] > positions[1:])
    if not (falls | tied).all():
        return False
    ordered = np.sort(positions)
    return bool((ordered[1:] != ordered[:-1]).all())
