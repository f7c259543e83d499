"""Ids that were meant to be the same."""

from __future__ import annotations

import re
from collections.abc import Iterable


def looks_alike(missing: Iterable[str], unjudged: Iterable[str]) -> tuple[str, str] | None:
    """Of the judged ids that a run lacks and those of the run that nobody judged, two that differ only by case or
    leading zeros, when there are such."""
    by_form = {_form(one): one for one in missing}
    for one in unjudged:
        if _form(one) in by_form:
            return by_form[_form(one)], one
    return None


def _form(one: str) -> str:
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", one.casefold())
