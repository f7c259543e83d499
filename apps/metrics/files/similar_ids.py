"""Ids that differ only in their spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable


def similar_pair(missing: Iterable[str], unjudged: Iterable[str]) -> tuple[str, str] | None:
    """A judged id that a run lacks and an unjudged one of the run that differ only by case or leading zeros, if any."""
    by_form = {_form(one): one for one in missing}
    for one in unjudged:
        if _form(one) in by_form:
            return by_form[_form(one)], one
    return None


def _form(one: str) -> str:
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", one.casefold())
