"""The report of an outside system: gates and latency, then the sections of every score report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from apps.cli.evaluate.output import ResultSheet, gates_words, latency_words, measured_against
from apps.cli.evaluate.scoring import DecidedRule
from apps.metrics.scorecard import Input
from apps.reports.core.document import Document, Paragraph, ReportSection
from apps.reports.core.gate_parts import ReportedGate, gates_parts
from apps.reports.core.score_document import lead_of_means, scored_document


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
    if sheet.evaluated.gates:
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
