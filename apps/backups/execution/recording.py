"""The record of backups."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from django.db import transaction

from apps.audit.actions import record
from apps.backups.execution.making import WrittenBackup, place_on_record
from apps.backups.models import Backup


@transaction.atomic
def note_backup(*, backup: WrittenBackup, at: datetime, job_id: int | None = None, is_verified: bool = False) -> Backup:
    """Put a backup on record, so that people see how old the last good one is.

    One on record with the same path is gone: somebody has removed its file, since nothing is overwritten.
    """
    note_removed(paths=[backup.path], at=at)
    manifest = backup.manifest
    made = Backup.objects.create(
        path=backup.where,
        made_at=manifest.made_at,
        size=backup.size,
        rows=manifest.rows,
        digest=manifest.digest,
        verified_at=at if is_verified else None,
        job_id=job_id,
    )
    after = {"size": made.size, "rows": made.rows, "digest": made.digest, "verified": is_verified}
    record(project=None, actor=None, action="backup.made", obj=made, after=after, at=at)
    return made


@transaction.atomic
def note_removed(*, paths: Sequence[Path | str], at: datetime) -> None:
    """Put on record that these files were removed."""
    for gone in Backup.objects.select_for_update().filter(
        path__in=[place_on_record(path) for path in paths], removed_at=None
    ):
        gone.removed_at = at
        gone.save(update_fields=["removed_at"])
        record(project=None, actor=None, action="backup.removed", obj=gone, at=at)
