"""What the pages of gates show."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.utils.safestring import SafeString

from apps.common.charts import svg, tag, title
from apps.common.wording import number
from apps.evaluation import gates
from apps.evaluation.charts.drawing import CELL_WIDTH, Bounds, bounds_of
from apps.evaluation.enums import GateState
from apps.evaluation.gates import Held
from apps.evaluation.models import GateResult
from apps.goldsets.models import GoldSet
from apps.retrieval.models import System

CELL_HEIGHT = 24


class SystemGates(NamedTuple):
    """The gates of one system on one gold set, and how they stand together."""

    system: System
    rows: list[Held]

    @property
    def state(self) -> str:
        return gates.state_of_all(self.rows)


class SetGates(NamedTuple):
    """A gold set and the systems that are held to gates on it, by name."""

    gold_set: GoldSet
    systems: list[SystemGates]


def by_set(gold_sets: Iterable[GoldSet], rows: Sequence[Held]) -> list[SetGates]:
    """Every gold set with its gates, also one without any."""
    found = []
    for gold_set in gold_sets:
        mine = [row for row in rows if row.gate.gold_set_id == gold_set.pk]
        systems = {row.gate.system_id: row.gate.system for row in mine}
        parts = [
            SystemGates(system, [row for row in mine if row.gate.system_id == pk]) for pk, system in systems.items()
        ]
        found.append(SetGates(gold_set, parts))
    return found


def history_bounds(results: Sequence[GateResult]) -> Bounds:
    """One scale for the values and bounds of a gate's history."""
    return bounds_of([value for row in results for value in (row.value, row.bound) if value is not None])


def history_cell(row: GateResult, bounds: Bounds) -> SafeString | str:
    """The value beside the bound it was held to: filled where it passed, hollow where it did not."""
    if row.value is None or row.bound is None:
        return ""
    words = f"{row.evaluation.run.tag}: {number(row.value)}, bound {number(row.bound)}, {row.get_state_display()}"
    line = tag("path", title("The bound"), class_="limit", d=f"M{bounds.place(row.bound):.1f} -8V32")
    css = "point" if row.state == GateState.PASSED else "open"
    mark = tag("circle", title(words), class_=css, cx=bounds.place(row.value), cy=CELL_HEIGHT / 2, r=5.0)
    return svg(CELL_WIDTH, CELL_HEIGHT, words, [line, mark])
