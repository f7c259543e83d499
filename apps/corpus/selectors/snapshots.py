"""Differences between texts of a corpus and its snapshots, computed in the database, and faults in a snapshot."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Coalesce

from apps.accounts.models import Project
from apps.audit.selectors.events import recorded_objects_question, recorded_question, values_recorded
from apps.common.database.batched_reads import BatchedRead, answer_to, joined
from apps.common.text.worddiff import Piece, word_diff
from apps.corpus.core.passage_ids import (
    SnapshotEntry,
    block_digests,
    metadata_digest,
    older_snapshot_digest,
    snapshot_digest,
)
from apps.corpus.models import Block, BlockVersion, Corpus, Document, Snapshot, SnapshotBlock, SnapshotDocument
from apps.corpus.selectors.corpora import snapshots_holding, versions_of

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


def seal_question(snapshot: Snapshot) -> BatchedRead[Seal]:
    parts: dict[str, BatchedRead[Any]] = {
        "frozen": recorded_question("snapshot.frozen", snapshot),
        "redacted": recorded_objects_question(REDACTED, BlockVersion),
    }
    whole = joined(parts)

    def read(found: Mapping[str, Any]) -> Seal:
        known = whole.read(found)
        return Seal(values_recorded(known["frozen"], "digest"), known["redacted"])

    return BatchedRead(whole.asks, read)


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


MAX_COMPARED = 20_000


class Text(NamedTuple):
    """One version in the history of a block. `pieces` is the word difference from the previous one."""

    version: BlockVersion
    is_current: bool
    snapshots: list[Snapshot]
    pieces: list[Piece] | None

    @property
    def dialog(self) -> str:
        """The id of the dialog that redacts this text."""
        return f"redact-{self.version.pk}"


class ChangedBlock(NamedTuple):
    """One block that differs between two snapshots. `pieces` is None when the texts are too long to compare."""

    entry: SnapshotBlock
    old: BlockVersion
    title: list[Piece]
    pieces: list[Piece] | None
    place: tuple[str, str] | None
    facts: list[tuple[str, object, object]]


def texts_of(block: Block) -> list[Text]:
    """Newest first."""
    holding = snapshots_holding(block)
    versions = list(versions_of(block))
    earlier: list[BlockVersion | None] = [*versions[1:], None]
    return [
        Text(
            version,
            version.pk == block.current_id,
            holding.get(version.pk, []),
            compared(before, version) if before else None,
        )
        for version, before in zip(versions, earlier, strict=True)
    ]


def word_diffs(entries: list[SnapshotBlock]) -> list[ChangedBlock]:
    """The word differences of entries that have `old_version_id`."""
    old = BlockVersion.objects.in_bulk([entry.old_version_id for entry in entries])  # type: ignore[attr-defined]
    rows = []
    for entry in entries:
        before = old[entry.old_version_id]  # type: ignore[attr-defined]
        places = place_of(before), place_of(entry.version)
        rows.append(
            ChangedBlock(
                entry,
                before,
                word_diff(before.title, entry.version.title),
                compared(before, entry.version),
                places if places[0] != places[1] else None,
                facts_of(before, entry.version),
            )
        )
    return rows


def facts_of(before: BlockVersion, after: BlockVersion) -> list[tuple[str, object, object]]:
    """The differences of metadata: name, value before, value after; None for a missing value."""
    names = [*before.metadata, *(name for name in after.metadata if name not in before.metadata)]
    values = [(name, before.metadata.get(name), after.metadata.get(name)) for name in names]
    return [(name, old, new) for name, old, new in values if old != new]


def compared(before: BlockVersion, after: BlockVersion) -> list[Piece] | None:
    """The word difference of two texts; None when one is redacted or they are too long to compare on a page."""
    if before.redacted_at or after.redacted_at or len(before.text) + len(after.text) > MAX_COMPARED:
        return None
    return word_diff(before.text, after.text)


def place_of(version: BlockVersion) -> str:
    """Section path and pages in words, to show where a block has moved."""
    pages = [str(page) for page in (version.page_start, version.page_end) if page is not None]
    path = " / ".join(version.section_path) or "no section"
    return f"{path}, page {'–'.join(dict.fromkeys(pages))}" if pages else path


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
