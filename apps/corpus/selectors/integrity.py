"""Checks frozen snapshots for changes: recomputes every digest from the present rows."""

from collections.abc import Iterator

from django.db.models import OuterRef, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Coalesce

from apps.accounts.models import Project
from apps.audit.selectors.events import recorded_digests, recorded_objects
from apps.corpus.core.digests import (
    SnapshotEntry,
    block_digests,
    metadata_digest,
    older_snapshot_digest,
    snapshot_digest,
)
from apps.corpus.models import BlockVersion, Snapshot, SnapshotBlock, SnapshotDocument

CHUNK = 2_000


class Forged(Exception):
    """A row whose content does not match its digest; the message is part of a sentence."""


def faults_in(project: Project) -> Iterator[str]:
    """One sentence for each snapshot of the project that was changed."""
    for snapshot in Snapshot.objects.filter(corpus__project=project).order_by("pk"):
        if fault := fault_of(snapshot):
            yield fault


def fault_of(snapshot: Snapshot) -> str | None:
    """The first fault of a snapshot, in a sentence that names the place; None without one."""
    try:
        entries = list(_entries(snapshot))
    except Forged as forged:
        return f"Snapshot {snapshot.name}: {forged}."
    if snapshot.digest not in {snapshot_digest(entries), older_snapshot_digest(entries)}:
        return f"Snapshot {snapshot.name}: its list of blocks, ids or titles is not the one that was frozen."
    if recorded_digests("snapshot.frozen", snapshot) != {snapshot.digest}:
        return f"Snapshot {snapshot.name}: the audit records another digest than {snapshot.digest}."
    return None


def with_titles(entries: QuerySet[SnapshotBlock]) -> QuerySet[SnapshotBlock]:
    """Annotates `document_title`, the title of the block's document when the snapshot was frozen."""
    titles = SnapshotDocument.objects.filter(snapshot=OuterRef("snapshot"), document=OuterRef("block__document"))
    return entries.annotate(document_title=Coalesce(Subquery(titles.values("title")[:1]), Value("", TextField())))


def _entries(snapshot: Snapshot) -> Iterator[SnapshotEntry]:
    redacted = recorded_objects("block_version.redacted", BlockVersion)
    rows = with_titles(SnapshotBlock.objects.filter(snapshot=snapshot)).order_by("position")
    for row in rows.select_related("block__document", "version").iterator(chunk_size=CHUNK):
        _compare(row, redacted)
        yield SnapshotEntry(
            row.block.outside_id,
            row.block.document.outside_id,
            row.version.digest,
            row.version.metadata_digest,
            row.document_title,  # type: ignore[attr-defined]
        )


def _compare(row: SnapshotBlock, redacted: set[str]) -> None:
    """Raises Forged when the text or the metadata of an entry does not match its digests."""
    version = row.version
    if version.block_id != row.block_id:
        raise Forged(f"block {row.block.outside_id} has the text of another block")
    if version.redacted_at is not None:
        if version.text or version.metadata or str(version.pk) not in redacted:
            raise Forged(f"the text of block {row.block.outside_id} was emptied, and the audit records no redaction")
        return
    digests = block_digests(
        title=version.title,
        section_path=version.section_path,
        page_start=version.page_start,
        page_end=version.page_end,
        text=version.text,
    )
    if (digests.version, digests.text) != (version.digest, version.text_digest):
        raise Forged(f"the text of block {row.block.outside_id} is not the one that was frozen")
    if metadata_digest(version.metadata) != version.metadata_digest:
        raise Forged(f"the metadata of block {row.block.outside_id} is not what was frozen")
