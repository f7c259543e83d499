"""The results of gates, as a section of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from apps.common.text.wording import interval
from apps.gates.core.decisions import formatted_value, unit
from apps.gates.core.rule import GateRule
from apps.reports.core.document import ReportSection, Table

HEAD = ["Gate", "State", "Value", "95 % interval", "n", "Result"]


class ReportedGate(NamedTuple):
    """The result of a rule for a run; `value` is None where it could not be decided."""

    rule: GateRule
    state: str
    words: str
    value: float | None
    interval: tuple[float, float] | None
    n: int | None


def gates_parts(results: Iterable[ReportedGate]) -> Iterator[ReportSection]:
    """A table of the gates with their figures and sentences; nothing without gates."""
    if rows := [_row(one) for one in results]:
        yield ReportSection("Gates", [Table("Gates", HEAD, rows, words=2, prose=frozenset({5}))])


def _row(one: ReportedGate) -> list[str]:
    if one.value is None:
        return [one.rule.name, one.state, "", "", "", one.words]
    value = f"{formatted_value(one.rule, one.value)}{unit(one.rule)}"
    ends = " to ".join(formatted_value(one.rule, end) for end in one.interval) if one.interval else interval(None)
    return [one.rule.name, one.state, value, ends, "" if one.n is None else f"{one.n:,}", one.words]
