"""What belongs to another project is not found; ids go to a statement in parts."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import Http404

IDS_AT_ONCE = 5_000


def in_parts(ids: Sequence[Any], size: int = IDS_AT_ONCE) -> Iterator[Sequence[Any]]:
    """The ids in order, at most `size` at a time: a statement takes only so many parameters."""
    for start in range(0, len(ids), size):
        yield ids[start : start + size]


def found_in(rows: QuerySet[Any]) -> Any:
    """The one row; Http404 where there is none, whether it is missing or another project's."""
    row = rows.first()
    if row is None:
        raise Http404("Not found in this project.")
    return row
