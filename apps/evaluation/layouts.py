"""A report of scored runs as a table for people, and as JSON, CSV and TSV for machines."""

from __future__ import annotations

import csv
import io
import json
import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from apps.common.csvsafe import safe_cell
from apps.evaluation.measures import Measure
from apps.evaluation.scoring import RunScores, conventions
from apps.evaluation.significance import RESAMPLES

COLUMNS = ["run", "query", "measure", "value", "low", "high", "n"]
ALL_QUERIES = "all"
NOTE_WIDTH = 100


class ScoredRun(NamedTuple):
    """The scores of one run under the name the report calls it by; `missing` are judged queries it lacks."""

    tag: str
    scores: RunScores
    missing: tuple[str, ...]


class Report(NamedTuple):
    """Everything a layout prints. Measures stand under the name they were asked for."""

    measures: Mapping[str, Measure]
    queries: tuple[str, ...]
    with_relevant: int
    runs: Sequence[ScoredRun]
    confidence: float | None
    seed: int
    with_queries: bool


def with_distinct_tags(runs: list[ScoredRun], paths: Sequence[str]) -> list[ScoredRun]:
    """The runs, those that share a tag called after their file as well, or else by their number."""
    shared = Counter(run.tag for run in runs)
    names = Counter((run.tag, Path(path).name) for run, path in zip(runs, paths, strict=True))
    found = []
    for number, (run, path) in enumerate(zip(runs, paths, strict=True), 1):
        name = Path(path).name
        label = name if names[run.tag, name] == 1 else f"{path}, {number}"
        found.append(run if shared[run.tag] == 1 else run._replace(tag=f"{run.tag} ({label})"))
    return found


def as_json(report: Report) -> str:
    """One JSON object, numbers unrounded; undefined values are null."""
    missing = set().union(*(run.missing for run in report.runs))
    body = {
        "queries": {
            "judged": len(report.queries),
            "with_relevant": report.with_relevant,
            "in_run": len(report.queries) - len(missing),
            "missing": len(missing),
        },
        "runs": [_run_as_json(report, run) for run in report.runs],
        "confidence": report.confidence,
        "seed": report.seed,
        "resamples": RESAMPLES if report.confidence else None,
        "conventions": conventions(list(report.measures.values())),
    }
    return json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _run_as_json(report: Report, run: ScoredRun) -> dict[str, Any]:
    found: dict[str, Any] = {
        "tag": run.tag,
        "queries": {"in_run": run.scores.answered, "missing": run.scores.missing},
        "measures": {
            name: {
                "mean": summary.mean,
                "ci": list(summary.interval) if summary.interval else None,
                "n": summary.n,
            }
            for name, summary in zip(report.measures, run.scores.summaries, strict=True)
        },
        "judged@10": run.scores.judged_at_10,
    }
    if report.with_queries:
        found["per_query"] = {
            query: {name: None if math.isnan(value) else value for name, value in zip(names, row, strict=True)}
            for names in [list(report.measures)]
            for query, row in zip(report.queries, run.scores.values.tolist(), strict=True)
        }
    return found


def as_csv(report: Report) -> str:
    """Rows of COLUMNS; means have the query `all` and their interval, values of queries leave it empty."""
    return _delimited(report, ",")


def as_tsv(report: Report) -> str:
    """As CSV, divided by tabs."""
    return _delimited(report, "\t")


def _delimited(report: Report, delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(COLUMNS)
    for run in report.runs:
        writer.writerows(_rows(report, run))
    return out.getvalue()


def _rows(report: Report, run: ScoredRun) -> Iterator[list[str]]:
    tag = safe_cell(run.tag)
    if report.with_queries:
        for query, row in zip(report.queries, run.scores.values.tolist(), strict=True):
            for name, value in zip(report.measures, row, strict=True):
                yield [tag, safe_cell(query), name, "" if math.isnan(value) else repr(value), "", "", ""]
    for name, summary in zip(report.measures, run.scores.summaries, strict=True):
        low, high = summary.interval or ("", "")
        mean = "" if summary.mean is None else summary.mean
        yield [tag, ALL_QUERIES, name, str(mean), str(low), str(high), str(summary.n)]
    share = run.scores.judged_at_10
    yield [
        tag,
        ALL_QUERIES,
        "judged@10",
        "" if share is None else str(share),
        "",
        "",
        str(run.scores.answered),
    ]


def as_table(report: Report) -> str:
    """For people: four decimals, runs under one another for each measure, and the conventions below."""
    parts = [
        _aligned(_summary_rows(report)),
        "\n".join(textwrap.fill(note, NOTE_WIDTH) for note in _notes(report)),
    ]
    if report.with_queries:
        parts[1:1] = [_aligned(_query_rows(report, run), first_left=1) for run in report.runs]
    return "\n\n".join(parts) + "\n"


def _summary_rows(report: Report) -> list[list[str]]:
    heading = f"{report.confidence * 100:g} % interval" if report.confidence else ""
    rows = [["measure", "run", "mean", heading, "n"]]
    for place, name in enumerate(report.measures):
        for number, run in enumerate(report.runs):
            summary = run.scores.summaries[place]
            mean = "undefined" if summary.mean is None else f"{summary.mean:.4f}"
            between = f"{summary.interval[0]:.4f} to {summary.interval[1]:.4f}" if summary.interval else ""
            rows.append(["" if number else name, run.tag, mean, between, str(summary.n)])
    for number, run in enumerate(report.runs):
        share = run.scores.judged_at_10
        value = "undefined" if share is None else f"{share:.4f}"
        rows.append(["" if number else "judged@10", run.tag, value, "", str(run.scores.answered)])
    return rows


def _query_rows(report: Report, run: ScoredRun) -> list[list[str]]:
    rows = [[f"{run.tag}, query", *report.measures]]
    for query, values in zip(report.queries, run.scores.values.tolist(), strict=True):
        rows.append([query, *("undefined" if math.isnan(value) else f"{value:.4f}" for value in values)])
    return rows


def _notes(report: Report) -> Iterator[str]:
    yield f"{len(report.queries)} queries judged, {report.with_relevant} with a relevant block."
    for run in report.runs:
        if run.missing:
            yield f"{run.tag} lacks {len(run.missing)} of them."
    yield conventions(list(report.measures.values()))
    if report.confidence:
        yield f"Intervals: percentile bootstrap over queries, {RESAMPLES:,} resamples, seed {report.seed}."


def _aligned(rows: list[list[str]], *, first_left: int = 2) -> str:
    """Columns of even width: the first ones set left, figures set right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if column < first_left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
