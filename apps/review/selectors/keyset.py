"""Pages of a list ordered by a time and, among equal times, by key: each page costs the same."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

MAX_KEY = 2**63 - 1


class KeysetPlace(NamedTuple):
    """The place of a row in such a list."""

    time: datetime
    pk: int

    def __str__(self) -> str:
        return f"{self.time.isoformat()}~{self.pk}"


class KeysetPage(NamedTuple):
    """Some rows, and the place of the next page: "" on the last one."""

    rows: list[Any]
    next: str

    def __len__(self) -> int:
        return len(self.rows)

    def __bool__(self) -> bool:
        return bool(self.rows)


def place(text: str) -> KeysetPlace | None:
    """The place that a link names, or None for anything else."""
    time, _, pk = text.partition("~")
    try:
        when = datetime.fromisoformat(time)
    except ValueError:
        return None
    if when.tzinfo is None or not (pk.isascii() and pk.isdecimal() and len(pk) < 20 and int(pk) <= MAX_KEY):
        return None
    return KeysetPlace(when, int(pk))


def behind(rows: QuerySet, column: str, after: KeysetPlace | None, *, newest_first: bool = False) -> QuerySet:
    """`rows` by `column` and key, after the place `after`."""
    sign, compare = ("-", "lt") if newest_first else ("", "gt")
    if after is not None:
        later = Q(**{f"{column}__{compare}": after.time}) | Q(**{column: after.time, f"pk__{compare}": after.pk})
        bound = Q(**{f"{column}__{compare}e": after.time})
        rows = rows.filter(bound & later)
    return rows.order_by(f"{sign}{column}", f"{sign}pk")


def page(rows: QuerySet, column: str, after: str, limit: int, *, newest_first: bool = False) -> KeysetPage:
    """At most `limit` rows after the place `after` ("": from the start)."""
    shown = list(behind(rows, column, place(after), newest_first=newest_first)[: limit + 1])
    if len(shown) <= limit:
        return KeysetPage(shown, "")
    last = shown[limit - 1]
    return KeysetPage(shown[:limit], str(KeysetPlace(getattr(last, column), last.pk)))
