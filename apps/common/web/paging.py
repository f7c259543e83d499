"""Pagination of the API: `?after=<cursor>&limit=<n>`, which returns the next cursor.

A cursor is the last value of a unique, ordered column, so every page costs the same, and rows that are added meanwhile
neither repeat nor hide others.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError

LIMIT, MOST = 100, 1_000
LONGEST = 18
NO_CURSOR = "This is not a cursor. Use `next` of the previous page."


class Cut(NamedTuple):
    """One page. `next` is None on the last one."""

    rows: list[Any]
    next: str | None


def only_known(params: Mapping[str, Any], known: set[str]) -> None:
    """Reject unknown parameters, relation paths among them, instead of ignoring them."""
    unknown = sorted(set(params) - known)
    if unknown:
        raise ValidationError({unknown[0]: f"Unknown parameter. Known are: {', '.join(sorted(known))}."})


def cut(rows: QuerySet[Any], params: Mapping[str, Any], column: str = "pk") -> Cut:
    """The page for `after` and `limit`, in the order of `column`, which is unique and a whole number."""
    rows = rows.order_by(column)
    limit = _limit(params.get("limit", ""))
    if after := params.get("after", ""):
        try:
            rows = rows.filter(**{f"{column}__gt": whole(after)})
        except ValueError:
            raise ValidationError({"after": NO_CURSOR}) from None
    fetched = list(rows[: limit + 1])
    return Cut(fetched[:limit], str(getattr(fetched[limit - 1], column)) if len(fetched) > limit else None)


def cut_list(rows: Sequence[Any] | QuerySet[Any], params: Mapping[str, Any]) -> Cut:
    """The same for rows whose order never changes: the cursor is the number of rows before the page."""
    limit, start = _limit(params.get("limit", "")), 0
    if after := params.get("after", ""):
        if not (after.isascii() and after.isdigit() and len(after) <= LONGEST):
            raise ValidationError({"after": NO_CURSOR})
        start = int(after)
    fetched = list(rows[start : start + limit + 1])
    return Cut(fetched[:limit], str(start + limit) if len(fetched) > limit else None)


def whole(text: str) -> int:
    """A cursor that is a whole number. Raises ValueError, also for one too large for a database column."""
    if len(text) > LONGEST:
        raise ValueError(text)
    return int(text)


def _limit(text: str) -> int:
    if not text:
        return LIMIT
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= MOST):
        raise ValidationError({"limit": f"A whole number from 1 to {MOST:,}."})
    return int(text)
