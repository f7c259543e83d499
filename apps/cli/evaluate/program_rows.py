"""The rows that a program prints as results: ids, ids with scores, or what it tells of passages of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.common.digests import digest_of
from apps.retrieval.core.engines.remote import RemoteError
from apps.retrieval.core.engines.remote.base import RemoteHit, checked_id, checked_score
from apps.retrieval.core.engines.remote.own_passages import passage_of

NAME_LENGTH = 16
TOLD = {"document_id": "documents", "text": "texts"}


def hit_of(row: Any, number: int) -> RemoteHit:
    """A result from the columns of a line, an id, or an object; rows are numbered from 1. Raises RemoteError."""
    if isinstance(row, dict):
        return _of_object(row, number)
    if isinstance(row, list):
        return RemoteHit(checked_id(row[0] if row else None, number), _score(row[1], number) if len(row) > 1 else None)
    return RemoteHit(checked_id(row, number), None)


def _of_object(row: Mapping[str, Any], number: int) -> RemoteHit:
    """With document_id, pages or text it is a passage of the program's own; without an id a digest names it."""
    score = None if row.get("score") is None else checked_score(row["score"], number)
    if all(row.get(key) is None for key in ("document_id", "pages", "text")):
        return RemoteHit(checked_id(row.get("id"), number), score)
    first, last = _pages(row.get("pages"), number)
    values = {TOLD[key]: row.get(key) for key in TOLD} | {"first_pages": first, "last_pages": last}
    own = passage_of(values, "" if row.get("id") is None else checked_id(row["id"], number), number)
    return RemoteHit(own.id or f"passage-{digest_of(own)[:NAME_LENGTH]}", score, own)


def _pages(value: Any, number: int) -> tuple[Any, Any]:
    """First and last page, from both in a list or from the only one."""
    ends = value if isinstance(value, list) else [value]
    if not 1 <= len(ends) <= 2:
        raise RemoteError(f"The pages of item {number} are not a first and a last page, such as [3, 4].")
    return ends[0], ends[-1]


def _score(text: Any, number: int) -> float:
    try:
        return checked_score(float(text), number)
    except (TypeError, ValueError):
        raise RemoteError(f"The score of item {number} is not a number.") from None
