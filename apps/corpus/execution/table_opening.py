"""A table that somebody imports, opened with the choice of its columns, for every kind of import."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from apps.accounts.models import Project
from apps.common.files.anytable import Table, open_table
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.core.columns import ColumnRole, TableChoice
from apps.corpus.core.table_plans import DONE, SHOWN_ROWS, TableMessage, TableView
from apps.corpus.selectors.columns import settled_choice


class Opener(Protocol):
    """Reads a file as a table; what does not fit is added to the mistakes."""

    def __call__(self, source: TableFile, errors: ErrorList, *, sheet: str) -> Table: ...


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
    source: TableFile,
    *,
    project: Project,
    kind: str,
    roles: Sequence[ColumnRole],
    options: Mapping[str, Any],
    opener: Opener = open_table,
) -> OpenedTable:
    """Open a table with its columns chosen, remembered, known or proposed. Raises InputError for what is no table."""
    errors = ErrorList()
    table = opener(source, errors, sheet=TableChoice.from_json(options.get("table") or {}).sheet)
    lines = list(table.rows)
    cells = [cells for _, cells in lines]
    settled = settled_choice(project, kind, roles, table.headings, cells, options, known=table.known)
    view = TableView(
        how=table.how,
        headings=table.headings,
        roles=roles,
        choice=replace(settled.choice, sheet=table.sheet),
        sheets=table.sheets,
        rows=len(lines),
        sample=[cells for _, cells in lines[:SHOWN_ROWS]],
        messages=[TableMessage(DONE, note) for note in table.notes],
        is_remembered=settled.is_remembered,
    )
    return OpenedTable(lines, view, errors)
