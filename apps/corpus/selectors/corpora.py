"""Reads of corpora, all scoped to one project: another project's object does not exist."""

from collections.abc import Collection, Iterable
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery
from django.http import Http404
from django.shortcuts import get_object_or_404

from apps.accounts.models import Project
from apps.accounts.selectors import policy
from apps.audit.models import Event
from apps.common.database.bulk import chunks
from apps.corpus.core.block_fields import FoundField, found_fields
from apps.corpus.core.passage_ids import Place, told_apart
from apps.corpus.enums import FREEZE, BlockField, ImportState
from apps.corpus.models import Block, BlockVersion, Corpus, Document, Import, Snapshot, SnapshotBlock
from apps.jobs.models import Job


def places_of(versions: Iterable[BlockVersion]) -> dict[int, str]:
    """What to show beside the title of each version of one page, by key of its block. Select `block__document`."""
    return _places((version, version.block) for version in versions)


def places_of_entries(entries: Iterable[SnapshotBlock]) -> dict[int, str]:
    """The same for entries of a snapshot. Select `version` and `block__document`."""
    return _places((entry.version, entry.block) for entry in entries)


def _places(passages: Iterable[tuple[BlockVersion, Block]]) -> dict[int, str]:
    by_block = {block.pk: _place(version, block) for version, block in passages}
    return dict(zip(by_block, told_apart(list(by_block.values())), strict=True))


def _place(version: BlockVersion, block: Block) -> Place:
    document = block.document
    return Place(version.title, document.title, document.outside_id, version.section_path, block.outside_id)


AT_ONCE = 5_000
LOOKED_AT = 1_000
"""So many of the oldest and of the newest passages are looked at for the names in their metadata."""


def field_names(project: Project) -> dict[str, str]:
    """The metadata name of each field of blocks, as the project states it."""
    return {field.value: policy(project, field.policy) or field.value for field in BlockField}


class FoundFields(NamedTuple):
    """The names in the metadata of the passages that were looked at, and how many these are."""

    fields: list[FoundField]
    looked_at: int


def fields_found(project: Project) -> FoundFields:
    """What the metadata of the oldest and the newest passages of a project has."""
    blocks = Block.objects.filter(corpus__project=project, current__isnull=False)
    keys = {*blocks.order_by("pk").values_list("current", flat=True)[:LOOKED_AT]}
    keys |= {*blocks.order_by("-pk").values_list("current", flat=True)[:LOOKED_AT]}
    metadata = BlockVersion.objects.filter(pk__in=keys).order_by("pk").values_list("metadata", flat=True)
    return FoundFields(found_fields(metadata), len(keys))


def corpora_in(project: Project) -> QuerySet[Corpus]:
    """The corpora of a project by name, without those that an undone import has left empty."""
    return Corpus.objects.filter(project=project, emptied_at=None).order_by("name", "pk")


def corpus_in(project: Project, slug: str) -> Corpus:
    return get_object_or_404(Corpus.objects.select_related("freeze_job"), project=project, slug=slug)


def is_changed_since(project: Project, event: int) -> bool:
    """Whether passages of the project were changed after this audit event: whatever does it writes one with it."""
    changes = ["corpus.created", "corpus.imported", "import.undone"]
    return Event.objects.filter(project=project, pk__gt=event, action__in=changes).exists()


def freeze_in(project: Project, pk: int) -> Job:
    """A job of the project that freezes a corpus, or froze it."""
    return get_object_or_404(Job, project=project, kind=FREEZE, pk=pk)


def counted(corpora: QuerySet[Corpus]) -> QuerySet[Corpus]:
    """Annotates `block_count`, `snapshot_count` and `frozen_at`, the time of the last snapshot."""
    return corpora.annotate(
        block_count=Count("blocks", filter=Q(blocks__current__isnull=False), distinct=True),
        snapshot_count=Count("snapshots", distinct=True),
        frozen_at=Max("snapshots__frozen_at"),
    )


def freezable_in(project: Project) -> list[Corpus]:
    """The corpora with passages that a first snapshot can be made of, by name, each with its counts."""
    filled = corpora_in(project).filter(Exists(Block.objects.filter(corpus=OuterRef("pk"), current__isnull=False)))
    return list(counted(filled).select_related("freeze_job"))


def snapshots_in(project: Project) -> QuerySet[Snapshot]:
    """Newest first."""
    snapshots = Snapshot.objects.filter(corpus__project=project)
    return snapshots.select_related("corpus", "frozen_by").order_by("-frozen_at", "-pk")


def snapshot_in(project: Project, pk: int) -> Snapshot:
    return get_object_or_404(snapshots_in(project), pk=pk)


MISSED_NAMED = 20


class MissedDocument(NamedTuple):
    """A document of a snapshot that nothing of a set is in, with its number of passages there."""

    outside_id: str
    title: str
    passages: int


class DocumentReach(NamedTuple):
    """How many of a snapshot's documents a set of passages is in; of the others, those with most passages."""

    reached: int
    documents: int
    missed: list[MissedDocument]

    @property
    def share(self) -> float:
        return self.reached / self.documents if self.documents else 0.0


def reach_of(snapshot: Snapshot, documents: Collection[int]) -> DocumentReach:
    """Of the documents with these keys; keys of documents outside the snapshot are left out."""
    rows = entries_of(snapshot).order_by().values_list("block__document").annotate(passages=Count("pk"))
    sizes = dict(rows.iterator(chunk_size=10_000))
    missed = sorted(sizes.keys() - set(documents), key=lambda key: (-sizes[key], key))
    named = Document.objects.in_bulk(missed[:MISSED_NAMED])
    shown = (named[key] for key in missed[:MISSED_NAMED])
    largest = [MissedDocument(one.outside_id, one.title, sizes[one.pk]) for one in shown]
    return DocumentReach(len(sizes) - len(missed), len(sizes), largest)


def snapshot_and_before(project: Project, pk: int) -> tuple[Snapshot, Snapshot | None]:
    """The snapshot with the one before it in its corpus, in one statement."""
    asked = Snapshot.objects.filter(pk=pk)
    up_to_it = {"corpus": Subquery(asked.values("corpus")), "number__lte": Subquery(asked.values("number"))}
    found = list(snapshots_in(project).filter(**up_to_it).order_by("-number")[:2])
    if not found:
        raise Http404("No such snapshot.")
    snapshot, *earlier = found
    for before in earlier:
        before.corpus = snapshot.corpus
    return snapshot, earlier[0] if earlier else None


def latest_snapshot(corpus: Corpus) -> Snapshot | None:
    return Snapshot.objects.filter(corpus=corpus).order_by("-number").first()


def snapshot_before(snapshot: Snapshot) -> Snapshot | None:
    earlier = Snapshot.objects.filter(corpus=snapshot.corpus_id, number__lt=snapshot.number).order_by("-number")
    before = earlier.first()
    if before is not None:
        before.corpus = snapshot.corpus
    return before


def current_blocks(corpus: Corpus) -> QuerySet[Block]:
    """The blocks of the corpus as it is now, document by document, in reading order."""
    blocks = Block.objects.filter(corpus=corpus, current__isnull=False).select_related("document", "current")
    return blocks.order_by("document__outside_id", F("current__page_start").asc(nulls_last=True), "outside_id")


def found_blocks(blocks: QuerySet[Block], words: str) -> QuerySet[Block]:
    """The blocks whose id, title or document contains `words`; all for no words."""
    if not words:
        return blocks
    ids = Q(outside_id__icontains=words) | Q(document__outside_id__icontains=words)
    return blocks.filter(ids | Q(current__title__icontains=words) | Q(document__title__icontains=words))


def block_by_key(project: Project, pk: int) -> Block:
    blocks = Block.objects.filter(corpus__project=project, pk=pk)
    return get_object_or_404(blocks.select_related("document", "current", "corpus"))


def versions_in(project: Project) -> QuerySet[BlockVersion]:
    """Every text that a block of the project has or had."""
    versions = BlockVersion.objects.filter(block__corpus__project=project)
    return versions.select_related("block__document", "block__corpus")


def version_in(project: Project, pk: int) -> BlockVersion:
    return get_object_or_404(versions_in(project), pk=pk)


class TextKey(NamedTuple):
    """The identity of a text: its block, and the digest of title and text, without pages and headings."""

    block_id: int
    digest: str


def texts_of(versions: Iterable[int]) -> dict[int, TextKey]:
    """The text of each of these block versions, whichever snapshots they are in."""
    texts: dict[int, TextKey] = {}
    for part in chunks(sorted(set(versions)), AT_ONCE):
        rows = BlockVersion.objects.filter(pk__in=part).values_list("pk", "block_id", "text_digest")
        texts.update((pk, TextKey(block, digest)) for pk, block, digest in rows)
    return texts


def block_names(versions: Iterable[int]) -> dict[int, str]:
    """The outside id of the block of each of these block versions."""
    names: dict[int, str] = {}
    for part in chunks(sorted(set(versions)), AT_ONCE):
        names.update(BlockVersion.objects.filter(pk__in=part).values_list("pk", "block__outside_id"))
    return names


def texts_in(snapshot: Snapshot) -> dict[TextKey, int]:
    """The texts of a snapshot, each with the key of its block version there."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot).values_list("block_id", "version__text_digest", "version_id")
    return {TextKey(block, digest): version for block, digest, version in rows.iterator(chunk_size=AT_ONCE)}


def replaced_in(snapshot: Snapshot, texts: Iterable[TextKey]) -> dict[TextKey, Snapshot]:
    """For each text that an earlier snapshot holds and this one does not: the snapshot in which it went or changed."""
    wanted = set(texts)
    snapshots = Snapshot.objects.filter(corpus=snapshot.corpus_id, number__lte=snapshot.number).order_by("number")
    follows = {one.number: other for one, other in pairwise(snapshots)}
    earlier = SnapshotBlock.objects.filter(snapshot__corpus=snapshot.corpus_id, snapshot__number__lt=snapshot.number)
    found = {}
    for part in chunks(sorted({text.block_id for text in wanted}), AT_ONCE):
        rows = earlier.filter(block__in=part).values_list("block_id", "version__text_digest")
        for block, digest, last in rows.annotate(last=Max("snapshot__number")).iterator(chunk_size=AT_ONCE):
            found[TextKey(block, digest)] = follows[last]
    return {text: found[text] for text in wanted if text in found}


def versions_of(block: Block) -> QuerySet[BlockVersion]:
    """Newest first."""
    return block.versions.order_by("-created_at", "-pk")


def snapshots_holding(block: Block) -> dict[int, list[Snapshot]]:
    """The snapshots that contain each version of a block, oldest first, by version key."""
    holding: dict[int, list[Snapshot]] = {}
    entries = SnapshotBlock.objects.filter(block=block).select_related("snapshot")
    for entry in entries.order_by("snapshot__number"):
        holding.setdefault(entry.version_id, []).append(entry.snapshot)
    return holding


def entries_of(snapshot: Snapshot) -> QuerySet[SnapshotBlock]:
    return snapshot.entries.select_related("version", "block__document").order_by("position")


def imports_in(project: Project) -> QuerySet[Import]:
    imports = Import.objects.filter(project=project).select_related(
        "upload", "created_by", "applied_by", "undone_by", "job"
    )
    return imports.order_by("-pk")


def import_in(project: Project, pk: int) -> Import:
    return get_object_or_404(imports_in(project), pk=pk)


def left_unread(before: datetime) -> list[int]:
    """Imports begun before `before` whose reading was interrupted: not read yet, and without a job."""
    interrupted = Import.objects.filter(state=ImportState.READING, job=None, created_at__lt=before)
    return list(interrupted.order_by("pk").values_list("pk", flat=True))
