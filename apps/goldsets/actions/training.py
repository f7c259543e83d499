"""Add a list of what a system was trained on, and retire it."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.goldsets import rules
from apps.goldsets.core.training import Entry, entries_digest
from apps.goldsets.enums import EntryKind
from apps.goldsets.models import TrainingEntry, TrainingManifest

BATCH = 2_000


class TrainingRefused(Refusal):
    """The training manifest cannot be added or retired."""


@transaction.atomic
def add_training_manifest(
    *, project: Project, name: str, file: str, entries: Collection[Entry], actor: User, at: datetime
) -> TrainingManifest:
    """Store what a system was trained on. From now on every draft of the project is checked against it."""
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    digest = entries_digest(entries)
    if reason := rules.training_refusal(project, name, digest):
        raise TrainingRefused(reason, code="training_refused")
    counted = Counter(entry.kind for entry in entries)
    manifest = TrainingManifest.objects.create(
        project=project,
        name=name,
        file=file[:255],
        digest=digest,
        counts={kind.value: counted[kind] for kind in EntryKind if counted[kind]},
        added_by=actor,
        added_at=at,
    )
    rows = (TrainingEntry(manifest=manifest, kind=kind, value=value) for kind, value in sorted(entries))
    TrainingEntry.objects.bulk_create(rows, batch_size=BATCH)
    after = {"name": name, "digest": digest, **manifest.counts}
    record(project=project, actor=actor, action="training.added", obj=manifest, after=after, at=at)
    return manifest


@transaction.atomic
def retire_training_manifest(*, manifest_id: int, actor: User, at: datetime) -> TrainingManifest:
    """Check no draft against it any more. It is kept, with what it lists."""
    manifest = TrainingManifest.objects.select_for_update(of=("self",)).select_related("project").get(pk=manifest_id)
    if reason := rules.retire_training_refusal(manifest):
        raise TrainingRefused(reason, code="training_retired")
    manifest.retired_by, manifest.retired_at = actor, at
    manifest.save(update_fields=["retired_by", "retired_at"])
    after = {"name": manifest.name, "digest": manifest.digest}
    record(project=manifest.project, actor=actor, action="training.retired", obj=manifest, after=after, at=at)
    return manifest
