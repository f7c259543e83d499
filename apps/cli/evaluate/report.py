"""The report of an outside system: gates and latency, then the sections of every score report."""

from __future__ import annotations

from collections.abc import Iterator

from apps.cli.evaluate.output import ResultSheet, gates_words, latency_words
from apps.cli.evaluate.scoring import DecidedRule
from apps.reports.core.document import Document, Paragraph, ReportSection
from apps.reports.core.gate_parts import ReportedGate, gates_parts
from apps.reports.core.score_document import scored_document


def document_of(sheet: ResultSheet) -> Document:
    release = sheet.release
    basis = [("Gold set", release.name), ("Digest of the version", release.digest or "none")]
    if sheet.tier:
        basis.append(("Tier of the gates", sheet.tier))
    document = scored_document(sheet.evaluated.card, title=sheet.title, basis=basis)
    parts = [*gates_parts(map(_reported, sheet.evaluated.gates)), *_latency_parts(sheet), *document.parts]
    lead = f"{gates_words(sheet.evaluated.gates)} {document.lead}" if sheet.evaluated.gates else document.lead
    return document._replace(parts=parts, lead=lead)


def _reported(decided: DecidedRule) -> ReportedGate:
    verdict = decided.verdict
    return ReportedGate(decided.rule, verdict.state, verdict.words, verdict.value, verdict.interval, verdict.n)


def _latency_parts(sheet: ResultSheet) -> Iterator[ReportSection]:
    if sheet.evaluated.latency:
        yield ReportSection("Latency", [Paragraph(latency_words(sheet.evaluated.latency, sheet.timed))])
