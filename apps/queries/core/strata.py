"""What queries are told apart by: the strata of scores, gates, agreement and slices, in the order of pages.

A further one is a column of the query, and a line here.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

STRATA = {
    "domain": "Domain",
    "query_type": "Type",
    "difficulty": "Difficulty",
    "source": "Source",
    "expertise": "Expertise",
    "answer_format": "Format",
    "group": "Group",
    "asked_in": "Year",
}
TYPED = {"domain": 80, "query_type": 40, "expertise": 40, "answer_format": 40}
"""Those that are free words, each with its longest value."""
CONTEXT = ("expertise", "answer_format", "asked_on")
"""What a query says of its asker, of the answer and of its time. Frozen and written only where it is known."""
LONGEST_DAY = 10


def label_of(fields: Mapping[str, Any], name: str) -> str:
    """The stratum of a query with these fields, as a version freezes them; "" for none. Of its day it is the year."""
    return str(fields.get("asked_on") or "")[:4] if name == "asked_in" else str(fields.get(name) or "")


def checked_day(text: str) -> str:
    """A day as 2026-03-01, or "". Raises ValueError for anything else."""
    text = text.strip()
    if text and date.fromisoformat(text).isoformat() != text:
        raise ValueError(text)
    return text
