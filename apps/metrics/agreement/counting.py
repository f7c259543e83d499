"""From labels to counts: positions in a list of categories, tables of two raters, and distinct patterns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MISSING = -1

Counts = NDArray[np.int64]


def codes(ratings: Sequence[Sequence[object]], categories: Sequence[object]) -> Counts:
    """Items by raters as positions in `categories`; None becomes MISSING.

    Raises ValueError for a label that is not among the categories.
    """
    positions: dict[object, int] = {category: place for place, category in enumerate(categories)}
    positions[None] = MISSING
    try:
        rows = [[positions[label] for label in item] for item in ratings]
    except KeyError as error:
        raise ValueError(f"{error.args[0]!r} is not one of the categories {list(categories)!r}") from None
    return np.array(rows, dtype=np.int64).reshape(len(rows), -1)


def pair_table(first: Counts, second: Counts, size: int) -> Counts:
    """How often each pair of categories met: rows are the first rater's, columns the second's."""
    both = (first != MISSING) & (second != MISSING)
    flat = np.bincount(first[both] * size + second[both], minlength=size * size)
    return flat.reshape(size, size)


def category_counts(rated: Counts, size: int) -> Counts:
    """Items by categories: how many raters chose each."""
    counts = np.zeros((len(rated), size), dtype=np.int64)
    for category in range(size):
        counts[:, category] = (rated == category).sum(axis=1)
    return counts


def table_counts(table: Counts) -> Counts:
    """The table of two raters as items by categories."""
    size = len(table)
    rows, columns = np.divmod(np.repeat(np.arange(size * size), table.reshape(-1)), size)
    return category_counts(np.column_stack([rows, columns]), size)


def distinct_rows(rows: Counts) -> tuple[Counts, Counts]:
    """The distinct rows in ascending order, and for each row its index among them."""
    keys = _keys(rows)
    if keys is None:
        patterns, places = np.unique(rows, axis=0, return_inverse=True)
        return patterns, places.reshape(-1)
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], places.reshape(-1)


def _keys(rows: Counts) -> Counts | None:
    """A whole number for each row, ordered as the rows are; None where it would not fit in 63 bits."""
    low, high = (int(rows.min()), int(rows.max())) if rows.size else (0, 0)
    base = high - low + 1
    if base ** rows.shape[1] >= 2**63:
        return None
    keys = np.zeros(len(rows), dtype=np.int64)
    for column in range(rows.shape[1]):
        keys = keys * base + (rows[:, column] - low)
    return keys
