"""Freezing a corpus, and what differs between two snapshots. Both are done in the database, set by set."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from django.db import connection
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Coalesce, Collate

from apps.accounts.models import User
from apps.corpus.blocks import Entry, snapshot_digest
from apps.corpus.models import Block, Corpus, Document, Snapshot, SnapshotBlock, SnapshotDocument


class Difference(NamedTuple):
    """Blocks by what became of them.

    `moved` are those whose title and text stayed and whose place did not; of `described` only the metadata changed.
    """

    added: QuerySet[SnapshotBlock]
    gone: QuerySet[SnapshotBlock]
    changed: QuerySet[SnapshotBlock]
    moved: QuerySet[SnapshotBlock]
    described: QuerySet[SnapshotBlock]

    def counts(self) -> dict[str, int]:
        return {word: entries.count() for word, entries in self._asdict().items()}


class Pending(NamedTuple):
    """How the corpus as it is now differs from its latest snapshot, or from nothing."""

    blocks: int
    added: int
    changed: int
    gone: int
    renamed: int = 0

    @property
    def is_nothing(self) -> bool:
        return not (self.added or self.changed or self.gone or self.renamed)


class Measured(NamedTuple):
    digest: str
    blocks: int
    documents: int


def bytewise() -> Collate:
    """Outside ids in the order of their bytes, which no locale changes."""
    return Collate("outside_id", "C" if connection.vendor == "postgresql" else "BINARY")


def current_blocks(corpus: Corpus) -> QuerySet[Block]:
    return Block.objects.filter(corpus=corpus, current__isnull=False)


def pending(corpus: Corpus, latest: Snapshot | None) -> Pending:
    """What freezing now would add to the record: blocks, and documents that are called something else."""
    blocks = Block.objects.filter(corpus=corpus)
    if latest is None:
        count = blocks.filter(current__isnull=False).count()
        return Pending(count, count, 0, 0)
    frozen = SnapshotBlock.objects.filter(snapshot=latest, block=OuterRef("pk")).values("version")[:1]
    figures = blocks.annotate(frozen=Subquery(frozen)).aggregate(
        blocks=Count("pk", filter=Q(current__isnull=False)),
        added=Count("pk", filter=Q(current__isnull=False, frozen=None)),
        changed=Count("pk", filter=Q(current__isnull=False, frozen__isnull=False) & ~Q(current=F("frozen"))),
        gone=Count("pk", filter=Q(current=None, frozen__isnull=False)),
    )
    return Pending(**figures, renamed=renamed_documents(corpus, latest).count())


def renamed_documents(corpus: Corpus, latest: Snapshot) -> QuerySet[Document]:
    """Documents of the snapshot's blocks that are called otherwise now."""
    frozen = SnapshotDocument.objects.filter(snapshot=latest, document=OuterRef("pk")).values("title")[:1]
    there = Exists(SnapshotBlock.objects.filter(snapshot=latest, block__document=OuterRef("pk")))
    title = Coalesce(Subquery(frozen), Value("", TextField()))
    return Document.objects.filter(there, corpus=corpus).annotate(frozen=title).exclude(title=F("frozen"))


def renamed_between(old: Snapshot, new: Snapshot) -> QuerySet[Document]:
    """Documents in both that are called otherwise in `new`, with `title_before` and `title_after`, by their ids."""
    titles = SnapshotDocument.objects.filter(document=OuterRef("pk"))
    held = SnapshotBlock.objects.filter(block__document=OuterRef("pk"))
    documents = Document.objects.filter(
        Exists(held.filter(snapshot=old)), Exists(held.filter(snapshot=new)), corpus=new.corpus_id
    )
    named = documents.annotate(
        title_before=Coalesce(Subquery(titles.filter(snapshot=old).values("title")[:1]), Value("", TextField())),
        title_after=Coalesce(Subquery(titles.filter(snapshot=new).values("title")[:1]), Value("", TextField())),
    )
    return named.exclude(title_before=F("title_after")).order_by("outside_id")


def measure(corpus: Corpus) -> Measured:
    """The digest and the counts that a snapshot of the corpus would have now. Streams; memory stays flat."""
    documents: set[str] = set()
    count = 0
    rows = current_blocks(corpus).order_by(bytewise())
    columns = rows.values_list(
        "outside_id", "document__outside_id", "current__digest", "current__metadata_digest", "document__title"
    )

    def entries() -> Iterator[Entry]:
        nonlocal count
        for row in columns.iterator(chunk_size=5_000):
            count += 1
            documents.add(row[1])
            yield Entry(*row)

    digest = snapshot_digest(entries())
    return Measured(digest, count, len(documents))


def write_snapshot(
    *, corpus: Corpus, measured: Measured, number: int, name: str, actor: User, at: datetime
) -> Snapshot:
    """The snapshot's row, its documents' titles and its list, in one statement each. The caller holds the corpus.

    The list comes last: from then on the snapshot takes nothing further.
    """
    snapshot = Snapshot.objects.create(
        corpus=corpus,
        number=number,
        name=name,
        digest=measured.digest,
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


def difference(old: Snapshot, new: Snapshot) -> Difference:
    """What became of the blocks from `old` to `new`, as querysets ordered by position.

    Entries of `gone` belong to `old`, all others to `new`; those of `changed`, `moved` and `described` carry the key
    of the version before as `old_version_id`.
    """
    before = SnapshotBlock.objects.filter(snapshot=old, block=OuterRef("block"))
    after = SnapshotBlock.objects.filter(snapshot=new, block=OuterRef("block"))
    entries = SnapshotBlock.objects.select_related("version", "block__document").order_by("position")
    in_new = entries.filter(snapshot=new)
    other = in_new.annotate(
        old_version_id=before.values("version")[:1],
        old_text_digest=before.values("version__text_digest")[:1],
        old_digest=before.values("version__digest")[:1],
    ).filter(old_version_id__isnull=False)
    other = other.exclude(old_version_id=F("version_id"))
    return Difference(
        added=in_new.filter(~Exists(before)),
        gone=entries.filter(snapshot=old).filter(~Exists(after)),
        changed=other.exclude(old_text_digest=F("version__text_digest")),
        moved=other.filter(old_text_digest=F("version__text_digest")).exclude(old_digest=F("version__digest")),
        described=other.filter(old_digest=F("version__digest")),
    )
