"""What the gates said, as a part of a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from apps.evaluation.reporting.document import Part, Table


def gates_parts(results: Sequence[tuple[str, str, str]]) -> Iterator[Part]:
    """A table of name, state and sentence of each gate; nothing without gates."""
    if results:
        yield Part("Gates", [Table("Gates", ["Gate", "State", "What was found"], results, words=3)])
