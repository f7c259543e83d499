"""The blocks of a snapshot by position, by outside id, and as a system reads them."""

from collections.abc import Collection, Iterator

import numpy as np
from django.db.models import Q
from numpy.typing import NDArray

from apps.accounts.models import Project
from apps.corpus.models import Block, Snapshot, SnapshotBlock
from apps.corpus.selectors.corpora import snapshots_in
from apps.retrieval.enums import BlockText
from apps.retrieval.selectors.finding import in_parts


def snapshot_named(project: Project, name: str) -> Snapshot | None:
    """The snapshot people mean by `name`: its digest or at least 8 characters of it, `corpus@number`, or its
    name when only one has it. None when there is none, or more than one.
    """
    corpus, _, number = name.rpartition("@")
    meant = Q(name=name)
    if corpus and number.isdecimal() and len(number) < 9:
        meant |= Q(corpus__slug=corpus, number=int(number))
    if len(name) >= 8:
        meant |= Q(digest__startswith=name.lower())
    found = list(snapshots_in(project).filter(meant)[:2])
    return found[0] if len(found) == 1 else None


def block_texts(snapshot: Snapshot, words: str) -> Iterator[str]:
    """What a system reads of each block, in the order of positions."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot).order_by("position")
    if words == BlockText.TEXT:
        yield from rows.values_list("version__text", flat=True).iterator(chunk_size=2_000)
        return
    columns = rows.values_list("version__title", "version__section_path", "version__text")
    for title, section_path, text in columns.iterator(chunk_size=2_000):
        yield "\n".join([title, *section_path, text])


def version_ids(snapshot: Snapshot) -> NDArray[np.int64]:
    """The block version at each position."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot).order_by("position")
    return np.fromiter(rows.values_list("version_id", flat=True).iterator(), dtype=np.int64)


def position_of_blocks(snapshot: Snapshot) -> dict[str, int]:
    """Position by the block's outside id."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot)
    return dict(rows.values_list("block__outside_id", "position").iterator())


def positions_of(snapshot: Snapshot, block_ids: Collection[str]) -> dict[str, int]:
    """The positions of those outside ids that are blocks of the snapshot."""
    found: dict[str, int] = {}
    for part in in_parts(sorted(block_ids)):
        named = Block.objects.filter(corpus=snapshot.corpus_id, outside_id__in=part)
        rows = SnapshotBlock.objects.filter(snapshot=snapshot, block__in=named)
        found.update(rows.values_list("block__outside_id", "position"))
    return found
