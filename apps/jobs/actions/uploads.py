"""Storage of uploaded files: under generated names, with a size cap and a digest, streamed; and the store of several
hosts, kept in step with the rows that name its files.
"""

import hashlib
import os
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.shortcuts import get_object_or_404

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.database.bulk import chunks
from apps.common.errors import Refusal
from apps.common.files import store
from apps.common.files.buckets import BucketAway
from apps.jobs.enums import UploadState
from apps.jobs.execution.periodic import periodic_task
from apps.jobs.models import Upload

PIECE = 1024 * 1024
FILENAME_LENGTH = 255
FOLDER = "uploads"


class UploadRefused(Refusal):
    """A file that is not stored."""


class StoredUpload(NamedTuple):
    """A file on disk without a row yet."""

    path: str
    filename: str
    sha256: str
    size: int

    @property
    def place(self) -> Path:
        return store.path_of(self.path)


@contextmanager
def written(file: UploadedFile | BinaryIO, *, filename: str = "", at: datetime) -> Iterator[StoredUpload]:
    """Stream a file to disk and to the store of all hosts, under a generated name, before any transaction is open.

    In the block, `keep_upload` writes its row, in one transaction with the job that reads it, so that no file remains
    without a job. On any exception the file is deleted. `filename` is only shown; the uploaded file's own by default.
    Raises UploadRefused for an empty file and for one above `settings.UPLOAD_MAX_BYTES`, and BucketAway.
    """
    path = f"{FOLDER}/{at:%Y-%m}/{uuid.uuid4().hex}"
    try:
        sha256, size = _write(store.path_of(path), _pieces(file))
        store.keep(path)
        yield StoredUpload(path, shown_name(filename or getattr(file, "name", "") or ""), sha256, size)
    except BaseException:
        with suppress(BucketAway):  # what stays there has no row, and is swept
            store.remove(path)
        raise


@transaction.atomic
def keep_upload(
    *,
    project: Project,
    kind: str,
    purpose: str,
    file: StoredUpload,
    options: dict[str, Any] | None = None,
    actor: User | None,
    at: datetime,
) -> Upload:
    """Write the row of a file on disk. `kind` is its content ("corpus", "run"), `purpose` its use."""
    upload = Upload.objects.create(
        project=project,
        kind=kind,
        purpose=purpose,
        options=options or {},
        created_by=actor,
        created_at=at,
        **file._asdict(),
    )
    after = {"kind": upload.kind, "sha256": upload.sha256, "size": upload.size}
    record(project=project, actor=actor, action="upload.stored", obj=upload, after=after, at=at)
    return upload


@transaction.atomic
def mark_used(*, upload_id: int, actor: User | None, at: datetime) -> Upload:
    """Mark the file's content as imported. The file stays as evidence."""
    return _close(upload_id, UploadState.USED, actor, at)


@transaction.atomic
def discard_upload(*, upload_id: int, actor: User | None, at: datetime) -> Upload:
    """Delete an unused file; its row stays as a record."""
    upload = _close(upload_id, UploadState.DISCARDED, actor, at)
    transaction.on_commit(partial(store.remove, upload.path), robust=True)
    return upload


def upload_in(project: Project, pk: int) -> Upload:
    """The upload, when it belongs to this project; Http404 otherwise."""
    return get_object_or_404(Upload, project=project, pk=pk)


def shown_name(name: str) -> str:
    """The file's name as the person gave it: the last part of the path, in one line of printable characters."""
    last = name.replace("\\", "/").rpartition("/")[2]
    clean = "".join(letter for letter in last if letter.isprintable()).strip()
    return clean[:FILENAME_LENGTH] or "unnamed"


def remover(path: Path) -> Callable[[], None]:
    return lambda: path.unlink(missing_ok=True)


def _pieces(file: UploadedFile | BinaryIO) -> Iterator[bytes]:
    if isinstance(file, UploadedFile):
        yield from file.chunks(PIECE)
    else:
        yield from iter(lambda: file.read(PIECE), b"")


def _write(target: Path, pieces: Iterator[bytes]) -> tuple[str, int]:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as out:
        for piece in pieces:
            size += len(piece)
            if size > settings.UPLOAD_MAX_BYTES:
                limit = f"{settings.UPLOAD_MAX_BYTES / 1024**2:,.0f}"
                raise UploadRefused(f"The file is larger than {limit} MiB. Split it.", code="file_too_large")
            digest.update(piece)
            out.write(piece)
        out.flush()
        os.fsync(out.fileno())
    if size == 0:
        raise UploadRefused("The file is empty.", code="file_empty")
    return digest.hexdigest(), size


def _close(upload_id: int, state: UploadState, actor: User | None, at: datetime) -> Upload:
    upload = Upload.objects.select_for_update().get(pk=upload_id)
    if upload.state == state:
        return upload
    if upload.state != UploadState.STORED:
        raise UploadRefused(f"This file has been {upload.get_state_display()}.", code="upload_closed")
    upload.state = state
    upload.save(update_fields=["state"])
    record(
        project=upload.project,
        actor=actor,
        action=f"upload.{state}",
        obj=upload,
        before={"state": UploadState.STORED},
        after={"state": state},
        at=at,
    )
    return upload


AT_ONCE = 1_000
UNNAMED_FOR = timedelta(days=7)
"""A file is in the store before its row is committed; and an operator who restores an older backup has a week."""


class Filled(NamedTuple):
    """How many files were sent, and how many were there; and the names of those that neither has."""

    sent: int
    there: int
    missing: list[str]


@periodic_task("jobs.shared_files", every=timedelta(days=1))
def remove_unnamed(at: datetime) -> None:
    """Remove from the store what no row names: what a killed process has left. Raises BucketAway and Refusal."""
    if (shared := store.bucket()) is None:
        return
    if not store.is_ours(shared):
        raise Refusal(f"{shared.address} is the store of another server. Nothing is removed.", code="store_of_another")
    old = (each.name for each in store.stored() if each.at < at - UNNAMED_FOR)
    for names in chunks(old, AT_ONCE):
        store.remove(*sorted(set(names) - _named(names)))


def fill_store() -> Filled:
    """Send what this host has and the store lacks. Raises Refusal where there is none, or it is another server's."""
    if (shared := store.bucket()) is None:
        raise Refusal("There is no store. Set KARAT_STORE to s3://BUCKET/FOLDER first.", code="no_store")
    if not store.is_ours(shared):
        raise Refusal(f"{shared.address} is the store of another server. Nothing was sent.", code="store_of_another")
    there = {each.name for each in store.stored()}
    paths = Upload.objects.exclude(state=UploadState.DISCARDED).order_by("pk").values_list("path", flat=True)
    sent, missing = 0, []
    for path in paths.iterator():
        if path in there:
            continue
        if store.path_of(path).exists():
            store.keep(path)
            sent += 1
        else:
            missing.append(path)
    return Filled(sent, len(there), missing)


def _named(paths: Iterable[str]) -> set[str]:
    rows = Upload.objects.filter(path__in=paths).exclude(state=UploadState.DISCARDED)
    return set(rows.values_list("path", flat=True))
