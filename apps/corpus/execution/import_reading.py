"""Reads an import's file: for the preview, and again to apply it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from typing import Any

from django.db import connection

from apps.accounts.models import Project, User
from apps.common.errors import InputError, InputErrors, Refusal
from apps.common.files.faults import ErrorList, as_row
from apps.common.files.tabular import TableFile, open_source
from apps.corpus.core.import_plans import Fix, ImportPlan
from apps.corpus.models import Import
from apps.corpus.selectors.import_kinds import ImportKind, Progress, kind_named
from apps.jobs.execution.uploaded import file_of


def preview(item: Import, progress: Progress = lambda done: None) -> dict[str, Any]:
    """The plan as it is stored. A file that cannot be read at all has a plan with that one mistake."""
    plan = _planned(item, progress)
    if plan["errors_total"]:
        plan["fixes"] += [fix._asdict() for fix in _fixes(item)]
    return plan


def _planned(item: Import, progress: Progress) -> dict[str, Any]:
    kind = kind_named(item.kind)
    try:
        with open_source(file_of(item.upload), name=item.upload.filename) as source:
            return kind.preview(item.project, source, item.options, progress).as_json()
    except InputError as error:
        return faulty_plan([error])
    except InputErrors as errors:
        return faulty_plan(errors.errors)


def _fixes(item: Import) -> list[Fix]:
    try:
        with open_source(file_of(item.upload), name=item.upload.filename) as source:
            return kind_named(item.kind).fixes(source, item.options)
    except InputError:
        return []


@contextmanager
def prepared(item: Import, *, actor: User, at: datetime) -> Iterator[Any]:
    """What can be made of the file before the transaction that applies it (see `prepared_source`)."""
    with ExitStack() as stack:
        made = None
        with suppress(InputError):
            source = stack.enter_context(open_source(file_of(item.upload), name=item.upload.filename))
            kind = kind_named(item.kind)
            made = stack.enter_context(prepared_source(kind, item.project, source, item.options, actor=actor, at=at))
        yield made


@contextmanager
def prepared_source(
    kind: ImportKind, project: Project, source: TableFile, options: dict[str, Any], *, actor: User, at: datetime
) -> Iterator[Any]:
    """What can be made of a file before the transaction that applies it. The source is at its beginning, then again.

    None on PostgreSQL, which has no lock to keep short: there a file is read while the server stores what was read of
    it. None too for a file that cannot be read: the transaction says so, after it has seen whether it may be applied.
    """
    with ExitStack() as stack:
        made = None
        if connection.vendor == "sqlite":
            with suppress(InputError, InputErrors, Refusal):
                made = stack.enter_context(kind.prepared(project, source, options, actor=actor, at=at))
            source.rewind()
        yield made


def take_in(item: Import, *, actor: User, at: datetime, prepared: Any = None) -> ImportPlan:
    """Apply the file, in the caller's transaction. Raises InputErrors."""
    try:
        with open_source(file_of(item.upload), name=item.upload.filename) as source:
            kind = kind_named(item.kind)
            return kind.apply(item.project, source, item.options, actor=actor, at=at, prepared=prepared)
    except InputError as error:
        raise InputErrors([error]) from error


def faulty_plan(errors: list[InputError]) -> dict[str, Any]:
    plan = ImportPlan([])
    listed = ErrorList()
    for error in errors:
        listed.add(error)
    plan.take_errors(listed)
    return plan.as_json() | {"errors": [as_row(error) for error in errors]}
