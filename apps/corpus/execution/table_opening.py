"""A table that somebody imports, opened with the choice of its columns, for every kind of import."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from apps.accounts.models import Project
from apps.common.files.anytable import Table, open_table
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.core.import_plans import ColumnRole, Fix, TableChoice, has_known_heading
from apps.corpus.core.table_plans import DONE, SHOWN_ROWS, WARN, TableMessage, TableView
from apps.corpus.selectors.import_kinds import are_remembered, settled_choice

HEADED, HEADLESS = "has-headings", "has-no-headings"


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
    given = TableChoice.from_json(options.get("table") or {})
    table = opener(source, errors, sheet=given.sheet)
    messages = [TableMessage(DONE, note) for note in table.notes]
    if opener is open_table and not table.known:
        is_sure = are_remembered(project, kind, table.headings) or has_known_heading(roles, table.headings)
        has_headings = HEADED in given.answers or (is_sure and HEADLESS not in given.answers)
        if not has_headings:
            errors = ErrorList()
            table = open_table(source, errors, sheet=given.sheet, has_headings=False)
        if not is_sure or not has_headings:
            messages.append(_about_headings(given, has_headings=has_headings))
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
        messages=messages,
        is_remembered=settled.is_remembered,
    )
    return OpenedTable(lines, view, errors)


def _about_headings(given: TableChoice, *, has_headings: bool) -> TableMessage:
    """What the first row was taken for, and the button that takes it for the other."""
    name, other = (HEADLESS, HEADED) if has_headings else (HEADED, HEADLESS)
    answers = (*(one for one in given.answers if one not in {name, other}), name)
    chosen = replace(given, columns={}, grades={}, answers=answers).as_json()
    state = DONE if other in given.answers else WARN
    if has_headings:
        fix = Fix(name, "", "It is a row like the others", {"table": chosen})
        return TableMessage(state, "The first row is read as the headings.", fix=fix)
    words = "None of its cells is a heading known here."
    fix = Fix(name, words, "It has the headings", {"table": chosen})
    return TableMessage(state, "The first row is read as a row like the others.", words, fix=fix)
