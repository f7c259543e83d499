"""Checks frozen snapshots for changes: recomputes every digest from the present rows."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from django.db.models import OuterRef, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Coalesce

from apps.accounts.models import Project
from apps.audit.selectors.events import recorded_objects_question, recorded_question, values_recorded
from apps.common.database.questions import Question, answer_to, joined
from apps.corpus.core.passage_ids import (
    SnapshotEntry,
    block_digests,
    metadata_digest,
    older_snapshot_digest,
    snapshot_digest,
)
from apps.corpus.models import BlockVersion, Snapshot, SnapshotBlock, SnapshotDocument

CHUNK = 2_000
REDACTED = "block_version.redacted"


class Forged(Exception):
    """A row whose content does not match its digest; the message is part of a sentence."""


def faults_in(project: Project) -> Iterator[str]:
    """One sentence for each snapshot of the project that was changed."""
    for snapshot in Snapshot.objects.filter(corpus__project=project).order_by("pk"):
        if fault := fault_of(snapshot):
            yield fault


class Seal(NamedTuple):
    """What the audit recorded of a snapshot: the digests it was frozen with, and the texts that were redacted."""

    digests: set[str]
    redacted: set[str]


def seal_question(snapshot: Snapshot) -> Question[Seal]:
    parts: dict[str, Question[Any]] = {
        "frozen": recorded_question("snapshot.frozen", snapshot),
        "redacted": recorded_objects_question(REDACTED, BlockVersion),
    }
    whole = joined(parts)

    def read(found: Mapping[str, Any]) -> Seal:
        known = whole.read(found)
        return Seal(values_recorded(known["frozen"], "digest"), known["redacted"])

    return Question(whole.asks, read)


def fault_of(snapshot: Snapshot, seal: Seal | None = None, rows: Iterable[SnapshotBlock] | None = None) -> str | None:
    """The first fault of a snapshot, in a sentence that names the place; None without one.

    `seal` and `rows`, which are `entries_of` the snapshot, are read here unless they are given.
    """
    seal = seal or answer_to(snapshot, seal_question(snapshot))
    try:
        entries = [_checked(row, seal.redacted) for row in (entries_of(snapshot.pk) if rows is None else rows)]
    except Forged as forged:
        return f"Snapshot {snapshot.name}: {forged}."
    if snapshot.digest not in {snapshot_digest(entries), older_snapshot_digest(entries)}:
        return f"Snapshot {snapshot.name}: its list of blocks, ids or titles is not the one that was frozen."
    if seal.digests != {snapshot.digest}:
        return f"Snapshot {snapshot.name}: the audit records another digest than {snapshot.digest}."
    return None


def with_titles(entries: QuerySet[SnapshotBlock]) -> QuerySet[SnapshotBlock]:
    """Annotates `document_title`, the title of the block's document when the snapshot was frozen."""
    titles = SnapshotDocument.objects.filter(snapshot=OuterRef("snapshot"), document=OuterRef("block__document"))
    return entries.annotate(document_title=Coalesce(Subquery(titles.values("title")[:1]), Value("", TextField())))


def entries_of(snapshot_id: int) -> Iterator[SnapshotBlock]:
    """The entries of a snapshot by position, with block, document, text, and title as `with_titles` has it."""
    rows = with_titles(SnapshotBlock.objects.filter(snapshot=snapshot_id)).order_by("position")
    return rows.select_related("block__document", "version").iterator(chunk_size=CHUNK)


def _checked(row: SnapshotBlock, redacted: set[str]) -> SnapshotEntry:
    _compare(row, redacted)
    return SnapshotEntry(
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
