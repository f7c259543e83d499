"""The steps of an import, for actions and jobs. Each locks the row and decides on its locked state."""

from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.errors import InputErrors, Refusal
from apps.corpus.core.columns import TableChoice
from apps.corpus.enums import ImportState
from apps.corpus.execution.import_reading import faulty_plan, take_in
from apps.corpus.models import Import, RememberedColumns
from apps.corpus.selectors.columns import headings_digest
from apps.corpus.selectors.import_kinds import kind_named
from apps.jobs.actions.uploads import mark_used


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
    mark_used(upload_id=item.upload_id, actor=actor, at=at)
    _remember_columns(item, actor, at)
    item.result = result.as_json()
    kind.remember(item, before)
    item.state, item.applied_by, item.applied_at = ImportState.APPLIED, actor, at
    item.save(update_fields=["result", "state", "applied_by", "applied_at"])
    after = {"kind": item.kind, "file": item.upload.filename, **result.counts}
    record(project=item.project, actor=actor, action="import.applied", obj=item, after=after, at=at)
    return item


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
