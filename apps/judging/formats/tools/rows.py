"""Rows of a tool's export, each with cells by heading, as a table."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from apps.common.files.anytable import MOST_CELL, MOST_ROWS, Table
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile

Record = Mapping[str, Any]


class ToolRow(NamedTuple):
    """One grade: the number of the record that has it, and its cells by heading."""

    line: int
    cells: Mapping[str, str]


def table_of(
    source: TableFile,
    errors: ErrorList,
    rows: Iterable[ToolRow],
    *,
    how: str,
) -> Table:
    """The rows as a table; its headings are those of all rows, in the order in which they come.

    Raises InputError where there is no row, or there are too many. A row with a cell that is too long is a mistake.
    """
    taken: list[ToolRow] = []
    headings: dict[str, None] = {}
    for row in rows:
        if long := next((heading for heading, cell in row.cells.items() if len(cell) > MOST_CELL), ""):
            message = f"the text is longer than {MOST_CELL:,} characters"
            errors.add(source.error(row.line, long, row.cells[long], message))
            continue
        if len(taken) == MOST_ROWS:
            raise source.error(row.line, "", "", f"the file has more than {MOST_ROWS:,} grades; split it")
        taken.append(row)
        headings |= dict.fromkeys(row.cells)
    if not taken and not errors:
        raise source.error(None, "", "", "the file has no grade")
    if len(headings) > source.caps.columns:
        raise source.error(None, "", "", f"the records have more than {source.caps.columns:,} fields")
    names = list(headings)
    filled = ((line, [cells.get(name, "") for name in names]) for line, cells in taken)
    return Table(how, names, filled)


def knowing(table: Table, known: Mapping[str, str], notes: Sequence[str]) -> Table:
    """The table with what its form says of its columns, as far as it has them, and of what was left out."""
    return table._replace(known={name: known[name] for name in table.headings if name in known}, notes=notes)


def text_of(value: Any) -> str:
    """A value as the text of a cell: whole numbers without a point, lists of texts divided by semicolons."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "; ".join(one.strip() for one in value)
    return json.dumps(value, ensure_ascii=False)
