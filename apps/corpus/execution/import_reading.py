"""Reads an import's file: for the preview, and again to apply it."""

from datetime import datetime
from typing import Any

from apps.accounts.models import User
from apps.common.errors import InputError, InputErrors
from apps.common.files.faults import ErrorList, as_row
from apps.common.files.tabular import open_source
from apps.corpus.core.import_plans import Fix, ImportPlan
from apps.corpus.models import Import
from apps.corpus.selectors.import_kinds import Progress, kind_named


def preview(item: Import, progress: Progress = lambda done: None) -> dict[str, Any]:
    """The plan as it is stored. A file that cannot be read at all has a plan with that one mistake."""
    plan = _planned(item, progress)
    if plan["errors_total"]:
        plan["fixes"] += [fix._asdict() for fix in _fixes(item)]
    return plan


def _planned(item: Import, progress: Progress) -> dict[str, Any]:
    kind = kind_named(item.kind)
    try:
        with open_source(item.upload.file, name=item.upload.filename) as source:
            return kind.preview(item.project, source, item.options, progress).as_json()
    except InputError as error:
        return faulty_plan([error])
    except InputErrors as errors:
        return faulty_plan(errors.errors)


def _fixes(item: Import) -> list[Fix]:
    try:
        with open_source(item.upload.file, name=item.upload.filename) as source:
            return kind_named(item.kind).fixes(source, item.options)
    except InputError:
        return []


def take_in(item: Import, *, actor: User, at: datetime) -> ImportPlan:
    """Apply the file, in the caller's transaction. Raises InputErrors."""
    try:
        with open_source(item.upload.file, name=item.upload.filename) as source:
            return kind_named(item.kind).apply(item.project, source, item.options, actor=actor, at=at)
    except InputError as error:
        raise InputErrors([error]) from error


def faulty_plan(errors: list[InputError]) -> dict[str, Any]:
    plan = ImportPlan([])
    listed = ErrorList()
    for error in errors:
        listed.add(error)
    plan.take_errors(listed)
    return plan.as_json() | {"errors": [as_row(error) for error in errors]}
