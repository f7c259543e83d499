"""What the gates said, as a part of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from apps.common.text.wording import interval
from apps.gates.core.decisions import told, unit
from apps.gates.core.rule import GateRule
from apps.reports.core.document import ReportSection, Table

HEAD = ["Gate", "State", "Value", "95 % interval", "n", "Result"]


class Decided(NamedTuple):
    """A rule and what it said of a run. `value` is None where it could not be decided."""

    rule: GateRule
    state: str
    words: str
    value: float | None
    interval: tuple[float, float] | None
    n: int | None


def gates_parts(results: Iterable[Decided]) -> Iterator[ReportSection]:
    """A table of the gates with the figures they decided on and their sentences; nothing without gates."""
    if rows := [_row(one) for one in results]:
        yield ReportSection("Gates", [Table("Gates", HEAD, rows, words=2, prose=frozenset({5}))])


def _row(one: Decided) -> list[str]:
    if one.value is None:
        return [one.rule.name, one.state, "not known", "", "", one.words]
    value = f"{told(one.rule, one.value)}{unit(one.rule)}"
    ends = " to ".join(told(one.rule, end) for end in one.interval) if one.interval else interval(None)
    return [one.rule.name, one.state, value, ends, "" if one.n is None else f"{one.n:,}", one.words]
