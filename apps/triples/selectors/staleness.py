"""Accepted triples whose text changed in a newer snapshot: how they are selected, marked and compared."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from django.db.models import Exists, Max, OuterRef, Q, QuerySet, Subquery

from apps.common.text.worddiff import Piece, changed_spans, word_diff
from apps.corpus.models import BlockVersion, Snapshot, SnapshotBlock
from apps.triples.core.evidence import Span, holds, placed
from apps.triples.enums import State
from apps.triples.models import ExpectedBlock, Revision, Triple
from apps.triples.selectors.triples import expected_blocks

WINDOW = 1_000
MAX_COMPARED = 20_000
MAY_BE_ACCEPTED = (State.ACCEPTED, State.IN_REVIEW, State.DISPUTED)

# Finding and marking -----------------------------------------------------------------------------------------------


def possibly_stale(snapshot: Snapshot) -> QuerySet[Triple]:
    """Triples without the mark, accepted or on the way there, that are pinned to an earlier snapshot of the corpus."""
    return Triple.objects.filter(
        project=snapshot.corpus.project_id,
        snapshot__corpus=snapshot.corpus_id,
        snapshot__number__lt=snapshot.number,
        state__in=MAY_BE_ACCEPTED,
        is_stale=False,
    )


def changed_ids(triples: QuerySet[Triple], snapshot: Snapshot) -> list[int]:
    """Those of `triples` with an expected text that changed, or is gone, in `snapshot`. One query."""
    alike = SnapshotBlock.objects.filter(
        snapshot=snapshot, block=OuterRef("version__block"), version__text_digest=OuterRef("version__text_digest")
    )
    changed = ExpectedBlock.objects.filter(Q(revision=OuterRef("current")) & ~Exists(alike))
    return list(triples.filter(Exists(changed)).order_by("pk").values_list("pk", flat=True))


def windows(snapshot: Snapshot) -> Iterator[tuple[int, int]]:
    """The numbers of the project's triples in ranges that do not change between calls: first and last of each."""
    last = Triple.objects.filter(project=snapshot.corpus.project_id).aggregate(last=Max("number"))["last"] or 0
    for first in range(1, last + 1, WINDOW):
        yield first, min(first + WINDOW - 1, last)


def changed_in_window(snapshot: Snapshot, window: tuple[int, int]) -> list[int]:
    """Ids of triples, accepted or on the way there, numbered within the window and its ends, whose text changed."""
    return changed_ids(possibly_stale(snapshot).filter(number__range=window), snapshot)


# Comparing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ComparedBlock:
    """An expected block as it is pinned, and as it is in another snapshot. `new` is None when it is gone there.

    `spans` are the marked passages at their places in the new text, None for one that is not in it.
    """

    old: ExpectedBlock
    new: BlockVersion | None
    spans: tuple[Span | None, ...]

    @property
    def is_changed(self) -> bool:
        return self.new is None or self.new.text_digest != self.old.version.text_digest

    @property
    def kept(self) -> list[Span]:
        return [span for span in self.spans if span is not None]

    @property
    def keeps_evidence(self) -> bool:
        return self.new is not None and bool(self.spans) and None not in self.spans

    @property
    def lost(self) -> int:
        return self.spans.count(None)

    @cached_property
    def pieces(self) -> list[Piece]:
        """The word difference of the two texts; empty when one of them is too long to compare, or missing."""
        if self.new is None or len(self.old.version.text) + len(self.new.text) > MAX_COMPARED:
            return []
        return word_diff(self.old.version.text, self.new.text)

    @property
    def is_too_long(self) -> bool:
        return self.new is not None and len(self.old.version.text) + len(self.new.text) > MAX_COMPARED

    @property
    def removed(self) -> list[Span]:
        return changed_spans(self.pieces, "del")

    @property
    def added(self) -> list[Span]:
        return changed_spans(self.pieces, "ins")


def compared(revision: Revision, snapshot: Snapshot) -> list[ComparedBlock]:
    """Each expected block of `revision` with its text in `snapshot`. Two queries."""
    old = expected_blocks(revision)
    entries = SnapshotBlock.objects.filter(snapshot=snapshot, block__in={block.version.block_id for block in old})
    new = {entry.block_id: entry.version for entry in entries.select_related("version__block__document")}
    return [_compare(block, new.get(block.version.block_id)) for block in old]


class BlockFate(NamedTuple):
    """What a `ComparedBlock` says of its evidence alone; `new` is the key of its text there, None when it is gone."""

    new: int | None
    keeps_evidence: bool


def fates_in(snapshot: Snapshot, revisions: Iterable[int]) -> dict[int, list[BlockFate]]:
    """Whether the expected blocks of revisions keep their evidence in a snapshot, by the key of the revision.

    For many: each text that has changed is read once, and nothing else of it. Two queries.
    """
    found: dict[int, list[BlockFate]] = {revision: [] for revision in revisions}
    there = SnapshotBlock.objects.filter(snapshot=snapshot, block=OuterRef("version__block"))
    rows = list(
        ExpectedBlock.objects.filter(revision__in=found)
        .order_by("order", "pk")
        .values_list("revision", "version", Subquery(there.values("version")[:1]), "spans")
    )
    changed = {key for _, old, new, _ in rows if new is not None and new != old for key in (old, new)}
    texts = dict(BlockVersion.objects.filter(pk__in=changed).values_list("pk", "text")) if changed else {}
    for revision, old, new, spans in rows:
        keeps = new is not None and bool(spans)
        if keeps and new != old and texts[new] != texts[old]:
            keeps = holds(texts[new], (texts[old][start:end] for start, end in spans))
        found[revision].append(BlockFate(new, keeps))
    return found


def _compare(block: ExpectedBlock, new: BlockVersion | None) -> ComparedBlock:
    spans: list[Span] = [(start, end) for start, end in block.spans]
    if new is None:
        return ComparedBlock(block, None, (None,) * len(spans))
    if new.text == block.version.text:
        return ComparedBlock(block, new, tuple(spans))
    return ComparedBlock(block, new, tuple(placed(block.version.text, spans, new.text)))
