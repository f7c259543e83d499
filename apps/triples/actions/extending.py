"""A further expected block for an accepted triple: the next revision, worded like the one before."""

from datetime import datetime

from django.db.models import Max

from apps.corpus.models import SnapshotBlock
from apps.triples.models import ExpectedBlock, Revision, Triple
from apps.triples.selectors.draft_checks import BlockChoice
from apps.triples.selectors.triples import expected_blocks, open_revision


def extended_revision(triple: Triple, block: BlockChoice, at: datetime) -> Revision:
    """The next revision of a locked triple: as the current one, with `block` as its last expected block, submitted.

    Question, answer and author stay those of the current revision, since nobody wrote anything anew. The caller opens
    its round and makes the step. A revision that somebody is writing meanwhile comes after it, with the block as well.
    """
    current = triple.revision
    last = triple.revisions.aggregate(last=Max("number"))["last"]
    if (writing := open_revision(triple)) is not None:
        _take_along(writing, block, last + 1)
        triple.edit_version += 1
        triple.save(update_fields=["edit_version"])
        last -= 1
    revision = Revision.objects.create(
        triple=triple,
        number=last + 1,
        author=current.author,
        snapshot=current.snapshot,
        question=current.question,
        answer=current.answer,
        needs_all_blocks=current.needs_all_blocks,
        note=current.note,
        warnings=current.warnings,
        round=triple.round + 1,
        created_at=at,
        saved_at=at,
    )
    kept = [BlockChoice(former.version_id, tuple(former.spans)) for former in expected_blocks(current)]
    ExpectedBlock.objects.bulk_create(
        ExpectedBlock(
            revision=revision, version_id=choice.version_id, order=order, spans=[list(span) for span in choice.spans]
        )
        for order, choice in enumerate([*kept, block])
    )
    revision.submitted_at = at
    revision.save(update_fields=["submitted_at"])
    return revision


def _take_along(writing: Revision, block: BlockChoice, number: int) -> None:
    """Give an open revision a later number, and the block as its last, where its snapshot has the same text."""
    writing.number = number
    writing.save(update_fields=["number"])
    if SnapshotBlock.objects.filter(snapshot=writing.snapshot_id, version=block.version_id).exists():
        spans, order = [list(span) for span in block.spans], writing.expected_blocks.count()
        ExpectedBlock.objects.create(revision=writing, version_id=block.version_id, order=order, spans=spans)
