"""The freeze, used by actions and jobs, and the registry through which apps above react to a new snapshot."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models.functions import Collate

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.discovery import Registered
from apps.common.errors import Refusal
from apps.corpus import rules
from apps.corpus.core.passage_ids import SnapshotEntry, snapshot_digest
from apps.corpus.execution import search_index
from apps.corpus.models import Corpus, Snapshot
from apps.corpus.selectors import snapshots
from apps.corpus.selectors.corpora import latest_snapshot
from apps.corpus.selectors.snapshots import current_blocks


class Measured(NamedTuple):
    digest: str
    blocks: int
    documents: int


def bytewise() -> Collate:
    """Outside ids in bytewise order, independent of the locale."""
    return Collate("outside_id", "C" if connection.vendor == "postgresql" else "BINARY")


def measure(corpus: Corpus) -> Measured:
    """The digest and the counts that a snapshot of the corpus would have now. Streams, in constant memory."""
    documents: set[str] = set()
    count = 0
    rows = current_blocks(corpus).order_by(bytewise())
    columns = rows.values_list(
        "outside_id", "document__outside_id", "current__digest", "current__metadata_digest", "document__title"
    )

    def entries() -> Iterator[SnapshotEntry]:
        nonlocal count
        for row in columns.iterator(chunk_size=5_000):
            count += 1
            documents.add(row[1])
            yield SnapshotEntry(*row)

    digest = snapshot_digest(entries())
    return Measured(digest, count, len(documents))


def write_snapshot(
    *, corpus: Corpus, measured: Measured, number: int, name: str, actor: User, at: datetime
) -> Snapshot:
    """Write the snapshot's row, its documents' titles and its list, in one statement each. The caller has locked the
    corpus.

    The list is written last: after that the snapshot cannot change.
    """
    snapshot = Snapshot.objects.create(
        corpus=corpus,
        number=number,
        name=name,
        digest=measured.digest,
        recipe=corpus.recipe,
        block_count=measured.blocks,
        document_count=measured.documents,
        frozen_by=actor,
        frozen_at=at,
    )
    order = 'outside_id COLLATE "C"' if connection.vendor == "postgresql" else "outside_id COLLATE BINARY"
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO corpus_snapshotdocument (snapshot_id, document_id, title)"
            " SELECT %s, d.id, d.title FROM corpus_document d WHERE d.corpus_id = %s AND d.title <> '' AND EXISTS"
            " (SELECT 1 FROM corpus_block b WHERE b.document_id = d.id AND b.current_id IS NOT NULL)",
            [snapshot.pk, corpus.pk],
        )
        cursor.execute(
            "INSERT INTO corpus_snapshotblock (snapshot_id, position, block_id, version_id)"
            f" SELECT %s, ROW_NUMBER() OVER (ORDER BY {order}) - 1, id, current_id"
            " FROM corpus_block WHERE corpus_id = %s AND current_id IS NOT NULL",
            [snapshot.pk, corpus.pk],
        )
    return snapshot


after_freezing: Registered[Callable[[Snapshot, User, datetime], None]] = Registered()
"""Each is called in the transaction of every freeze."""


class FreezeRefused(Refusal):
    """There is nothing new to freeze, or the corpus is already being frozen."""


@transaction.atomic
def freeze_snapshot(
    *, corpus_id: int, actor: User, at: datetime, name: str = "", job_id: int | None = None
) -> Snapshot:
    """Freeze the current block versions of the corpus as a snapshot.

    Refuses an empty corpus, one that equals an earlier snapshot, and one that another job than `job_id` freezes.
    """
    corpus = locked(corpus_id)
    if reason := rules.busy_refusal(corpus, job_id):
        raise FreezeRefused(reason, code="corpus_freezing")
    measured = measure(corpus)
    if reason := rules.freeze_refusal(snapshots.pending(corpus, None), _same(corpus, measured)):
        raise FreezeRefused(reason, code="nothing_to_freeze")
    number = corpus.snapshots.count() + 1
    snapshot = write_snapshot(
        corpus=corpus,
        measured=measured,
        number=number,
        name=name.strip() or f"{corpus.name} {number}",
        actor=actor,
        at=at,
    )
    search_index.index_snapshot(snapshot)
    after = {"digest": snapshot.digest, "blocks": snapshot.block_count, "corpus": corpus.slug}
    record(project=corpus.project, actor=actor, action="snapshot.frozen", obj=snapshot, after=after, at=at)
    announce(snapshot, actor, at)
    return snapshot


@transaction.atomic
def snapshot_as_it_is(*, corpus_id: int, actor: User, at: datetime) -> Snapshot:
    """The snapshot with exactly what the corpus holds now; a new one where there is none yet."""
    corpus = locked(corpus_id)
    if same := snapshot_alike(corpus):
        return same
    for part in search_index.parts_of(corpus):
        search_index.index_part(part)
    return freeze_snapshot(corpus_id=corpus_id, actor=actor, at=at)


def snapshot_alike(corpus: Corpus) -> Snapshot | None:
    """The snapshot with exactly what the corpus holds now; None where there is none."""
    return _same(corpus, measure(corpus))


def _same(corpus: Corpus, measured: Measured) -> Snapshot | None:
    """A snapshot with exactly this content, also by the older digest, which did not include metadata."""
    if same := Snapshot.objects.filter(corpus=corpus, digest=measured.digest).first():
        return same
    latest = latest_snapshot(corpus)
    return latest if latest is not None and snapshots.pending(corpus, latest).is_nothing else None


def announce(snapshot: Snapshot, actor: User, at: datetime) -> None:
    """Call the listeners of apps above for a new snapshot."""
    for listener in after_freezing:
        listener(snapshot, actor, at)


def locked(corpus_id: int) -> Corpus:
    """The corpus, locked. Its job is read after the lock: a joined row would show the state before it."""
    return Corpus.objects.select_for_update().get(pk=corpus_id)
