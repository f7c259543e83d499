"""Helpers for querysets: one row or Http404, and long lists of ids in parts."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import Http404

IDS_AT_ONCE = 5_000


def in_parts(ids: Sequence[Any], size: int = IDS_AT_ONCE) -> Iterator[Sequence[Any]]:
    """The ids in order, in parts of at most `size`, because a statement has a maximum number of parameters."""
    for start in range(0, len(ids), size):
        yield ids[start : start + size]


def found_in(rows: QuerySet[Any]) -> Any:
    """The first row; Http404 when there is none, whether it is missing or belongs to another project."""
    row = rows.first()
    if row is None:
        raise Http404("Not found in this project.")
    return row
