"""The worked examples of docs/reference/hits.md, computed."""

import pytest

from apps.metrics.expected.hits import Evidence, Words, find_hits
from apps.metrics.expected.measures import measure_hits
from apps.metrics.expected.rules import ExpectedBlock, Question, Returned, parse_hit_rule
from apps.metrics.measures.registry import parse_measures

EVIDENCE = "Records stay searchable in the console for 90 days"
QUESTION = Question("T-0001", (ExpectedBlock("handbook#12", "handbook", (58, 59), (EVIDENCE,)),))


def measured(rule: str, *passages: Returned) -> list[float]:
    hits = find_hits([QUESTION], {"T-0001": passages}, parse_hit_rule(rule))
    return measure_hits(parse_measures("RR Success@1 Success@5"), hits)[0].tolist()


def test_the_expected_passage_in_second_place():
    returned = Returned("handbook#13", "handbook"), Returned("handbook#12", "handbook")
    assert measured("block", *returned) == [0.5, 0, 1]
    assert measured("document", *returned) == [1, 1, 1]


@pytest.mark.parametrize(("pages", "right"), [((59, 60), 1), ((60, 60), 0)])
def test_a_passage_that_shares_a_page(pages, right):
    assert measured("pages", Returned(document_id="handbook", pages=pages))[1] == right


@pytest.mark.parametrize(
    ("text", "words", "right"),
    [
        ("In short, records stay searchable in the admin console for 90 days.", 9, 1),
        ("Records stay searchable for 30 days", 5, 0),
    ],
)
def test_a_passage_that_holds_the_evidence(text, words, right):
    evidence = Evidence([EVIDENCE])
    assert (evidence.size, evidence.needed(0.8)) == (9, 8)
    assert evidence.held(Words(text)) == words
    assert measured("evidence", Returned(text=text))[1] == right


def test_evidence_cut_in_two():
    halves = Returned(text="… Records stay searchable in"), Returned(text="the console for 90 days. …")
    assert measured("evidence", *halves) == [0, 0, 0]
    assert measured("evidence(together=true)", *halves) == [0.5, 0, 1]
