"""The output of `karat eval`: that of `karat score` with latency and gates, and the report."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from apps.cli import scorecards
from apps.cli.arguments import called, delimited
from apps.cli.evaluate.misses import Miss, Misses, named
from apps.cli.evaluate.next_steps import missed_words
from apps.cli.evaluate.released import ReleaseSplit
from apps.cli.evaluate.scoring import DecidedRule, Evaluated, LatencyFigures
from apps.common.files.csvsafe import safe_cell
from apps.common.text.wording import beginning, harmless, number
from apps.gates.core.rule import FAILED, NOTHING, PASSED, UNKNOWN
from apps.metrics.scorecard import Input, Scorecard, text_words
from apps.reports.core.document import Block, Document, Paragraph, ReportSection, Table
from apps.reports.core.score_document import lead_of_means, scored_document
from apps.reports.core.version_document import ReportedGate, gates_parts

COLUMNS = ["kind", "name", "state", "value", "low", "high", "n", "words"]
STEP_WIDTH = 100
SIGNS = {PASSED: "pass", FAILED: "FAIL", UNKNOWN: "?", NOTHING: "-"}
NOT_PASSED = {FAILED: "failed", UNKNOWN: "not known yet", NOTHING: "without a query"}


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
        heading = [measured_against(card)] if evaluated.on_triples or card.is_by_text else []
        parts += [*heading, scorecards.as_table(card).rstrip("\n")]
    if sheet.steps:
        parts += ["What to do with this", "\n".join(map(_step, sheet.steps))]
    return harmless("\n\n".join(parts)) + "\n"


def _step(sentence: str) -> str:
    """A point of a list; a command is a line of its own, so that it can be copied whole."""
    words, begins, command = sentence.partition(f"{called('eval')} ")
    filled = textwrap.fill(
        words, STEP_WIDTH, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return f"{filled}\n    {begins}{command}" if begins else filled


def measured_against(card: Scorecard) -> str:
    """The heading of one side: the two are never mixed."""
    if card.hit is None:
        return "Measured by grades"
    return (
        f"Measured by grades, by {text_words(card.hit)}"
        if card.is_by_text
        else f"Measured on Q&As, hit rule {card.hit}"
    )


def latency_words(latency: LatencyFigures, timed: str) -> str:
    words = (
        f"Latency in ms: p50 {number(latency.p50, 0)}, p95 {number(latency.p95, 0)}, p99 {number(latency.p99, 0)}, "
        f"mean {number(latency.mean, 0)}, n = {latency.n:,}"
    )
    return f"{words}; {timed}." if timed else f"{words}."


def gates_words(gates: tuple[DecidedRule, ...]) -> str:
    if not gates:
        return "Nothing was checked: no gate is on what was measured."
    states = Counter(one.verdict.state for one in gates)
    others = (f"{states[state]} {words}" for state, words in NOT_PASSED.items() if states[state])
    return f"{'; '.join([f'{states[PASSED]} of {len(gates)} gates passed', *others])}."


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
    """Rows of COLUMNS for measures by grades and on triples, latency and gates.

    The words of a measure on triples, or by text, are the rule.
    """
    return delimited([COLUMNS, *_rows(sheet.evaluated)], ",")


def as_tsv(sheet: ResultSheet) -> str:
    """As CSV, separated by tabs."""
    return delimited([COLUMNS, *_rows(sheet.evaluated)], "\t")


def _rows(evaluated: Evaluated) -> Iterator[list[Any]]:
    for card in evaluated.cards:
        kind, words = "hit measure" if card.counts_questions else "measure", str(card.hit or "")
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

MOST_MISSES = 50
MOST_LETTERS = 160


def document_of(sheet: ResultSheet, inputs: Sequence[Input]) -> Document:
    """The report; by grades and on Q&As each have sections of their own, and `inputs` are the files."""
    release = sheet.release
    basis = [("Gold set", release.name), ("Digest of the version", release.digest or "none")]
    if sheet.tier:
        basis.append(("Tier of the gates", sheet.tier))
    first, *others = [card._replace(inputs=inputs) for card in sheet.evaluated.cards]
    document = scored_document(first, title=sheet.title, basis=basis)
    lead = " ".join([document.lead, *(f"{measured_against(card)}: {lead_of_means(card)}" for card in others)])
    parts = [*gates_parts(map(_reported, sheet.evaluated.gates)), *_latency_parts(sheet), *document.parts]
    for card in others:
        parts += [
            part._replace(title=f"On Q&As: {part.title}") for part in scored_document(card._replace(inputs=[])).parts
        ]
    parts += [*_miss_parts(sheet), *_step_parts(sheet)]
    if first.is_by_text:
        lead = f"{measured_against(first)}. {lead}"
    if sheet.evaluated.state:
        lead = f"{gates_words(sheet.evaluated.gates)} {lead}"
    return document._replace(parts=parts, lead=lead)


def _reported(decided: DecidedRule) -> ReportedGate:
    verdict = decided.verdict
    return ReportedGate(decided.rule, verdict.state, verdict.words, verdict.value, verdict.interval, verdict.n)


def _latency_parts(sheet: ResultSheet) -> Iterator[ReportSection]:
    if sheet.evaluated.latency:
        yield ReportSection("Latency", [Paragraph(latency_words(sheet.evaluated.latency, sheet.timed))])


def _miss_parts(sheet: ResultSheet) -> Iterator[ReportSection]:
    """The missed questions of each side, and what came first instead."""
    for side in sheet.misses:
        if not side.missed:
            continue
        shown = side.missed[:MOST_MISSES]
        head = ["Question", "Asked", "Expected", "Rank", "What came first instead"]
        rows = [
            [one.question_id, one.text, named(one.expected), f"{one.rank}" if one.rank else "not returned", _first(one)]
            for one in shown
        ]
        blocks: list[Block] = [Paragraph(f"{missed_words(side)}.", quiet=True)]
        blocks.append(Table("Missed questions", head, rows, words=3, code=frozenset({0}), prose=frozenset({1, 4})))
        if more := len(side.missed) - len(shown):
            blocks.append(Paragraph(f"{more:,} more are not shown; --misses FILE lists all.", quiet=True))
        yield ReportSection(
            f"Missed {side.whose}", blocks, note=f"hit rule {side.hit}" if side.counts_questions else ""
        )


def _first(miss: Miss) -> str:
    """What came first, as far as the system told it."""
    first = miss.first.passage
    if first is None:
        return "nothing was returned"
    pages = f"pages {first.pages[0]} to {first.pages[1]}" if first.pages else ""
    place = ", ".join(filter(None, [first.id or first.document_id, "" if first.id else pages]))
    grade = f" ({miss.first.grade_words})" if miss.first.grade_words else ""
    return f"{place}{grade}: {beginning(first.text, MOST_LETTERS)}" if first.text else f"{place}{grade}"


def _step_parts(sheet: ResultSheet) -> Iterator[ReportSection]:
    if sheet.steps:
        yield ReportSection("What to do with this", [Paragraph(sentence) for sentence in sheet.steps])
