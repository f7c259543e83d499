"""The expected blocks in the bench's form: in order, each with its pinned version and its marks.

The form names a block once, as `block`; its fields have its id: `pinned-7`, `spans-7`, `evidence-7`,
`evidence_shown-7`. So rows can be added, moved and removed on the page without numbering them anew.
"""

from typing import Any, NamedTuple

from django import forms
from django.http import QueryDict

BIGGEST = 2**63 - 1


class SentBlock(NamedTuple):
    """One expected block as it was sent, not validated.

    `spans` is JSON. `evidence` holds the same passages as text, one a line, to paste them: it counts when it differs
    from `shown`, the text that the page showed.
    """

    block: int
    pinned: int | None = None
    spans: str = "[]"
    evidence: str = ""
    shown: str = ""

    @property
    def is_retyped(self) -> bool:
        return self.evidence.split() != self.shown.split()


def whole(text: str) -> int | None:
    """A row's id, or None for anything else."""
    is_number = text.isascii() and text.isdecimal() and len(text) < 20
    return int(text) if is_number and int(text) <= BIGGEST else None


def rows_of(data: QueryDict) -> list[SentBlock]:
    """The rows that were sent, each block once. A block id that is no number is left out."""
    ids = dict.fromkeys(block for text in data.getlist("block") if (block := whole(text)) is not None)
    return [
        SentBlock(
            block,
            whole(data.get(f"pinned-{block}", "")),
            data.get(f"spans-{block}", "") or "[]",
            data.get(f"evidence-{block}", ""),
            data.get(f"evidence_shown-{block}", ""),
        )
        for block in ids
    ]


class RowsWidget(forms.Widget):
    """Reads the rows; the page renders them with triples/_chosen.html."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[SentBlock]:
        return rows_of(data)


def changed(data: QueryDict) -> QueryDict:
    """The form after its `do` button: "add:7", "remove:7", "up:7" or "down:7". Anything else changes nothing."""
    verb, _, text = data.get("do", "").partition(":")
    block = whole(text)
    if block is None:
        return data
    order = [str(row.block) for row in rows_of(data)]
    copy = data.copy()
    copy.setlist("block", _reordered(order, verb, str(block)))
    return copy


def _reordered(order: list[str], verb: str, block: str) -> list[str]:
    if verb == "add":
        return order if block in order else [*order, block]
    if block not in order:
        return order
    at = order.index(block)
    rest = order[:at] + order[at + 1 :]
    if verb == "remove":
        return rest
    to = {"up": max(at - 1, 0), "down": at + 1}.get(verb, at)
    return [*rest[:to], block, *rest[to:]]
