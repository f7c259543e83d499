"""A table that somebody imports, opened with the choice of its columns, for every kind of import."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from apps.accounts.models import Project
from apps.common.files.anytable import open_table
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.core.columns import ColumnRole, TableChoice
from apps.corpus.core.table_plans import SHOWN_ROWS, TableView
from apps.corpus.selectors.columns import settled_choice


class OpenedTable(NamedTuple):
    """The lines of a table with their cells, its page so far, and the rows that could not be read."""

    lines: list[tuple[int, list[str]]]
    view: TableView
    errors: ErrorList

    @property
    def records(self) -> list[tuple[int, dict[str, str]]]:
        """Each line with its cells by heading."""
        return [(line, dict(zip(self.view.headings, cells, strict=True))) for line, cells in self.lines]


def open_mapped(
    source: TableFile, *, project: Project, kind: str, roles: Sequence[ColumnRole], options: Mapping[str, Any]
) -> OpenedTable:
    """Open a table with its columns chosen, remembered or proposed. Raises InputError for what is no table."""
    errors = ErrorList()
    table = open_table(source, errors, sheet=TableChoice.from_json(options.get("table") or {}).sheet)
    lines = list(table.rows)
    settled = settled_choice(project, kind, roles, table.headings, [cells for _, cells in lines], options)
    view = TableView(
        how=table.how,
        headings=table.headings,
        roles=roles,
        choice=replace(settled.choice, sheet=table.sheet),
        sheets=table.sheets,
        rows=len(lines),
        sample=[cells for _, cells in lines[:SHOWN_ROWS]],
        is_remembered=settled.is_remembered,
    )
    return OpenedTable(lines, view, errors)
