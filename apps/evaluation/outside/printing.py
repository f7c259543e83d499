"""What `karat eval` prints: a table for people, JSON, and rows for a pipeline."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from apps.common.csvsafe import safe_cell
from apps.common.wording import number
from apps.evaluation.gating import PASSED
from apps.evaluation.outside.evaluating import Evaluated, Held
from apps.evaluation.outside.release import Release
from apps.evaluation.scoring import conventions
from apps.evaluation.significance import Summary

COLUMNS = ["kind", "name", "state", "value", "low", "high", "n", "words"]
SIGNS = {"passed": "pass", "failed": "FAIL", "unknown": "?"}


class Sheet(NamedTuple):
    """Everything that is printed. `tier` is None without gates."""

    release: Release
    system: str
    found: Evaluated
    tier: str | None
    confidence: float
    seed: int


def as_table(sheet: Sheet) -> str:
    release, found = sheet.release, sheet.found
    split = f", {release.split} split" if release.split else ""
    parts = [f"{sheet.system} on {release.name}{split}: {len(release.queries):,} queries."]
    parts.append("\n".join(_score_lines(sheet)))
    if found.latency:
        p50, p95, p99, mean, n = found.latency
        parts.append(
            f"Latency in ms: p50 {number(p50, 0)}, p95 {number(p95, 0)}, p99 {number(p99, 0)}, "
            f"mean {number(mean, 0)}, n = {n:,}."
        )
    if found.held:
        parts.append("\n".join(_gate_lines(found.held)))
    parts.append(
        f"{conventions(list(found.measures))} Intervals at {sheet.confidence * 100:g} %, bootstrap over queries, "
        f"seed {sheet.seed}."
    )
    return "\n\n".join(parts) + "\n"


def _score_lines(sheet: Sheet) -> Iterator[str]:
    names = [str(measure) for measure in sheet.found.measures]
    width = max(map(len, names))
    for name, summary in zip(names, sheet.found.scores.summaries, strict=True):
        yield f"{name.ljust(width)}  {_told(summary)}"
    share = sheet.found.scores.judged_at_10
    yield f"{'judged@10'.ljust(width)}  {'not defined' if share is None else number(share, 4)}"


def _told(summary: Summary) -> str:
    if summary.mean is None:
        return "not defined for any query"
    between = f"  {number(summary.interval[0], 4)} to {number(summary.interval[1], 4)}" if summary.interval else ""
    return f"{number(summary.mean, 4)}{between}  n = {summary.n:,}"


def _gate_lines(held: tuple[Held, ...]) -> Iterator[str]:
    passed = sum(one.verdict.state == PASSED for one in held)
    yield f"Gates: {passed} of {len(held)} passed."
    for one in held:
        yield f"  {SIGNS[one.verdict.state]:<4}  {one.rule.name}: {one.verdict.words}"


def as_json(sheet: Sheet) -> str:
    return json.dumps(_facts(sheet), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _facts(sheet: Sheet) -> dict[str, Any]:
    release, found = sheet.release, sheet.found
    return {
        "release": {"name": release.name, "digest": release.digest, "split": release.split or None},
        "system": sheet.system,
        "queries": {
            "judged": len(release.queries),
            "in_run": found.scores.answered,
            "missing": found.scores.missing,
        },
        "measures": {
            str(measure): {"mean": one.mean, "ci": list(one.interval) if one.interval else None, "n": one.n}
            for measure, one in zip(found.measures, found.scores.summaries, strict=True)
        },
        "judged@10": found.scores.judged_at_10,
        "latency_ms": found.latency._asdict() if found.latency else None,
        "tier": sheet.tier,
        "gates": [_gate(one) for one in found.held],
        "passed": None if found.state is None else found.state == PASSED,
        "confidence": sheet.confidence,
        "seed": sheet.seed,
        "conventions": conventions(list(found.measures)),
    }


def _gate(one: Held) -> dict[str, Any]:
    verdict = one.verdict
    return {
        "name": one.rule.name,
        "state": verdict.state,
        "value": verdict.value,
        "bound": verdict.bound,
        "ci": list(verdict.interval) if verdict.interval else None,
        "n": verdict.n,
        "words": verdict.words,
    }


def as_csv(sheet: Sheet) -> str:
    return _delimited(sheet, ",")


def as_tsv(sheet: Sheet) -> str:
    return _delimited(sheet, "\t")


def _delimited(sheet: Sheet, delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(COLUMNS)
    for measure, one in zip(sheet.found.measures, sheet.found.scores.summaries, strict=True):
        low, high = one.interval or ("", "")
        writer.writerow(["measure", str(measure), "", "" if one.mean is None else one.mean, low, high, one.n, ""])
    if sheet.found.latency:
        for name, value in list(sheet.found.latency._asdict().items())[:-1]:
            writer.writerow(["latency", name, "", value, "", "", sheet.found.latency.n, ""])
    for held in sheet.found.held:
        said, (low, high) = held.verdict, held.verdict.interval or ("", "")
        value = "" if said.value is None else said.value
        writer.writerow(["gate", safe_cell(held.rule.name), said.state, value, low, high, said.n, said.words])
    return out.getvalue()


FORMATS = {"table": as_table, "json": as_json, "csv": as_csv, "tsv": as_tsv}
