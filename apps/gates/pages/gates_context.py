"""Contexts of the gates' pages."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.utils.safestring import SafeString

from apps.common.drawing.charts import DrawnEstimate, svg, tag, title, whisker
from apps.common.text.words import MINUS
from apps.evaluation.core.charts import CELL_WIDTH, Bounds, bounds_of
from apps.evaluation.edges.score_charts import head_cell
from apps.evaluation.edges.sheets import shallow_words
from apps.gates.core.decisions import bound_of, formatted_value, unit
from apps.gates.core.rule import COST, GateRule, range_fault
from apps.gates.enums import GateState
from apps.gates.execution import checks
from apps.gates.models import Gate, GateResult
from apps.gates.selectors import gates
from apps.gates.selectors.gates import GateStatus
from apps.goldsets.models import GoldSet
from apps.jobs.models import Job
from apps.retrieval.models import System

CELL_HEIGHT = 24


class SystemGates(NamedTuple):
    """The gates of one system on one gold set, and their worst state."""

    system: System
    rows: list[GateStatus]

    @property
    def state(self) -> str:
        return gates.state_of_all(self.rows)


class SetGates(NamedTuple):
    """A gold set and the systems with gates on it, by name."""

    gold_set: GoldSet
    systems: list[SystemGates]


def by_set(gold_sets: Iterable[GoldSet], rows: Sequence[GateStatus]) -> list[SetGates]:
    """Every gold set with its gates, also one without gates."""
    sets = []
    for gold_set in gold_sets:
        mine = [row for row in rows if row.gate.gold_set_id == gold_set.pk]
        systems = {row.gate.system_id: row.gate.system for row in mine}
        parts = [
            SystemGates(system, [row for row in mine if row.gate.system_id == pk]) for pk, system in systems.items()
        ]
        sets.append(SetGates(gold_set, parts))
    return sets


def shallow(row: GateStatus) -> str:
    """The warning that the gate's measure reads deeper than the rankings of the run; "" where it does not."""
    measure = gates.rule_of(row.gate).measure
    if row.result is None or measure is None:
        return ""
    return shallow_words([str(measure)], row.result.evaluation)


class EarlierScoresCheck(NamedTuple):
    """The job that checks earlier scores against a gate, and how many scores there are."""

    job: Job
    scores: int


def running_check(gate: Gate) -> EarlierScoresCheck | None:
    """None where no such job is active, or nothing was scored."""
    open_jobs = Job.objects.open().filter(project=gate.gold_set.project_id, kind=checks.KIND)
    job = open_jobs.filter(params__gate_id=gate.pk).order_by("-pk").first()
    scores = gates.scored_for(gate).count() if job else 0
    return EarlierScoresCheck(job, scores) if job and scores else None


class HistoryRow(NamedTuple):
    """A row of a gate's history: the figure and its interval, as text and drawn."""

    result: GateResult
    value: str
    interval: str
    drawing: SafeString | str


class History(NamedTuple):
    """The results of a gate on one scale. `head` is the axis, "" where nothing can be drawn."""

    rows: list[HistoryRow]
    head: SafeString | str
    bound: str


def history(gate: Gate, results: Sequence[GateResult]) -> History:
    """The results for the gate's page, in the given order."""
    rule = gates.rule_of(gate)
    bounds = history_bounds(rule, results)
    has_values = any(row.value is not None for row in results)
    bound = f"{bound_of(rule):,g}{unit(rule)}".replace("-", MINUS)
    return History([_history_row(rule, row, bounds) for row in results], head_cell(bounds) if has_values else "", bound)


def _history_row(rule: GateRule, row: GateResult, bounds: Bounds) -> HistoryRow:
    value = "" if row.value is None else f"{formatted_value(rule, row.value)}{unit(rule)}"
    return HistoryRow(row, value, _interval(rule, row), history_cell(rule, row, bounds))


def _interval(rule: GateRule, row: GateResult) -> str:
    """The interval and n of a value; for a result older than those columns, where to find them."""
    if row.value is None:
        return ""
    if row.n is None:
        return "interval: see the result"
    if row.ci_low is None or row.ci_high is None:
        return "" if rule.figure == COST else f"no interval, n = {row.n:,}"
    return f"{formatted_value(rule, row.ci_low)} to {formatted_value(rule, row.ci_high)}{unit(rule)}, n = {row.n:,}"


def history_bounds(rule: GateRule, results: Sequence[GateResult]) -> Bounds:
    """One scale for the values, intervals and bounds of a gate's history.

    A bound outside the figure's range is left out: next to 70, every nDCG would be at the left end.
    """
    ends = [end for row in results for end in (row.value, row.ci_low, row.ci_high, row.bound)]
    if range_fault(rule):
        ends = [end for row in results for end in (row.value, row.ci_low, row.ci_high)]
    return bounds_of([end for end in ends if end is not None])


def history_cell(rule: GateRule, row: GateResult, bounds: Bounds) -> SafeString | str:
    """The value with its interval and bound: filled where it passed, hollow where not."""
    if row.value is None or row.bound is None:
        return ""
    figures = ", ".join(filter(None, (formatted_value(rule, row.value), _interval(rule, row))))
    threshold = f"threshold {formatted_value(rule, row.bound)}"
    words = f"{row.evaluation.run.tag}: {figures}; {threshold}, {row.get_state_display()}"
    line = tag("path", title("The threshold"), class_="limit", d=f"M{bounds.place(row.bound):.1f} -60V84")
    lines = [line] if bounds.low <= row.bound <= bounds.high else []
    point = DrawnEstimate(row.evaluation.run.tag, row.value, row.ci_low, row.ci_high)
    css = "point" if row.state == GateState.PASSED else "open"
    return svg(
        CELL_WIDTH, CELL_HEIGHT, words, [*lines, whisker(point, bounds.place, CELL_HEIGHT / 2, radius=5, class_=css)]
    )
