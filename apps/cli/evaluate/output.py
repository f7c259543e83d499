"""The output of `karat eval`: that of `karat score`, with latency and gates."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from apps.cli import scorecards
from apps.cli.arguments import called
from apps.cli.evaluate.misses import Misses
from apps.cli.evaluate.released import ReleaseSplit
from apps.cli.evaluate.scoring import DecidedRule, Evaluated, LatencyFigures
from apps.cli.tables import delimited
from apps.common.files.csvsafe import safe_cell
from apps.common.text.wording import number
from apps.gates.core.rule import PASSED
from apps.metrics.scorecard import Scorecard

COLUMNS = ["kind", "name", "state", "value", "low", "high", "n", "words"]
STEP_WIDTH = 100
SIGNS = {"passed": "pass", "failed": "FAIL", "unknown": "?", "nothing": "-"}


class ResultSheet(NamedTuple):
    """Everything to print. `tier` is None without gates; `timed` describes how latency was measured.

    `misses` are those of each side. `steps` are sentences on what to do with the result, None where nobody wants them.
    """

    release: ReleaseSplit
    evaluated: Evaluated
    tier: str | None
    timed: str = ""
    misses: Sequence[Misses] = ()
    steps: Sequence[str] | None = None

    @property
    def system(self) -> str:
        return self.evaluated.run.tag

    @property
    def title(self) -> str:
        split = f", {self.release.split} split" if self.release.split else ""
        part = f", {self.release.slice} slice" if self.release.slice else ""
        return f"{self.system} on {self.release.name}{split}{part}"

    @property
    def counted(self) -> str:
        """How many graded queries and Q&As there are; of the two those that there are."""
        queries, triples = len(self.release.queries), len(self.release.triples)
        counts = [f"{queries:,} graded queries" if triples else f"{queries:,} queries"] if queries else []
        return " and ".join([*counts, *([f"{triples:,} Q&As"] if triples else [])])


def as_table(sheet: ResultSheet) -> str:
    evaluated = sheet.evaluated
    parts = [f"{sheet.title}: {sheet.counted}."]
    if evaluated.state:
        parts.append("\n".join(_gate_lines(evaluated.gates)))
    if evaluated.latency:
        parts.append(latency_words(evaluated.latency, sheet.timed))
    for card in evaluated.cards:
        heading = [measured_against(card)] if evaluated.on_triples else []
        parts += [*heading, scorecards.as_table(card).rstrip("\n")]
    if sheet.steps:
        parts += ["What to do with this", "\n".join(map(_step, sheet.steps))]
    return "\n\n".join(parts) + "\n"


def _step(sentence: str) -> str:
    """A point of a list; a command is a line of its own, so that it can be copied whole."""
    words, begins, command = sentence.partition(f"{called('eval')} ")
    filled = textwrap.fill(
        words, STEP_WIDTH, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return f"{filled}\n    {begins}{command}" if begins else filled


def measured_against(card: Scorecard) -> str:
    """The heading of one side: the two are never mixed."""
    return f"Measured on Q&As, hit rule {card.hit}" if card.hit else "Measured by grades"


def latency_words(latency: LatencyFigures, timed: str) -> str:
    words = (
        f"Latency in ms: p50 {number(latency.p50, 0)}, p95 {number(latency.p95, 0)}, p99 {number(latency.p99, 0)}, "
        f"mean {number(latency.mean, 0)}, n = {latency.n:,}"
    )
    return f"{words}; {timed}." if timed else f"{words}."


def gates_words(gates: tuple[DecidedRule, ...]) -> str:
    if not gates:
        return "Nothing was checked: no gate is on what was measured."
    passed = sum(one.verdict.state == PASSED for one in gates)
    return f"{passed} of {len(gates)} gates passed."


def _gate_lines(gates: tuple[DecidedRule, ...]) -> Iterator[str]:
    yield gates_words(gates)
    for gate in gates:
        yield f"  {SIGNS[gate.verdict.state]:<4}  {gate.rule.name}: {gate.verdict.words}"


def as_json(sheet: ResultSheet) -> str:
    """The object of `karat score`, with release, latency and gates; that of `--triples` is its `triples`."""
    release, evaluated = sheet.release, sheet.evaluated
    part = {"slice": release.slice} if release.slice else {}
    body = {
        "release": {"name": release.name, "digest": release.digest, "split": release.split or None, **part},
        "system": sheet.system,
        "passed": None if evaluated.state is None else evaluated.state == PASSED,
        "state": evaluated.state,
        "tier": sheet.tier,
        "gates": [_gate(one) for one in evaluated.gates],
        "latency_ms": evaluated.latency._asdict() if evaluated.latency else None,
        **(json.loads(scorecards.as_json(evaluated.by_grades)) if evaluated.by_grades else {}),
        **({"triples": json.loads(scorecards.as_json(evaluated.on_triples))} if evaluated.on_triples else {}),
        **({} if sheet.steps is None else {"next": list(sheet.steps)}),
    }
    return json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _gate(decided: DecidedRule) -> dict[str, Any]:
    verdict = decided.verdict
    return {
        "name": decided.rule.name,
        "state": verdict.state,
        **verdict.estimate.as_json,
        "bound": verdict.bound,
        "words": verdict.words,
    }


def as_csv(sheet: ResultSheet) -> str:
    """Rows of COLUMNS for measures by grades and on triples (their words are the hit rule), latency and gates."""
    return delimited([COLUMNS, *_rows(sheet.evaluated)], ",")


def as_tsv(sheet: ResultSheet) -> str:
    """As CSV, separated by tabs."""
    return delimited([COLUMNS, *_rows(sheet.evaluated)], "\t")


def _rows(evaluated: Evaluated) -> Iterator[list[Any]]:
    for card in evaluated.cards:
        kind, words = ("hit measure", str(card.hit)) if card.hit else ("measure", "")
        for name, summary in zip(card.measures, card.runs[-1].scores.summaries, strict=True):
            low, high = summary.interval or ("", "")
            yield [kind, name, "", "" if summary.mean is None else summary.mean, low, high, summary.n, words]
    if evaluated.latency:
        for name in ("p50", "p95", "p99", "mean"):
            yield ["latency", name, "", getattr(evaluated.latency, name), "", "", evaluated.latency.n, ""]
    for gate in evaluated.gates:
        verdict = gate.verdict
        low, high = verdict.interval or ("", "")
        value = "" if verdict.value is None else verdict.value
        yield ["gate", safe_cell(gate.rule.name), verdict.state, value, low, high, verdict.n, verdict.words]


FORMATS = {"table": as_table, "json": as_json, "csv": as_csv, "tsv": as_tsv}
