"""Differences between a corpus and its snapshots, and between two snapshots, computed in the database."""

from typing import NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Coalesce

from apps.corpus.models import Block, Corpus, Document, Snapshot, SnapshotBlock, SnapshotDocument


class SnapshotDifference(NamedTuple):
    """Blocks by kind of change.

    `moved` are those with the same title and text and another section or page; of `described` only the metadata
    changed.
    """

    added: QuerySet[SnapshotBlock]
    gone: QuerySet[SnapshotBlock]
    changed: QuerySet[SnapshotBlock]
    moved: QuerySet[SnapshotBlock]
    described: QuerySet[SnapshotBlock]

    def counts(self) -> dict[str, int]:
        return {word: entries.count() for word, entries in self._asdict().items()}


class Pending(NamedTuple):
    """The differences of the corpus from its latest snapshot, or from nothing."""

    blocks: int
    added: int
    changed: int
    gone: int
    renamed: int = 0

    @property
    def is_nothing(self) -> bool:
        return not (self.added or self.changed or self.gone or self.renamed)


def current_blocks(corpus: Corpus) -> QuerySet[Block]:
    return Block.objects.filter(corpus=corpus, current__isnull=False)


def pending(corpus: Corpus, latest: Snapshot | None) -> Pending:
    """The changes that freezing now would record: blocks, and renamed documents."""
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
    """Documents of the snapshot's blocks whose title has changed."""
    frozen = SnapshotDocument.objects.filter(snapshot=latest, document=OuterRef("pk")).values("title")[:1]
    in_snapshot = Exists(SnapshotBlock.objects.filter(snapshot=latest, block__document=OuterRef("pk")))
    title = Coalesce(Subquery(frozen), Value("", TextField()))
    return Document.objects.filter(in_snapshot, corpus=corpus).annotate(frozen=title).exclude(title=F("frozen"))


def renamed_between(old: Snapshot, new: Snapshot) -> QuerySet[Document]:
    """Documents in both whose title differs, with `title_before` and `title_after`, ordered by id."""
    titles = SnapshotDocument.objects.filter(document=OuterRef("pk"))
    entries = SnapshotBlock.objects.filter(block__document=OuterRef("pk"))
    documents = Document.objects.filter(
        Exists(entries.filter(snapshot=old)), Exists(entries.filter(snapshot=new)), corpus=new.corpus_id
    )
    named = documents.annotate(
        title_before=Coalesce(Subquery(titles.filter(snapshot=old).values("title")[:1]), Value("", TextField())),
        title_after=Coalesce(Subquery(titles.filter(snapshot=new).values("title")[:1]), Value("", TextField())),
    )
    return named.exclude(title_before=F("title_after")).order_by("outside_id")


def difference(old: Snapshot, new: Snapshot) -> SnapshotDifference:
    """The changes of blocks from `old` to `new`, as querysets ordered by position.

    Entries of `gone` belong to `old`, all others to `new`; those of `changed`, `moved` and `described` have the key of
    the previous version as `old_version_id`.
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
    return SnapshotDifference(
        added=in_new.filter(~Exists(before)),
        gone=entries.filter(snapshot=old).filter(~Exists(after)),
        changed=other.exclude(old_text_digest=F("version__text_digest")),
        moved=other.filter(old_text_digest=F("version__text_digest")).exclude(old_digest=F("version__digest")),
        described=other.filter(old_digest=F("version__digest")),
    )
