"""The report of an outside system: gates and latency, then the sections of every score report."""

from __future__ import annotations

from collections.abc import Iterator

from apps.cli.evaluate.output import ResultSheet, gates_words, latency_words
from apps.cli.evaluate.scoring import DecidedRule
from apps.reports.core.document import Document, Paragraph, ReportSection
from apps.reports.core.gate_parts import Decided, gates_parts
from apps.reports.core.score_document import scored_document


def document_of(sheet: ResultSheet) -> Document:
    release = sheet.release
    basis = [("Gold set", release.name), ("Digest of the version", release.digest or "none")]
    if sheet.tier:
        basis.append(("Tier of the gates", sheet.tier))
    found = scored_document(sheet.found.card, title=sheet.title, basis=basis)
    parts = [*gates_parts(map(_decided, sheet.found.gates)), *_latency_parts(sheet), *found.parts]
    lead = f"{gates_words(sheet.found.gates)} {found.lead}" if sheet.found.gates else found.lead
    return found._replace(parts=parts, lead=lead)


def _decided(one: DecidedRule) -> Decided:
    verdict = one.verdict
    return Decided(one.rule, verdict.state, verdict.words, verdict.value, verdict.interval, verdict.n)


def _latency_parts(sheet: ResultSheet) -> Iterator[ReportSection]:
    if sheet.found.latency:
        yield ReportSection("Latency", [Paragraph(latency_words(sheet.found.latency, sheet.timed))])
