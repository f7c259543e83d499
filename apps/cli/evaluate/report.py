"""The report of an outside system: gates and latency, then the sections of every score report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import shorten

from apps.cli.evaluate.misses import Miss, named
from apps.cli.evaluate.next_steps import missed_words
from apps.cli.evaluate.output import ResultSheet, gates_words, latency_words, measured_against
from apps.cli.evaluate.scoring import DecidedRule
from apps.metrics.scorecard import Input
from apps.reports.core.document import Block, Document, Paragraph, ReportSection, Table
from apps.reports.core.score_document import lead_of_means, scored_document
from apps.reports.core.version_document import ReportedGate, gates_parts

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
        parts += [_on_triples(part) for part in scored_document(card._replace(inputs=[])).parts]
    parts += [*_miss_parts(sheet), *_step_parts(sheet)]
    if sheet.evaluated.state:
        lead = f"{gates_words(sheet.evaluated.gates)} {lead}"
    return document._replace(parts=parts, lead=lead)


def _on_triples(part: ReportSection) -> ReportSection:
    return part._replace(title=f"On Q&As: {part.title}")


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
        whose = "on Q&As" if side.hit else "by grades"
        yield ReportSection(f"Missed {whose}", blocks, note=f"hit rule {side.hit}" if side.hit else "")


def _first(miss: Miss) -> str:
    """What came first, as far as the system told it."""
    first = miss.first
    if first is None:
        return "nothing was returned"
    pages = f"pages {first.pages[0]} to {first.pages[1]}" if first.pages else ""
    place = ", ".join(filter(None, [first.id or first.document_id, "" if first.id else pages]))
    grade = "" if miss.first_grade is None else f" (grade {miss.first_grade})"
    return f"{place}{grade}: {shorten(first.text, MOST_LETTERS, placeholder=' …')}" if first.text else f"{place}{grade}"


def _step_parts(sheet: ResultSheet) -> Iterator[ReportSection]:
    if sheet.steps:
        yield ReportSection("What to do with this", [Paragraph(sentence) for sentence in sheet.steps])
