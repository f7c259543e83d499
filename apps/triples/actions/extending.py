"""A further expected block for an accepted triple: the next revision, worded like the one before."""

from datetime import datetime

from django.db.models import Max

from apps.triples.models import ExpectedBlock, Revision, Triple
from apps.triples.selectors.draft_checks import BlockChoice
from apps.triples.selectors.triples import expected_blocks


def extended_revision(triple: Triple, block: BlockChoice, at: datetime) -> Revision:
    """The next revision of a locked triple: as the current one, with `block` as its last expected block, submitted.

    Question, answer and author stay those of the current revision, since nobody wrote anything anew. The caller opens
    its round and makes the step.
    """
    current = triple.revision
    last = triple.revisions.aggregate(last=Max("number"))["last"]
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
