"""Passages that a system returned of its own, as a ranking stores them."""

from collections.abc import Iterable
from typing import Any

from apps.metrics.expected.rules import Returned


def as_stored(passages: Iterable[Returned]) -> list[dict[str, Any]]:
    """The passages as plain JSON, best first; what a system did not tell is left out."""
    return [{key: value for key, value in _plain(one).items() if value} for one in passages]


def from_stored(stored: Iterable[dict[str, Any]]) -> list[Returned]:
    return [_returned(**one) for one in stored]


def _plain(one: Returned) -> dict[str, Any]:
    return {**one._asdict(), "pages": list(one.pages or ())}


def _returned(id: str = "", document_id: str = "", pages: list[int] | None = None, text: str = "") -> Returned:
    return Returned(id, document_id, (pages[0], pages[1]) if pages else None, text)
