"""The report of an outside system: gates and latency before what every report of scores holds."""

from __future__ import annotations

from collections.abc import Iterator

from apps.cli.evaluate.output import Sheet, gates_words, latency_words
from apps.cli.evaluate.scoring import Held
from apps.reports.core.document import Document, Part, Words
from apps.reports.core.gate_parts import Decided, gates_parts
from apps.reports.core.score_document import scored_document


def document_of(sheet: Sheet) -> Document:
    release = sheet.release
    basis = [("Gold set", release.name), ("Digest of the version", release.digest or "none")]
    if sheet.tier:
        basis.append(("Tier of the gates", sheet.tier))
    found = scored_document(sheet.found.card, title=sheet.title, basis=basis)
    parts = [*gates_parts(map(_decided, sheet.found.held)), *_latency_parts(sheet), *found.parts]
    lead = f"{gates_words(sheet.found.held)} {found.lead}" if sheet.found.held else found.lead
    return found._replace(parts=parts, lead=lead)


def _decided(one: Held) -> Decided:
    verdict = one.verdict
    return Decided(one.rule, verdict.state, verdict.words, verdict.value, verdict.interval, verdict.n)


def _latency_parts(sheet: Sheet) -> Iterator[Part]:
    if sheet.found.latency:
        yield Part("Latency", [Words(latency_words(sheet.found.latency, sheet.timed))])
