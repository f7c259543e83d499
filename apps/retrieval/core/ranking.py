"""The ranking of one query as it is stored: its blocks as bytes, or the passages that a system returned of its own."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apps.metrics.expected.rules import Returned

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


def scores_at(packed: bytes, wanted: NDArray[np.int64]) -> NDArray[np.float64]:
    """The scores of these positions in a packed ranking: the lowest one where it has no such entry, 0 when empty."""
    positions, scores = unpack(packed)
    if not len(positions):
        return np.zeros(len(wanted))
    by_position = np.argsort(positions)
    places = by_position[np.searchsorted(positions, wanted, sorter=by_position).clip(max=len(positions) - 1)]
    return np.where(positions[places] == wanted, scores[places], scores[-1])


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


def as_stored(passages: Iterable[Returned]) -> list[dict[str, Any]]:
    """The passages as plain JSON, best first; what a system did not tell is left out."""
    return [{key: value for key, value in _plain(one).items() if value} for one in passages]


def as_results(passages: Iterable[Returned]) -> list[dict[str, Any]]:
    """The same as the lines of a file of results have it: `start` and `end` of their own."""
    return [_with_ends(one) for one in as_stored(passages)]


def _with_ends(stored: dict[str, Any]) -> dict[str, Any]:
    start, end = stored.pop("span", None) or (None, None)
    return stored if start is None else {**stored, "start": start, "end": end}


def from_stored(stored: Iterable[dict[str, Any]]) -> list[Returned]:
    return [_returned(**one) for one in stored]


def _plain(one: Returned) -> dict[str, Any]:
    return {**one._asdict(), "pages": list(one.pages or ()), "span": list(one.span or ())}


def _returned(
    id: str = "",
    document_id: str = "",
    pages: list[int] | None = None,
    text: str = "",
    span: list[int] | None = None,
) -> Returned:
    both = [(ends[0], ends[1]) if ends else None for ends in (pages, span)]
    return Returned(id, document_id, both[0], text, both[1])
