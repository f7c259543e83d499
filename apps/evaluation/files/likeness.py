"""Ids of queries that were meant to be the same."""

from __future__ import annotations

import re
from collections.abc import Iterable


def looks_alike(missing: Iterable[str], unjudged: Iterable[str]) -> tuple[str, str] | None:
    """A judged query and one of the run that differ only by case or leading zeros, when there are such."""
    by_form = {_form(query_id): query_id for query_id in missing}
    for query_id in unjudged:
        if _form(query_id) in by_form:
            return by_form[_form(query_id)], query_id
    return None


def _form(query_id: str) -> str:
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", query_id.casefold())
