"""Snapshots by name, and their blocks by position, by outside id, and as the text that systems read."""

from collections.abc import Collection, Iterator

import numpy as np
from django.db.models import Count, F, Min, Q, QuerySet
from numpy.typing import NDArray

from apps.accounts.models import Project
from apps.common.database.bulk import chunks
from apps.corpus.models import Block, Document, Snapshot, SnapshotBlock
from apps.corpus.selectors.corpora import snapshots_in
from apps.metrics.files.result_checks import SEVERAL, CorpusFacts
from apps.retrieval.enums import BlockText
from apps.retrieval.selectors.question_sets import IDS_AT_ONCE


def snapshot_named(project: Project, name: str) -> Snapshot | None:
    """The snapshot with this digest (8 characters or more), `corpus@number`, or name. None for none or several."""
    corpus, _, number = name.rpartition("@")
    condition = Q(name=name)
    if corpus and number.isdecimal() and len(number) < 9:
        condition |= Q(corpus__slug=corpus, number=int(number))
    if len(name) >= 8:
        condition |= Q(digest__startswith=name.lower())
    matches = list(snapshots_in(project).filter(condition)[:2])
    return matches[0] if len(matches) == 1 else None


def block_texts(snapshot: Snapshot, words: str) -> Iterator[str]:
    """The text of each block that a system reads, by position; `words` is a `BlockText`."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot).order_by("position")
    if words == BlockText.TEXT:
        yield from rows.values_list("version__text", flat=True).iterator(chunk_size=2_000)
        return
    columns = rows.values_list("version__title", "version__section_path", "version__text")
    for title, section_path, text in columns.iterator(chunk_size=2_000):
        yield "\n".join([title, *section_path, text])


def block_order(snapshot: Snapshot) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of the blocks and the keys of their documents: by document, and in it by page and position, as an
    exported corpus has them.
    """
    rows = _by_document(snapshot).values_list("position", "block__document")
    columns = np.fromiter((key for row in rows.iterator() for key in row), dtype=np.int64).reshape(-1, 2)
    return columns[:, 0].copy(), columns[:, 1].copy()


def texts_by_document(snapshot: Snapshot) -> Iterator[str]:
    """The text of each block, in that order."""
    return _by_document(snapshot).values_list("version__text", flat=True).iterator(chunk_size=2_000)


def _by_document(snapshot: Snapshot) -> QuerySet[SnapshotBlock]:
    rows = SnapshotBlock.objects.filter(snapshot=snapshot)
    return rows.order_by("block__document", F("version__page_start").asc(nulls_last=True), "position")


def version_ids(snapshot: Snapshot) -> NDArray[np.int64]:
    """The block version id at each position."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot).order_by("position")
    return np.fromiter(rows.values_list("version_id", flat=True).iterator(), dtype=np.int64)


def position_of_blocks(snapshot: Snapshot) -> dict[str, int]:
    """The position of every block, by its outside id."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot)
    return dict(rows.values_list("block__outside_id", "position").iterator())


def positions_of(snapshot: Snapshot, block_ids: Collection[str]) -> dict[str, int]:
    """The position of each outside id; an id without a block in the snapshot is left out."""
    positions: dict[str, int] = {}
    for part in chunks(sorted(block_ids), IDS_AT_ONCE):
        blocks = Block.objects.filter(corpus=snapshot.corpus_id, outside_id__in=part)
        rows = SnapshotBlock.objects.filter(snapshot=snapshot, block__in=blocks)
        positions.update(rows.values_list("block__outside_id", "position"))
    return positions


def facts_of(snapshot: Snapshot, block_ids: Collection[str], document_ids: Collection[str]) -> CorpusFacts:
    """The texts of these blocks, and of these documents their only block, as far as the snapshot has them."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot)
    texts: dict[str, str] = {}
    for part in chunks(sorted(block_ids), IDS_AT_ONCE):
        blocks = Block.objects.filter(corpus=snapshot.corpus_id, outside_id__in=part)
        texts.update(rows.filter(block__in=blocks).values_list("block__outside_id", "version__text"))
    documents: dict[str, str] = {}
    for part in chunks(sorted(document_ids), IDS_AT_ONCE):
        named = Document.objects.filter(corpus=snapshot.corpus_id, outside_id__in=part)
        of_document = rows.filter(block__document__in=named).values_list("block__document__outside_id")
        for document, number, first in of_document.annotate(Count("pk"), Min("block__outside_id")):
            documents[document] = first if number == 1 else SEVERAL
    return CorpusFacts(texts, documents)
