"""The intake of run files: handed in, read once, shown, and taken in as they were read.

Small files are read and taken in while a person waits, large ones by a job each.
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
from apps.retrieval import selectors
from apps.retrieval.enums import READ_FILE, RUN_IMPORT, TAKE_FILE
from apps.retrieval.execution.intake import ImportedRun, check_open, import_run, import_upload
from apps.retrieval.execution.run_reading import (
    draft_of_file,
    draft_of_rows,
    draft_of_text,
    is_read_at_once,
    reading_beside,
    reading_of,
)
from apps.retrieval.formats.runs import RunDraft
from apps.retrieval.rules import RunRefused

PUSHED = "run pushed over the API"


def hand_in_run(
    *,
    project: Project,
    snapshot: Snapshot,
    file: UploadedFile | BinaryIO,
    said: Mapping[str, str],
    actor: User,
    at: datetime,
) -> Upload:
    """Keep a run file and read it; a job does when it is large. Nothing of the project changes yet.

    `said` holds the system, tag, note and commit given along with it.
    """
    with written(file, at=at) as stored, transaction.atomic():
        kept = _keep(project, snapshot, stored, dict(said), actor, at)
        is_small = is_read_at_once(stored.file, snapshot)
        if not is_small:
            _enqueue(kept, READ_FILE, f"Read {kept.filename}", {}, actor, at)
    if is_small:
        reading_of(kept)
    return kept


def push_run(
    *,
    project: Project,
    snapshot: Snapshot,
    trec: str = "",
    rows: list[Any] | None = None,
    said: Mapping[str, str],
    skip_unknown: bool,
    at_once: bool,
    actor: User,
    at: datetime,
) -> ImportedRun | Job:
    """Take in a run that a machine sends, as text or as rows: `at_once`, or else kept and by the job returned."""
    if at_once:
        draft = _pushed_draft(trec, rows, said["tag"], project, snapshot)
        return import_run(
            project=project,
            snapshot=snapshot,
            draft=draft,
            origin=PUSHED.removeprefix("run "),
            skip_unknown=skip_unknown,
            actor=actor,
            at=at,
            **said,
        )
    body = trec if rows is None else json.dumps(rows)
    options = {**said, "form": "trec" if rows is None else "rows"}
    with written(io.BytesIO(body.encode()), filename=PUSHED, at=at) as stored, transaction.atomic():
        kept = _keep(project, snapshot, stored, options, actor, at)
        return _enqueue(kept, TAKE_FILE, "Import a pushed run", {"skip_unknown": skip_unknown}, actor, at)


def import_file(
    *,
    project: Project,
    snapshot: Snapshot,
    path: Path,
    said: Mapping[str, str],
    skip_unknown: bool,
    actor: User,
    at: datetime,
) -> ImportedRun:
    """Take in a run file that lies on this machine, with nobody asked between. Raises OSError."""
    return import_run(
        project=project,
        snapshot=snapshot,
        draft=draft_of_file(path, project=project, snapshot=snapshot),
        origin=path.name,
        skip_unknown=skip_unknown,
        actor=actor,
        at=at,
        **said,
    )


def confirm_upload(*, upload: Upload, skip_unknown: bool, actor: User, at: datetime) -> ImportedRun | Job:
    """Take in a file that was shown: a small one at once, a large one by the job returned."""
    check_open(upload)
    if "job" in upload.options:
        return ask_to_take(upload_id=upload.pk, skip_unknown=skip_unknown, actor=actor, at=at)
    draft = reading_of(upload)
    return import_upload(upload=upload, draft=draft, skip_unknown=skip_unknown, actor=actor, at=at)


@transaction.atomic
def ask_to_take(*, upload_id: int, skip_unknown: bool, actor: User, at: datetime) -> Job:
    """Have a job take in a large file that another has read. Asked twice, it is the same job."""
    kept = Upload.objects.select_for_update(of=("self",)).select_related("project").get(pk=upload_id)
    job = selectors.job_of_upload(kept)
    if kept.state != UploadState.STORED or job is None:
        raise RunRefused("This file is not waiting to be imported.", code="upload_closed")
    if job.kind == TAKE_FILE and not job.is_ended:
        return job
    if job.state != JobState.DONE:
        raise RunRefused("This file has not been read completely yet.", code="upload_unread")
    found = job.result or {}
    if found["is_spoilt"] or (found["errors_total"] and not skip_unknown):
        raise RunRefused("This file has mistakes. Fix them, or choose to leave out unknown ids.", code="run_faulty")
    return _enqueue(kept, TAKE_FILE, f"Import {kept.filename}", {"skip_unknown": skip_unknown}, actor, at)


@transaction.atomic
def discard_run_file(*, upload_id: int, actor: User, at: datetime) -> Upload:
    """Throw away a run file that is not going to be taken in, unless a job is at it."""
    kept = Upload.objects.select_for_update(of=("self",)).select_related("project").get(pk=upload_id)
    job = selectors.job_of_upload(kept)
    if job is not None and not job.is_ended:
        raise RunRefused("A job is working on this file. Wait for it, or cancel it first.", code="upload_busy")
    transaction.on_commit(remover(reading_beside(kept)), robust=True)
    return discard_upload(upload_id=kept.pk, actor=actor, at=at)


def _pushed_draft(trec: str, rows: list[Any] | None, tag: str, project: Project, snapshot: Snapshot) -> RunDraft:
    if rows is None:
        return draft_of_text(trec, project=project, snapshot=snapshot, name="trec")
    columns = ((row["query_id"], row["block_id"], row["score"]) for row in rows)
    return draft_of_rows(columns, tag=tag, project=project, snapshot=snapshot, name="rows")


def _keep(
    project: Project, snapshot: Snapshot, file: StoredUpload, options: dict[str, Any], actor: User, at: datetime
) -> Upload:
    options = {**options, "snapshot": snapshot.pk}
    return keep_upload(project=project, kind="run", purpose=RUN_IMPORT, file=file, options=options, actor=actor, at=at)


@transaction.atomic
def _enqueue(kept: Upload, kind: str, title: str, params: dict[str, Any], actor: User, at: datetime) -> Job:
    """Ask for a job about the file; the file knows the latest."""
    params = {"upload_id": kept.pk, **params}
    job = enqueue(kind=kind, params=params, project=kept.project, actor=actor, at=at, title=title[:200])
    kept.options = {**kept.options, "job": job.pk}
    kept.save(update_fields=["options"])
    return job
