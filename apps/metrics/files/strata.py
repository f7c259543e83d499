"""Strata of queries or of labelled items, from a table.

The file has a column `query` or `item` (or another of its names in `apps.common.files.tables`), and every other column
is a way to divide them: `query,stratum` or `item,domain,difficulty`. A query appears once; an empty cell, and a query
that is not in the file, is in no stratum of that column.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import MOST_LISTED, ErrorList, all_of
from apps.common.files.linefiles import name_of
from apps.common.files.tables import QUERY
from apps.metrics.files.attributes import rows_of
from apps.metrics.statistics.strata import Division


class Strata(NamedTuple):
    """The divisions of a file. `unknown` are its ids that are not among the given ones; it lacks `unnamed` of these."""

    divisions: tuple[Division, ...]
    unknown: int
    unnamed: int


def load_strata(
    path: str | Path, ids: Sequence[str], *, names: tuple[str, ...] = QUERY, of: str = "judged queries"
) -> Strata:
    """The strata of these queries or items, whose column has one of the `names`; `of` says in errors what they are.

    Raises InputErrors for rows without an id or with a repeated one, and InputError for a file without rows, without
    another column, or without any of the ids.
    """
    errors = ErrorList(MOST_LISTED)
    rows = {row.id: row.cells for row in rows_of(path, names, errors)}
    if errors:
        raise all_of(errors)
    fields = list(next(iter(rows.values())))
    if not fields:
        raise InputError(name_of(path), 1, "", "", f"has no column besides {names[0]}, such as stratum.")
    if not set(ids) & rows.keys():
        raise InputError(name_of(path), None, names[0], "", f"names none of the {of}.")
    divisions = [Division(field, tuple(rows[one][field] if one in rows else "" for one in ids)) for field in fields]
    return Strata(tuple(divisions), len(rows.keys() - set(ids)), len(set(ids) - rows.keys()))
