"""Check that a question, an answer and evidence exist, and that the evidence is in the pinned text."""

from collections.abc import Sequence
from typing import NamedTuple

from apps.triples.core.checks.check import PASS, STOP, Check


class Span(NamedTuple):
    """Marked evidence: half-open character offsets into the pinned text, and the text marked at the time."""

    start: int
    end: int
    quote: str


def check_wording(question: str, answer: str) -> list[Check]:
    """Question and answer both exist: a stop for each that is blank, nothing otherwise."""
    return [
        Check(STOP, code, sentence)
        for code, text, sentence in (
            ("no_question", question, "No question yet."),
            ("no_answer", answer, "No expected answer yet."),
        )
        if not text.strip()
    ]


def check_evidence(text: str, spans: Sequence[Span]) -> Check:
    """Each span is in the pinned `text` and quotes it exactly. No span at all stops."""
    if not spans:
        return Check(STOP, "no_evidence", "No evidence is marked yet.")
    for number, span in enumerate(spans, start=1):
        inside = 0 <= span.start < span.end <= len(text)
        if not inside or text[span.start : span.end] != span.quote:
            which = f"Evidence span {number}" if len(spans) > 1 else "The evidence"
            return Check(STOP, "evidence", f"{which} is not in the pinned text.", quote=span.quote)
    few = {1: "The evidence span is", 2: "Both evidence spans are"}
    subject = few.get(len(spans), f"All {len(spans)} evidence spans are")
    return Check(PASS, "evidence", f"{subject} in the pinned text.")
