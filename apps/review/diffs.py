"""What changed between two revisions of a triple, for reviewers and disputes."""

from typing import NamedTuple

from apps.common.worddiff import Piece, word_diff
from apps.triples.evidence import quoted
from apps.triples.models import Revision
from apps.triples.selectors import expected_blocks


class Change(NamedTuple):
    """One part of the wording: its label, the old and the new text, and their word difference."""

    label: str
    old: str
    new: str
    pieces: list[Piece]

    @property
    def is_changed(self) -> bool:
        return self.old != self.new


class Difference(NamedTuple):
    before: Revision
    after: Revision
    changes: list[Change]

    @property
    def is_any(self) -> bool:
        return any(change.is_changed for change in self.changes)


def _evidence(revision: Revision) -> str:
    blocks = expected_blocks(revision)
    return "\n".join(quoted(block.version.text, [(start, end) for start, end in block.spans]) for block in blocks)


def difference(before: Revision, after: Revision) -> Difference:
    pairs = (
        ("Question", before.question, after.question),
        ("Answer", before.answer, after.answer),
        ("Evidence", _evidence(before), _evidence(after)),
    )
    return Difference(before, after, [Change(label, old, new, word_diff(old, new)) for label, old, new in pairs])


def last_difference(revision: Revision) -> Difference | None:
    """The difference to the submitted revision before, or None for a first one."""
    before = (
        Revision.objects.filter(triple=revision.triple_id, number__lt=revision.number)
        .exclude(submitted_at=None)
        .select_related("author")
        .order_by("-number")
        .first()
    )
    return difference(before, revision) if before else None
