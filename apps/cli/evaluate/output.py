"""The output of `karat eval`: that of `karat score`, with latency and gates."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from apps.cli import scorecards
from apps.cli.evaluate.release import ReleaseSplit
from apps.cli.evaluate.scoring import DecidedRule, Evaluated, LatencyFigures
from apps.cli.tables import delimited
from apps.common.files.csvsafe import safe_cell
from apps.common.text.wording import number
from apps.gates.core.rule import PASSED

COLUMNS = ["kind", "name", "state", "value", "low", "high", "n", "words"]
SIGNS = {"passed": "pass", "failed": "FAIL", "unknown": "?"}


class ResultSheet(NamedTuple):
    """Everything to print. `tier` is None without gates; `timed` describes how latency was measured."""

    release: ReleaseSplit
    found: Evaluated
    tier: str | None
    timed: str = ""

    @property
    def system(self) -> str:
        return self.found.run.tag

    @property
    def title(self) -> str:
        split = f", {self.release.split} split" if self.release.split else ""
        return f"{self.system} on {self.release.name}{split}"


def as_table(sheet: ResultSheet) -> str:
    found = sheet.found
    parts = [f"{sheet.title}: {len(sheet.release.queries):,} queries."]
    if found.gates:
        parts.append("\n".join(_gate_lines(found.gates)))
    if found.latency:
        parts.append(latency_words(found.latency, sheet.timed))
    return "\n\n".join([*parts, scorecards.as_table(found.card)])


def latency_words(found: LatencyFigures, timed: str) -> str:
    words = (
        f"Latency in ms: p50 {number(found.p50, 0)}, p95 {number(found.p95, 0)}, p99 {number(found.p99, 0)}, "
        f"mean {number(found.mean, 0)}, n = {found.n:,}"
    )
    return f"{words}; {timed}." if timed else f"{words}."


def gates_words(gates: tuple[DecidedRule, ...]) -> str:
    passed = sum(one.verdict.state == PASSED for one in gates)
    return f"{passed} of {len(gates)} gates passed."


def _gate_lines(gates: tuple[DecidedRule, ...]) -> Iterator[str]:
    yield gates_words(gates)
    for one in gates:
        yield f"  {SIGNS[one.verdict.state]:<4}  {one.rule.name}: {one.verdict.words}"


def as_json(sheet: ResultSheet) -> str:
    """The object of `karat score`, with release, latency and gates."""
    release, found = sheet.release, sheet.found
    body = {
        "release": {"name": release.name, "digest": release.digest, "split": release.split or None},
        "system": sheet.system,
        "passed": None if found.state is None else found.state == PASSED,
        "tier": sheet.tier,
        "gates": [_gate(one) for one in found.gates],
        "latency_ms": found.latency._asdict() if found.latency else None,
        **json.loads(scorecards.as_json(found.card)),
    }
    return json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _gate(one: DecidedRule) -> dict[str, Any]:
    verdict = one.verdict
    return {
        "name": one.rule.name,
        "state": verdict.state,
        **verdict.estimate.as_json,
        "bound": verdict.bound,
        "words": verdict.words,
    }


def as_csv(sheet: ResultSheet) -> str:
    """Rows of COLUMNS for measures, latency and gates."""
    return delimited([COLUMNS, *_rows(sheet.found)], ",")


def as_tsv(sheet: ResultSheet) -> str:
    """As CSV, separated by tabs."""
    return delimited([COLUMNS, *_rows(sheet.found)], "\t")


def _rows(found: Evaluated) -> Iterator[list[Any]]:
    for name, one in zip(found.card.measures, found.run.scores.summaries, strict=True):
        low, high = one.interval or ("", "")
        yield ["measure", name, "", "" if one.mean is None else one.mean, low, high, one.n, ""]
    if found.latency:
        for name in ("p50", "p95", "p99", "mean"):
            yield ["latency", name, "", getattr(found.latency, name), "", "", found.latency.n, ""]
    for gate in found.gates:
        verdict = gate.verdict
        low, high = verdict.interval or ("", "")
        value = "" if verdict.value is None else verdict.value
        yield ["gate", safe_cell(gate.rule.name), verdict.state, value, low, high, verdict.n, verdict.words]


FORMATS = {"table": as_table, "json": as_json, "csv": as_csv, "tsv": as_tsv}
