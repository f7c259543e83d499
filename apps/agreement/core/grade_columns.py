"""Grades as columns of whole numbers: compact to read and to store. No database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from io import BytesIO
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.agreement.ratings import Dated, dated_ratings

EPOCH = date(1970, 1, 1)
DAYS_TO_MONDAY = 3  # 1970-01-01 was a Thursday

Row = tuple[int, int, int, int, str]


class Columns(NamedTuple):
    """One row per grade, oldest first. `table` holds query, text, person and grade; `days` counts from 1970-01-01."""

    table: NDArray[np.int64]
    days: NDArray[np.int32]

    def rated(self, scale: Sequence[int]) -> Dated:
        """The ratings on this scale, with their days."""
        return dated_ratings(self.table, self.days, scale)


def columns_from(rows: Iterable[Row]) -> Columns:
    """Columns from (query, text, person, grade, "2026-03-02") rows."""
    every = list(zip(*rows, strict=True)) or [()] * 5
    table = np.column_stack([np.array(column, dtype=np.int64) for column in every[:4]])
    known = {day: (date.fromisoformat(day) - EPOCH).days for day in set(every[4])}
    return Columns(table, np.array([known[day] for day in every[4]], dtype=np.int32))


def packed(columns: Columns) -> bytes:
    """The columns as bytes that contain no code (nothing is unpickled)."""
    whole = BytesIO()
    np.savez_compressed(whole, table=columns.table, days=columns.days)
    return whole.getvalue()


def unpacked(data: bytes) -> Columns:
    """The inverse of `packed`. Raises ValueError for any other bytes."""
    with np.load(BytesIO(data), allow_pickle=False) as whole:
        return Columns(whole["table"], whole["days"])


def mondays(days: NDArray[np.int32]) -> NDArray[np.int32]:
    """The Monday of the week of each day, both counted from 1970-01-01."""
    begins: NDArray[np.int32] = days - (days + DAYS_TO_MONDAY) % 7
    return begins


def date_of(day: int) -> date:
    return EPOCH + timedelta(days=day)
