import pytest

from apps.triples.core.checks import PASS, STOP, Check, Span, check_evidence, check_wording
from tests.triples.checks.texts import TEXT


def span(quote, text=TEXT):
    start = text.index(quote)
    return Span(start, start + len(quote), quote)


def test_evidence_in_the_pinned_text_passes():
    assert check_evidence(TEXT, [span("AES-256-GCM"), span("90 days")]) == Check(
        PASS, "evidence", "Both evidence spans are in the pinned text."
    )


def test_no_evidence_stops():
    assert check_evidence(TEXT, []).level == STOP


@pytest.mark.parametrize(
    "wrong", [Span(0, 8, "Archivez"), Span(80, 200, "x"), Span(5, 5, ""), Span(-1, 3, "Ar"), Span(9, 4, "x")]
)
def test_evidence_that_does_not_quote_the_text_stops(wrong):
    assert check_evidence(TEXT, [wrong]).level == STOP


def test_wording_wants_both_parts():
    assert [check.code for check in check_wording(" ", "")] == ["no_question", "no_answer"]
    assert check_wording("Who?", "They.") == []
