"""Differences of two revisions of a triple, for reviewers and disputes, in every part that is reviewed."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from apps.common.text.worddiff import Piece, word_diff
from apps.triples.core.evidence import quoted
from apps.triples.models import ExpectedBlock, Revision
from apps.triples.selectors.staleness import MAX_COMPARED
from apps.triples.selectors.triples import blocks_of

Blocks = Mapping[int, list[ExpectedBlock]]


class TextChange(NamedTuple):
    """One part of what is reviewed: its label, the old and the new text, and their word difference."""

    label: str
    old: str
    new: str
    pieces: list[Piece]
    is_block: bool = False
    is_as_written: bool = False

    @property
    def is_changed(self) -> bool:
        return self.old != self.new

    @property
    def old_pieces(self) -> list[Piece]:
        return [piece for piece in self.pieces if piece.kind != "ins"]

    @property
    def new_pieces(self) -> list[Piece]:
        return [piece for piece in self.pieces if piece.kind != "del"]


class RevisionDifference(NamedTuple):
    """Question and answer come first, changed or not; `others` are the other changes."""

    before: Revision
    after: Revision
    changes: list[TextChange]

    @property
    def is_any(self) -> bool:
        return any(change.is_changed for change in self.changes)

    @property
    def others(self) -> list[TextChange]:
        return [change for change in self.changes[2:] if change.is_changed]

    @property
    def shown(self) -> list[TextChange]:
        return [*self.changes[:2], *self.others]


def _change(label: str, old: str, new: str) -> TextChange:
    if old != new and len(old) + len(new) > MAX_COMPARED:
        return TextChange(label, old, new, [Piece("del", old), Piece("ins", new)])
    return TextChange(label, old, new, word_diff(old, new))


def _evidence(blocks: list[ExpectedBlock]) -> str:
    return "\n".join(quoted(block.version.text, [(start, end) for start, end in block.spans]) for block in blocks)


def _name(block: ExpectedBlock) -> str:
    """ "Security handbook / 3.6 Break-glass access (SEC-3.6)"."""
    version = block.version
    title = f"{version.title} ({version.block.outside_id})" if version.title else version.block.outside_id
    return f"{version.block.document} / {title}"


def _needed(revision: Revision, blocks: list[ExpectedBlock]) -> str:
    if len(blocks) < 2:
        return "One passage"
    return "All of the passages are needed" if revision.needs_all_blocks else "Any one of the passages is enough"


def _new_texts(before: list[ExpectedBlock], after: list[ExpectedBlock]) -> Iterator[TextChange]:
    """The blocks that both revisions expect and whose text changed in a newer snapshot."""
    old = {block.version.block_id: block.version for block in before}
    for block in after:
        was = old.get(block.version.block_id)
        if was is not None and was.text_digest != block.version.text_digest:
            label = f"Text of {block.version.name}"
            yield _change(label, was.text, block.version.text)._replace(
                is_block=True, is_as_written=block.version.is_as_written
            )


def difference(before: Revision, after: Revision, blocks: Blocks | None = None) -> RevisionDifference:
    """Every part of two revisions side by side; blocks whose text changed in a newer snapshot come last.

    A caller passes the expected blocks of every revision, by its key, where it has read them.
    """
    if blocks is None:
        blocks = blocks_of([before, after])
    old, new = blocks[before.pk], blocks[after.pk]
    changes = [
        _change("Question", before.question, after.question),
        _change("Answer", before.answer, after.answer),
        _change("Evidence", _evidence(old), _evidence(new)),
        _change("Passages", "\n".join(map(_name, old)), "\n".join(map(_name, new))),
        _change("Needed", _needed(before, old), _needed(after, new)),
        _change("Note", before.note, after.note),
        *_new_texts(old, new),
    ]
    return RevisionDifference(before, after, changes)


def last_difference(revision: Revision) -> RevisionDifference | None:
    """The difference to the submitted revision before, or None for a first one."""
    if revision.number == 1:
        return None
    before = (
        Revision.objects.filter(triple=revision.triple_id, number__lt=revision.number)
        .exclude(submitted_at=None)
        .select_related("author")
        .order_by("-number")
        .first()
    )
    return difference(before, revision) if before else None
