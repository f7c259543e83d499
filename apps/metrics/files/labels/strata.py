"""Strata of items from a file, as `karat score --by` reads those of queries.

The file has a column `item` (or `item_id`, `id`), and every other column is a way to divide the items: `item,stratum`
or `item,domain,difficulty`. An item appears once; an empty cell, and an item that is not in the file, is in no stratum
of that column. Separated by commas, tabs or semicolons, and optionally gzipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tables import ITEM, opened
from apps.common.files.tabular import TableFile, read_csv


class LabelDivision(NamedTuple):
    """One way to divide the labelled items: the stratum of each in their order, "" where it is in none."""

    field: str
    labels: tuple[str, ...]

    @property
    def strata(self) -> list[str]:
        """The strata that occur, by name."""
        return sorted(set(self.labels) - {""})


class LabelStrata(NamedTuple):
    """The divisions of a file. `unlabelled` counts its items without a label, `unnamed` the other labelled items."""

    divisions: tuple[LabelDivision, ...] = ()
    unlabelled: int = 0
    unnamed: int = 0

    def remarks(self) -> list[str]:
        """Warnings about what limits the figures."""
        remarks = []
        if self.unlabelled:
            remarks.append(f"items in it without a label: {self.unlabelled:,}.")
        if self.unnamed:
            remarks.append(f"labelled items that it does not name, and that are in no stratum: {self.unnamed:,}.")
        return remarks


class LabelStrataRow(NamedTuple):
    line: int
    cells: dict[str, str]


def read_strata(path: str | Path, items: Sequence[str], errors: ErrorList) -> LabelStrata:
    """The strata of the labelled items.

    Errors in rows are added to `errors`. Raises InputError for errors of the file as a whole, without a row or without
    a column besides `item`, and when no item in it is labelled.
    """
    with opened(path) as (source, delimiter):
        rows = _rows_of(source, delimiter, errors)
    if not rows and not errors:
        raise InputError(source.name, None, "", "", "names the columns but contains no rows.")
    if rows and not rows.keys() & set(items):
        raise InputError(source.name, None, ITEM[0], "", "names none of the labelled items.")
    fields = [field for field in next(iter(rows.values())).cells if field not in ITEM] if rows else []
    divisions = [
        LabelDivision(field, tuple(rows[item].cells[field] if item in rows else "" for item in items))
        for field in fields
    ]
    return LabelStrata(tuple(divisions), len(rows.keys() - set(items)), len(set(items) - rows.keys()))


def _rows_of(source: TableFile, delimiter: str, errors: ErrorList) -> dict[str, LabelStrataRow]:
    """The first row of each item."""
    by_item: dict[str, LabelStrataRow] = {}
    for line, given in read_csv(source, errors, required=[ITEM], delimiter=delimiter):
        cells = {field: cell.strip() for field, cell in given.items()}
        if len(cells) == 1:
            raise source.error(1, "", "", f"has no column besides {next(iter(cells))}, such as stratum.")
        key = next(name for name in ITEM if name in cells)
        item = cells[key]
        if not item:
            errors.add(source.error(line, key, "", "the row names no item."))
        elif item in by_item:
            message = f"'{item}' appears twice, first in line {by_item[item].line}."
            errors.add(source.error(line, key, item, message))
        else:
            by_item[item] = LabelStrataRow(line, cells)
    return by_item
