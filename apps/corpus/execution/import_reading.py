"""Reads an import's file for the preview, and again to apply it, and keeps the state of the import.

A table is opened with the choice of its columns, the same way for every kind of import.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice
from typing import Any, NamedTuple, Protocol

from django.db import connection, transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.errors import InputError, InputErrors, Refusal
from apps.common.files.anytable import AGAIN, BLANK, DRAWN, HEAD_ROWS, LETTERED, Table, open_table
from apps.common.files.faults import ErrorList, as_row
from apps.common.files.tabular import TableFile, open_source
from apps.common.text.wording import plural
from apps.corpus.core.documents import AS_DATA
from apps.corpus.core.documents import HEADINGS_FIRST as HEADINGS
from apps.corpus.core.import_plans import (
    SAMPLED_ROWS,
    ColumnRole,
    FirstRow,
    Fix,
    ImportPlan,
    TableChoice,
    first_row_of,
    propose_columns,
    usual_headings,
)
from apps.corpus.core.table_plans import DONE, SHOWN_ROWS, STOP, Reading, TableMessage, TableView
from apps.corpus.enums import ImportState
from apps.corpus.models import Import, RememberedColumns
from apps.corpus.selectors.import_kinds import (
    FileToImport,
    ImportKind,
    Progress,
    are_remembered,
    headings_digest,
    kind_named,
    settled_choice,
)
from apps.jobs.actions.uploads import StoredUpload, discard_upload, keep_upload, mark_used


def preview(item: Import, progress: Progress = lambda done: None) -> dict[str, Any]:
    """The plan as it is stored. A file that cannot be read at all has a plan with that one mistake."""
    plan = _planned(item, progress)
    if plan["errors_total"]:
        plan["fixes"] += [fix._asdict() for fix in _fixes(item)]
    return plan


def _planned(item: Import, progress: Progress) -> dict[str, Any]:
    kind = kind_named(item.kind)
    try:
        with open_source(item.upload.file_here(), name=item.upload.filename) as source:
            return kind.preview(FileToImport(item.project, source, item.options), progress).as_json()
    except InputError as error:
        return faulty_plan([error])
    except InputErrors as errors:
        return faulty_plan(errors.errors)


def _fixes(item: Import) -> list[Fix]:
    try:
        with open_source(item.upload.file_here(), name=item.upload.filename) as source:
            return kind_named(item.kind).fixes(source, item.options)
    except InputError:
        return []


@contextmanager
def prepared(item: Import, *, actor: User, at: datetime) -> Iterator[Any]:
    """What can be made of the file before the transaction that applies it (see `prepared_source`)."""
    with ExitStack() as stack:
        made = None
        with suppress(InputError):
            source = stack.enter_context(open_source(item.upload.file_here(), name=item.upload.filename))
            kind, file = kind_named(item.kind), FileToImport(item.project, source, item.options)
            made = stack.enter_context(prepared_source(kind, file, actor=actor, at=at))
        yield made


@contextmanager
def prepared_source(kind: ImportKind, file: FileToImport, *, actor: User, at: datetime) -> Iterator[Any]:
    """What can be made of a file before the transaction that applies it. The source is at its beginning, then again.

    None on PostgreSQL, which has no lock to keep short: there a file is read while the server stores what was read of
    it. None too for a file that cannot be read: the transaction says so, after it has seen whether it may be applied.
    """
    with ExitStack() as stack:
        made = None
        if connection.vendor == "sqlite":
            with suppress(InputError, InputErrors, Refusal):
                made = stack.enter_context(kind.prepared(file, actor=actor, at=at))
            file.source.rewind()
        yield made


def take_in(item: Import, *, actor: User, at: datetime, prepared: Any = None) -> ImportPlan:
    """Apply the file, in the caller's transaction. Raises InputErrors."""
    try:
        with open_source(item.upload.file_here(), name=item.upload.filename) as source:
            file = FileToImport(item.project, source, item.options)
            return kind_named(item.kind).apply(file, actor=actor, at=at, prepared=prepared)
    except InputError as error:
        raise InputErrors([error]) from error


def faulty_plan(errors: list[InputError]) -> dict[str, Any]:
    plan = ImportPlan([])
    listed = ErrorList()
    for error in errors:
        listed.add(error)
    plan.take_errors(listed)
    return plan.as_json() | {"errors": [as_row(error) for error in errors]}


class ImportRefused(Refusal):
    """The import is in the wrong state for this step."""


def locked(import_id: int) -> Import:
    return Import.objects.select_for_update(of=("self",)).select_related("upload", "project").get(pk=import_id)


@transaction.atomic
def keep_plan(*, import_id: int, plan: dict[str, Any], options: dict[str, Any]) -> Import:
    """Store the plan of the file, read with these options; with mistakes, the import becomes faulty.

    A plan of options that were changed while it was made is not stored: the file is being read again.
    """
    item = locked(import_id)
    if item.state == ImportState.READING and item.options == options:
        item.plan = plan
        item.state = ImportState.FAULTY if plan["errors_total"] else ImportState.READY
        item.save(update_fields=["plan", "state"])
    return item


@transaction.atomic
def apply_import(*, import_id: int, actor: User, at: datetime, prepared: Any = None) -> Import:
    """Apply the file: all rows in this transaction, or none. Raises InputErrors, and then nothing is changed.

    What was `prepared` of it before is made anew when it does not fit any more.
    """
    item = locked(import_id)
    if item.state not in {ImportState.READY, ImportState.APPLYING}:
        raise ImportRefused(f"This import {item.get_state_display()}.", code="import_not_ready")
    kind = kind_named(item.kind)
    prepared = kind.still_fitting(item.project, item.options, prepared)
    before = kind.before(item.project, item.options, prepared)
    result = take_in(item, actor=actor, at=at, prepared=prepared)
    close = mark_used if kind.keeps_file else discard_upload
    close(upload_id=item.upload_id, actor=actor, at=at)
    _remember_columns(item, actor, at)
    item.result = result.as_json()
    kind.remember(item, before)
    item.state, item.applied_by, item.applied_at = ImportState.APPLIED, actor, at
    item.save(update_fields=["result", "state", "applied_by", "applied_at"])
    after = {"kind": item.kind, "file": item.upload.filename, **result.counts}
    record(project=item.project, actor=actor, action="import.applied", obj=item, after=after, at=at)
    return item


@transaction.atomic
def keep_applied(
    *, file: FileToImport, kind: str, stored: StoredUpload, plan: ImportPlan, actor: User, at: datetime
) -> Import:
    """Keep what a command has just applied as an import with a page, for what is decided on it afterwards."""
    upload = keep_upload(
        project=file.project, kind=kind, purpose="import", file=stored, options=file.options, actor=actor, at=at
    )
    mark_used(upload_id=upload.pk, actor=actor, at=at)
    return Import.objects.create(
        project=file.project,
        kind=kind,
        upload=upload,
        options=file.options,
        state=ImportState.APPLIED,
        plan=plan.as_json(),
        result=plan.as_json(),
        created_by=actor,
        created_at=at,
        applied_by=actor,
        applied_at=at,
    )


def _remember_columns(item: Import, actor: User, at: datetime) -> None:
    """Keep what the columns of the table were for the next table with these headings, unless the person declines."""
    choice = TableChoice.from_json(item.options.get("table") or {})
    if not choice.columns or not choice.remember:
        return
    RememberedColumns.objects.update_or_create(
        project=item.project,
        kind=item.kind,
        headings=headings_digest(list(choice.columns)),
        defaults={"choice": choice.as_json() | {"answers": []}, "updated_by": actor, "updated_at": at},
    )


@transaction.atomic
def note_faults(*, import_id: int, errors: InputErrors) -> Import:
    """Mark an import as faulty that had no mistakes in the preview: the project has changed meanwhile."""
    item = locked(import_id)
    item.plan, item.state = faulty_plan(errors.errors), ImportState.FAULTY
    item.save(update_fields=["plan", "state"])
    return item


@transaction.atomic
def note_failure(*, import_id: int, reason: str) -> Import:
    item = locked(import_id)
    if item.state in {ImportState.READING, ImportState.APPLYING}:
        item.state, item.failure = ImportState.FAILED, reason
        item.save(update_fields=["state", "failure"])
    return item


HEADED, HEADLESS = "has-headings", "has-no-headings"
WAYS = {True: "The first row has the headings", False: "The first row is a row like the others"}
ASKED = "Does the first row have the headings, or is it a row like the others?"


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


NOT_READ = {
    AGAIN: ("row repeats the headings, and is not read.", "rows repeat the headings, and are not read."),
    DRAWN: ("row only draws a line, and is not read.", "rows only draw a line, and are not read."),
    BLANK: ("row is blank, and is not read.", "rows are blank, and are not read."),
}


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
    given = TableChoice.from_json(options.get("table") or {})
    errors, table = _opened(opener, source, given)
    messages = [TableMessage(DONE, note) for note in table.notes]
    doubtful: FirstRow | None = None
    if not table.known and not table.is_named:
        answer, first = _answer(given, options), FirstRow(True, True, "")
        if not are_remembered(project, kind, table.headings) and not set(given.columns) & set(table.headings):
            seen = list(islice(table.rows, SAMPLED_ROWS))
            first = first_row_of(roles, table.headings, [cells for _, cells in seen])
            table = table._replace(rows=chain(seen, table.rows))
        are_headings = answer == HEADED or (first.are_headings and answer != HEADLESS)
        if not are_headings:
            errors, table = _opened(opener, source, given, has_headings=False)
            messages = [TableMessage(DONE, note) for note in table.notes]
        if answer or not (first.are_headings and first.is_sure):
            messages.append(_about_headings(given, first, answer, are_headings=are_headings))
        doubtful = None if answer or first.is_sure else first
    lines = list(table.rows)
    cells = [cells for _, cells in lines]
    for group in errors.warning_groups:
        title = plural(group.count, *NOT_READ[group.message])
        places = [f"line {one.line}" for one in errors.warnings if one.message == group.message]
        messages.append(TableMessage(DONE, title, "", places))
    if not table.line and (late := _late_headings(roles, lines)):
        messages.append(TableMessage(STOP, f"Line {late} looks like the headings. Remove it, or the rows above it."))
    settled = settled_choice(
        project, kind, roles, table.headings, cells, options, known=table.known, is_headless=not table.line
    )
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
        readings=_readings(source, given, roles, doubtful) if doubtful else (),
    )
    return OpenedTable(lines, view, errors)


def _late_headings(roles: Sequence[ColumnRole], lines: Sequence[tuple[int, list[str]]]) -> int | None:
    """The line of a row with the headings of a table that is read as one without any: two of them, or nothing else."""
    for line, cells in lines[:HEAD_ROWS]:
        usual = usual_headings(roles, cells)
        if len(usual) > 1 or (usual and len(cells) > 1 and usual == [cell for cell in cells if cell.strip()]):
            return line
    return None


def _opened(
    opener: Opener, source: TableFile, given: TableChoice, *, has_headings: bool = True
) -> tuple[ErrorList, Table]:
    """The table from its beginning, and the mistakes in its rows."""
    source.rewind()
    errors = ErrorList()
    if has_headings:
        return errors, opener(source, errors, sheet=given.sheet)
    return errors, open_table(source, errors, sheet=given.sheet, has_headings=False)


def _answer(given: TableChoice, options: Mapping[str, Any]) -> str:
    """What a person has said of the first row: on the page, with the upload, or by naming columns by letters."""
    said = {HEADINGS: HEADED, AS_DATA: HEADLESS}.get(options.get("first_row", ""), "")
    if any(heading.startswith(f"{LETTERED} ") for heading in given.columns):
        said = HEADLESS
    return next((name for name in (HEADED, HEADLESS) if name in given.answers), said)


def _taken_as(given: TableChoice, name: str) -> dict[str, Any]:
    """The options in which the first row was said to be this."""
    answers = (*(one for one in given.answers if one not in {HEADED, HEADLESS}), name)
    return {"table": replace(given, columns={}, grades={}, answers=answers).as_json()}


def _about_headings(given: TableChoice, first: FirstRow, answer: str, *, are_headings: bool) -> TableMessage:
    """What the first row was taken for, and the button for the other; a question where that is not sure."""
    name = HEADLESS if are_headings else HEADED
    if not answer and not first.is_sure:
        return TableMessage(STOP, ASKED, "")
    button = "It is a row like the others" if are_headings else "It has the headings"
    title = f"The first row is read as {'the headings' if are_headings else 'a row like the others'}."
    reason = "" if answer else f" {first.reason}"
    return TableMessage(DONE, f"{title}{reason}", fix=Fix(name, "", button, _taken_as(given, name)))


def _readings(source: TableFile, given: TableChoice, roles: Sequence[ColumnRole], first: FirstRow) -> list[Reading]:
    """The two ways to read the table, the likelier one first, each with its first rows."""
    titles = {role.name: role.title for role in roles}
    found = []
    for name, has_headings in ((HEADED, True), (HEADLESS, False)):
        _, table = _opened(open_table, source, given, has_headings=has_headings)
        rows = [cells for _, cells in table.rows]
        columns = propose_columns(roles, table.headings, rows, is_headless=not has_headings)
        is_likely = has_headings == first.are_headings
        found.append(
            Reading(
                fix=Fix(name, WAYS[has_headings], "Read it so", _taken_as(given, name)),
                rows=len(rows),
                reason=first.reason if is_likely else first.doubt,
                against=first.doubt if is_likely else first.reason,
                headings=[titles.get(columns[heading], "not imported") for heading in table.headings],
                sample=[list(cells) for cells in rows[:SHOWN_ROWS]],
            )
        )
    return sorted(found, key=lambda one: (one.fix.name == HEADED) != first.are_headings)
