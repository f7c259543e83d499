"""Importing runs: a file is uploaded, read once, previewed, and imported as it was read.

Small files are read and imported in the request, large ones by jobs.
"""

import io
import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from apps.accounts.models import Project, User
from apps.corpus.models import Snapshot
from apps.jobs.actions.jobs import enqueue
from apps.jobs.actions.uploads import StoredUpload, discard_upload, keep_upload, remover, written
from apps.jobs.enums import JobState, UploadState
from apps.jobs.models import Job, Upload
from apps.retrieval.enums import IMPORT_FILE, READ_FILE, RUN_IMPORT
from apps.retrieval.execution.intake import ImportedRun, check_open, facts_of_upload, import_run, import_upload
from apps.retrieval.execution.run_reading import (
    check_tag,
    draft_of_file,
    draft_of_objects,
    draft_of_text,
    is_read_at_once,
    reading_of,
    reading_path,
)
from apps.retrieval.rules import RunRefused, check_lengths
from apps.retrieval.selectors.runs import job_of_upload

PUSHED = "run pushed over the API"


def upload_run(
    *,
    project: Project,
    snapshot: Snapshot,
    file: UploadedFile | BinaryIO,
    details: Mapping[str, Any],
    usage: Mapping[str, Any] | None = None,
    actor: User,
    at: datetime,
) -> Upload:
    """Store a run file and read it, in a job when it is large. Nothing is imported yet.

    `details` are the given system, tag, note and commit, and below which score the run has no answer; `usage` is what
    it used.
    """
    with written(file, at=at) as stored, transaction.atomic():
        upload = _store_upload(project, snapshot, stored, {**details, "usage": usage}, actor, at)
        is_small = is_read_at_once(stored.place, snapshot)
        if not is_small:
            _enqueue(upload, READ_FILE, f"Read {upload.filename}", {}, actor, at)
    if is_small:
        reading_of(upload)
    return upload


def push_run(
    *,
    project: Project,
    snapshot: Snapshot,
    trec: str = "",
    rows: list[Any] | None = None,
    results: list[Any] | None = None,
    details: Mapping[str, Any],
    usage: Mapping[str, Any] | None = None,
    skip_unknown: bool,
    at_once: bool,
    actor: User,
    at: datetime,
) -> ImportedRun | Job:
    """Import a run that a client sends as text, rows or results: now with `at_once`, otherwise by the job returned."""
    sent = rows if results is None else results
    form = "trec" if sent is None else "rows" if results is None else "results"
    if at_once:
        if sent is None:
            draft = draft_of_text(trec, project=project, snapshot=snapshot)
        else:
            draft = draft_of_objects(form, sent, tag=details["tag"], project=project, snapshot=snapshot)
        return import_run(
            project=project,
            snapshot=snapshot,
            draft=draft,
            origin=PUSHED.removeprefix("run "),
            usage=usage,
            skip_unknown=skip_unknown,
            actor=actor,
            at=at,
            **details,
        )
    body = trec if sent is None else json.dumps(sent)
    options = {**details, "usage": usage, "form": form}
    with written(io.BytesIO(body.encode()), filename=PUSHED, at=at) as stored, transaction.atomic():
        upload = _store_upload(project, snapshot, stored, options, actor, at)
        return _enqueue(upload, IMPORT_FILE, "Import a pushed run", {"skip_unknown": skip_unknown}, actor, at)


def import_file(
    *,
    project: Project,
    snapshot: Snapshot,
    path: Path,
    details: Mapping[str, Any],
    usage: Mapping[str, Any] | None = None,
    skip_unknown: bool,
    actor: User,
    at: datetime,
) -> ImportedRun:
    """Import a run file on this machine, without a preview. Raises OSError when it cannot be read."""
    return import_run(
        project=project,
        snapshot=snapshot,
        draft=draft_of_file(path, project=project, snapshot=snapshot),
        origin=path.name,
        usage=usage,
        skip_unknown=skip_unknown,
        actor=actor,
        at=at,
        **details,
    )


def confirm_upload(
    *, upload: Upload, skip_unknown: bool, tag: str = "", actor: User, at: datetime
) -> ImportedRun | Job:
    """Import a file after its preview: a small one now, a large one by the job returned.

    A `tag` replaces the one given at the upload; the system stays the one of the preview.
    """
    check_open(upload)
    if tag.strip():
        upload = _tagged(upload_id=upload.pk, tag=tag.strip())
    if "job" in upload.options:
        return request_import(upload_id=upload.pk, skip_unknown=skip_unknown, actor=actor, at=at)
    draft = reading_of(upload)
    return import_upload(upload=upload, draft=draft, skip_unknown=skip_unknown, actor=actor, at=at)


@transaction.atomic
def _tagged(*, upload_id: int, tag: str) -> Upload:
    """Give the run of a file another tag than the file's, before it is imported. Raises RunRefused and TooLong."""
    check_lengths(tag=tag)
    upload = Upload.objects.select_for_update(of=("self",)).select_related("project").get(pk=upload_id)
    facts = facts_of_upload(upload)
    earlier = upload.options["tag"] or facts.get("tag", "")
    if upload.state != UploadState.STORED:
        return upload
    if tag != earlier or ("job" in upload.options and not facts.get("same_run")):
        check_tag(upload.project_id, tag)  # before a job is queued that would fail
    if tag != earlier:
        upload.options = {**upload.options, "system": upload.options["system"] or earlier, "tag": tag}
        upload.save(update_fields=["options"])
    return upload


@transaction.atomic
def request_import(*, upload_id: int, skip_unknown: bool, actor: User, at: datetime) -> Job:
    """Queue the import of a large file that a job has read. A second request returns the same job."""
    upload = Upload.objects.select_for_update(of=("self",)).select_related("project").get(pk=upload_id)
    job = job_of_upload(upload)
    if upload.state != UploadState.STORED or job is None:
        raise RunRefused("This file was imported or discarded already. Upload it again.", code="upload_closed")
    if job.kind == IMPORT_FILE and not job.is_ended:
        return job
    if job.state != JobState.DONE:
        raise RunRefused("This file has not been read completely yet. Wait for its job to end.", code="upload_unread")
    facts = job.result or {}
    if facts["is_spoilt"] or (facts["errors_total"] and not skip_unknown):
        raise RunRefused("This file has mistakes. Fix them, or choose to leave out unknown ids.", code="run_faulty")
    return _enqueue(upload, IMPORT_FILE, f"Import {upload.filename}", {"skip_unknown": skip_unknown}, actor, at)


@transaction.atomic
def discard_run_file(*, upload_id: int, actor: User, at: datetime) -> Upload:
    """Delete a run file that will not be imported. Raises RunRefused while a job works on it."""
    upload = Upload.objects.select_for_update(of=("self",)).select_related("project").get(pk=upload_id)
    job = job_of_upload(upload)
    if job is not None and not job.is_ended:
        raise RunRefused("A job is working on this file. Wait for it, or cancel it first.", code="upload_busy")
    transaction.on_commit(remover(reading_path(upload)), robust=True)
    return discard_upload(upload_id=upload.pk, actor=actor, at=at)


def _store_upload(
    project: Project, snapshot: Snapshot, file: StoredUpload, options: dict[str, Any], actor: User, at: datetime
) -> Upload:
    options = {**options, "snapshot": snapshot.pk}
    return keep_upload(project=project, kind="run", purpose=RUN_IMPORT, file=file, options=options, actor=actor, at=at)


@transaction.atomic
def _enqueue(upload: Upload, kind: str, title: str, params: dict[str, Any], actor: User, at: datetime) -> Job:
    """Queue a job for the file and store its id in the upload's options."""
    params = {"upload_id": upload.pk, **params}
    job = enqueue(kind=kind, params=params, project=upload.project, actor=actor, at=at, title=title[:200])
    upload.options = {**upload.options, "job": job.pk}
    upload.save(update_fields=["options"])
    return job
