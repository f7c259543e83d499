"""Actions on an import: upload a file for a preview, read it again in another way, confirm it, discard it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.errors import InputErrors
from apps.corpus.core.import_plans import TableChoice
from apps.corpus.enums import ImportState
from apps.corpus.execution import import_reading, jobs
from apps.corpus.execution.document_reading import reading_path
from apps.corpus.execution.import_reading import ImportRefused, preview
from apps.corpus.models import Import
from apps.corpus.rules import ended_refusal, undo_refusal
from apps.corpus.selectors.corpora import left_unread
from apps.corpus.selectors.import_kinds import kind_named
from apps.jobs.actions.jobs import enqueue
from apps.jobs.actions.uploads import StoredUpload, discard_upload, keep_upload, remover, written
from apps.jobs.execution.periodic import periodic_task

APPLY_AT_ONCE_ROWS = 2_000


def start_import(
    *,
    project: Project,
    kind: str,
    file: UploadedFile,
    options: dict[str, Any],
    actor: User,
    at: datetime,
) -> Import:
    """Store the file and read it: at once when it is small, else in a job. Nothing else changes yet."""
    with written(file, at=at) as stored:
        item = _start(project=project, kind=kind, file=stored, options=options, actor=actor, at=at)
    if item.job_id is None:
        item = import_reading.keep_plan(import_id=item.pk, plan=preview(item), options=options)
    return item


@transaction.atomic
def _start(
    *, project: Project, kind: str, file: StoredUpload, options: dict[str, Any], actor: User, at: datetime
) -> Import:
    """Write the rows of the upload and the import, and queue the job that reads a large file."""
    upload = keep_upload(project=project, kind=kind, purpose="import", file=file, options=options, actor=actor, at=at)
    item = Import.objects.create(
        project=project, kind=kind, upload=upload, options=options, created_by=actor, created_at=at
    )
    _enqueue_reading_if_large(item, actor, at)
    return item


def change_options(*, import_id: int, options: dict[str, Any], actor: User, at: datetime) -> Import:
    """Read the stored file again with other options: at once when it is small, else in a job.

    For an import that waits for confirmation or has mistakes, also while a request reads it by earlier options: the
    last choice counts. The file is not uploaded again.
    """
    return _read_again(_reopen(import_id=import_id, choose=lambda item: options, actor=actor, at=at))


def take_fix(*, import_id: int, name: str, actor: User, at: datetime) -> Import:
    """Read the stored file again as a fix of its plan proposes."""

    def proposed(item: Import) -> dict[str, Any]:
        fix = next((fix for fix in item.plan.get("fixes", []) if fix["name"] == name), None)
        if fix is None:
            message = "This is no longer proposed: the file has been read in another way meanwhile. Open it again."
            raise ImportRefused(message, code="fix_unknown")
        return {**item.options, **fix["options"]}

    return _read_again(_reopen(import_id=import_id, choose=proposed, actor=actor, at=at))


def choose_columns(
    *,
    import_id: int,
    choice: TableChoice,
    is_final: bool,
    beside: Mapping[str, Any] = MappingProxyType({}),
    actor: User,
    at: datetime,
) -> Import:
    """Read the table by these choices; or import it, when they are those of its preview and `is_final`.

    What is imported is therefore always what was shown. `beside` are options for which the file is not read again.
    """
    if settled := _settle_table(
        import_id=import_id, choice=choice, beside=beside, is_final=is_final, actor=actor, at=at
    ):
        return settled

    def chosen(item: Import) -> dict[str, Any]:
        return {**item.options, **beside, "table": choice.as_json()}

    return _read_again(_reopen(import_id=import_id, choose=chosen, actor=actor, at=at))


@transaction.atomic
def _settle_table(
    *, import_id: int, choice: TableChoice, beside: Mapping[str, Any], is_final: bool, actor: User, at: datetime
) -> Import | None:
    """Keep the choices of a table that is ready and was shown with these columns; if they are final, import it."""
    item = import_reading.locked(import_id)
    shown = TableChoice.from_json(item.plan.get("table", {}).get("choice", {}))
    is_changed = any(item.options.get(name) != value for name, value in beside.items())
    is_shown = item.state == ImportState.READY and replace(shown, remember=choice.remember) == choice
    if not is_shown or not (is_final or is_changed):
        return None
    item.options = {**item.options, **beside, "table": choice.as_json()}
    item.save(update_fields=["options"])
    return confirm_import(import_id=item.pk, actor=actor, at=at) if is_final and not is_changed else item


def _read_again(item: Import) -> Import:
    if item.job_id is None:
        item = import_reading.keep_plan(import_id=item.pk, plan=preview(item), options=item.options)
    return item


@transaction.atomic
def _reopen(*, import_id: int, choose: Callable[[Import], dict[str, Any]], actor: User, at: datetime) -> Import:
    item = import_reading.locked(import_id)
    is_being_read = item.state == ImportState.READING and item.job_id is None
    if item.state not in {ImportState.READY, ImportState.FAULTY} and not is_being_read:
        raise ImportRefused(f"This import {_is(item)}; its file is not read again.", code="import_not_waiting")
    before, after = item.options, choose(item)
    item.options, item.state, item.plan, item.job = after, ImportState.READING, {}, None
    item.save(update_fields=["options", "state", "plan", "job"])
    record(
        project=item.project,
        actor=actor,
        action="import.options_changed",
        obj=item,
        before=before,
        after=after,
        at=at,
    )
    _enqueue_reading_if_large(item, actor, at)
    return item


@transaction.atomic
def read_in_job(*, import_id: int, at: datetime) -> Import:
    """Queue a job for a file whose reading was interrupted, for example by a restart of the server."""
    item = import_reading.locked(import_id)
    if item.state == ImportState.READING and item.job_id is None:
        _enqueue_reading(item, item.created_by, at)
    return item


@transaction.atomic
def confirm_import(*, import_id: int, actor: User, at: datetime) -> Import:
    """Apply the import: at once when it is small, else in a job.

    When the project has changed since the preview so that the file has mistakes now, the import becomes faulty and
    lists them.
    """
    item = import_reading.locked(import_id)
    if item.state != ImportState.READY:
        raise ImportRefused(f"This import {_is(item)}; there is nothing to confirm.", code="import_not_ready")
    if item.plan["rows"] > APPLY_AT_ONCE_ROWS or not item.upload.is_near:
        item.state = ImportState.APPLYING
        item.save(update_fields=["state"])
        title = f"{kind_named(item.kind).title}: {item.title}"
        _enqueue(item, jobs.APPLY, title, actor, at)
        return item
    try:
        return import_reading.apply_import(import_id=item.pk, actor=actor, at=at)
    except InputErrors as errors:
        return import_reading.note_faults(import_id=item.pk, errors=errors)


@transaction.atomic
def discard_import(*, import_id: int, actor: User, at: datetime) -> Import:
    """Discard an import and delete its file; nothing else changes."""
    item = import_reading.locked(import_id)
    if item.state not in {ImportState.READY, ImportState.FAULTY, ImportState.FAILED}:
        raise ImportRefused(f"This import {_is(item)}; it cannot be discarded.", code="import_not_waiting")
    discard_upload(upload_id=item.upload_id, actor=actor, at=at)
    transaction.on_commit(remover(reading_path(item.upload.place)), robust=True)
    item.state = ImportState.DISCARDED
    item.save(update_fields=["state"])
    record(project=item.project, actor=actor, action="import.discarded", obj=item, at=at)
    return item


@transaction.atomic
def undo_import(*, import_id: int, actor: User, at: datetime) -> Import:
    """Put back what an applied import has changed, while nothing rests on it."""
    item = import_reading.locked(import_id)
    if reason := undo_refusal(item):
        raise ImportRefused(reason, code="import_not_undone")
    kind_named(item.kind).undo(item, actor=actor, at=at)
    item.undone_by, item.undone_at = actor, at
    item.save(update_fields=["undone_by", "undone_at"])
    record(project=item.project, actor=actor, action="import.undone", obj=item, at=at)
    return item


@transaction.atomic
def undo_untouched(*, import_id: int, actor: User, at: datetime) -> Import:
    """Undo of an import what nobody has touched since. Its record says how much stayed."""
    item = import_reading.locked(import_id)
    if reason := ended_refusal(item):
        raise ImportRefused(reason, code="import_not_undone")
    stayed = kind_named(item.kind).undo_untouched(item, actor=actor, at=at)
    item.undone_by, item.undone_at, item.result = actor, at, {**item.result, "stayed": stayed}
    item.save(update_fields=["undone_by", "undone_at", "result"])
    record(project=item.project, actor=actor, action="import.undone", obj=item, after={"stayed": stayed}, at=at)
    return item


def _enqueue_reading_if_large(item: Import, actor: User, at: datetime) -> None:
    kind, file = kind_named(item.kind), item.upload
    if not (file.is_near and kind.is_read_at_once(file.file_here(), file.filename, item.options)):
        _enqueue_reading(item, actor, at)


def _enqueue_reading(item: Import, actor: User, at: datetime) -> None:
    _enqueue(item, jobs.READ, f"Read {item.title}", actor, at)


def _enqueue(item: Import, kind: str, title: str, actor: User, at: datetime) -> None:
    params = {"import_id": item.pk}
    item.job = enqueue(kind=kind, params=params, project=item.project, actor=actor, at=at, title=title[:200])
    item.save(update_fields=["job"])


def _is(item: Import) -> str:
    words = item.outcome
    return words if words.startswith(("has ", "waits ")) and item.state == ImportState.FAULTY else f"is {words}"


PATIENCE = timedelta(minutes=10)
"""Longer than a request may last: until then the file may still be being read."""


@periodic_task("corpus.unread", every=timedelta(minutes=10))
def read_what_was_left(at: datetime) -> None:
    for pk in left_unread(at - PATIENCE):
        read_in_job(import_id=pk, at=at)
