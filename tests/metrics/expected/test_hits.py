"""Hits and measures by hits: against a plain computation, and what must hold for any question."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.metrics.expected.hits import find_hits
from apps.metrics.expected.measures import HIT_MEASURES, first_ranks, measure_hits, rank_bins
from apps.metrics.expected.rules import KINDS, ExpectedBlock, HitRule, Question, Returned, parse_hit_rule
from apps.metrics.measures.notation import MeasureError
from apps.metrics.measures.registry import parse_measures
from tests.metrics.expected import by_hand
from tests.metrics.expected.strategies import exactly, questions, rankings

pytestmark = pytest.mark.slow

RULES = [*KINDS, "evidence(together=true)"]


def values(question: Question, ranking: list[Returned], rule: str, k: int) -> dict[str, float]:
    measures = parse_measures(" ".join(f"{name}@{k}" if name != "RR" else "RR" for name in HIT_MEASURES))
    hits = find_hits([question], {question.id: ranking}, parse_hit_rule(rule))
    return dict(zip(HIT_MEASURES, measure_hits(measures, hits)[0].tolist(), strict=True))


@pytest.mark.parametrize("rule", KINDS)
@given(question=questions, ranking=rankings, k=st.integers(1, 9))
def test_every_value_is_that_of_the_plain_computation(rule, question, ranking, k):
    assert values(question, ranking, rule, k) == pytest.approx(by_hand.values(rule, question, ranking, k))


@pytest.mark.parametrize("rule", RULES)
@given(question=questions)
def test_a_run_of_exactly_the_expected_blocks_scores_one(rule, question):
    ranking = exactly(question)
    found = values(question, ranking, rule, len(ranking))
    assert found.pop("FailureRate") == 0
    if rule == "evidence(together=true)":  # only the passage that completes the evidence counts
        found.pop("P")
        found.pop("RR")
    if len(set(ranking)) < len(ranking):
        found.pop("P")
    assert set(found.values()) == {1.0}


@pytest.mark.parametrize("rule", RULES)
@given(question=questions, ranking=rankings)
def test_a_wrong_passage_in_front_never_raises_rr(rule, question, ranking):
    wrong = Returned("nowhere", "elsewhere", (900, 900), "nothing like it")
    assert values(question, [wrong, *ranking], rule, 5)["RR"] <= values(question, ranking, rule, 5)["RR"]


@pytest.mark.parametrize("rule", KINDS)
@given(question=questions, ranking=rankings, data=st.data())
def test_the_order_behind_the_first_hit_does_not_change_rr(rule, question, ranking, data):
    (first,) = first_ranks(find_hits([question], {question.id: ranking}, parse_hit_rule(rule))).tolist()
    place = first + 1 if first >= 0 else 0
    shuffled = [*ranking[:place], *data.draw(st.permutations(ranking[place:]))]
    assert values(question, shuffled, rule, 5)["RR"] == values(question, ranking, rule, 5)["RR"]


@pytest.mark.parametrize("rule", RULES)
@given(question=questions, ranking=rankings, k=st.integers(1, 8))
def test_more_results_never_lose_a_success(rule, question, ranking, k):
    now, later = values(question, ranking, rule, k), values(question, ranking, rule, k + 1)
    for name in ("Success", "Recall", "Coverage", "Sufficient"):
        assert now[name] <= later[name]


@given(question=questions)
def test_a_hit_by_block_is_one_by_every_other_rule(question):
    for rule in ("document", "pages", "evidence"):
        for block, passage in zip(question.expected, exactly(question), strict=True):
            alone = question._replace(expected=(block,))
            assert values(alone, [passage], rule, 1)["Success"] == 1


def test_a_passage_returned_twice_is_right_once():
    question = Question("T", (ExpectedBlock("a", "d"), ExpectedBlock("b", "d")), needs_all=True)
    found = values(question, [Returned("a"), Returned("a")], "block", 2)
    assert (found["P"], found["Coverage"], found["Sufficient"]) == (0.5, 0.5, 0.0)


def test_a_question_that_lacks_what_the_rule_reads_has_no_value():
    bare, whole = Question("bare", (ExpectedBlock("a"),)), Question("whole", (ExpectedBlock("b", "d", (1, 2)),))
    ranking = {"bare": [Returned("a", "d", (1, 1))], "whole": [Returned("b", "d", (2, 3))]}
    hits = find_hits([bare, whole], ranking, HitRule("pages"))
    measured = measure_hits(parse_measures("Success@1"), hits)[:, 0].tolist()
    assert math.isnan(measured[0])
    assert measured[1] == 1
    assert hits.undefined == ("bare",)


def test_passages_without_what_the_rule_reads_are_counted():
    question = Question("T", (ExpectedBlock("a", "d", (1, 2), ("some words",)),))
    ranking = {"T": [Returned("a"), Returned("a", "d"), Returned("a", "d", (1, 1)), Returned("a", "d", None, "words")]}
    unreadable = {kind: find_hits([question], ranking, HitRule(kind)).unreadable for kind in KINDS}
    assert unreadable == {"block": 0, "document": 1, "pages": 3, "evidence": 3}


def test_a_question_without_results_counts_as_a_miss():
    question = Question("T", (ExpectedBlock("a"),))
    hits = find_hits([question], {}, HitRule("block"))
    assert measure_hits(parse_measures("Success@5 RR FailureRate@5"), hits).tolist() == [[0.0, 0.0, 1.0]]
    assert hits.missing == ("T",)


def test_no_question_at_all_gives_no_value():
    hits = find_hits([], {}, HitRule("block"))
    assert measure_hits(parse_measures("Success@5 RR P@3"), hits).shape == (0, 3)
    assert sum(one.questions for one in rank_bins(hits)) == 0


def test_first_ranks_and_their_distribution():
    asked = [Question(str(place), (ExpectedBlock("a"),)) for place in range(4)]
    ahead = {"0": 0, "1": 6, "2": 150}
    returned = {key: [*(Returned(f"x{n}") for n in range(before)), Returned("a")] for key, before in ahead.items()}
    hits = find_hits(asked, returned, HitRule("block"))
    assert first_ranks(hits).tolist() == [0, 6, 150, -1]
    filled = {one.words: one.questions for one in rank_bins(hits) if one.questions}
    assert filled == {"1": 1, "6–10": 1, "after 100": 1, "not found": 1}


@pytest.mark.parametrize(
    ("text", "share", "is_hit"),
    [
        ("records stay searchable in the console for ninety days", 0.9, False),
        ("Records stay, as a rule, searchable in the console for 90 days.", 0.8, True),
        ("90 days for console the in searchable stay records", 0.8, False),
        ("records stay searchable in the console for ninety days", 0.75, True),
        ("records " + "x " * 12 + "stay searchable in the console for 90 days", 1.0, False),
    ],
)
def test_evidence_is_held_by_its_words_in_order(text, share, is_hit):
    question = Question("T", (ExpectedBlock("a", evidence=("Records stay searchable in the console for 90 days",)),))
    hits = find_hits([question], {"T": [Returned(text=text)]}, HitRule("evidence", share))
    assert bool(len(hits.rank)) == is_hit


def test_two_passages_hold_evidence_together_when_asked():
    evidence = "every action in the console leaves a record of who did what and when"
    question = Question("T", (ExpectedBlock("a", evidence=(evidence,)),))
    halves = [Returned(text="Every action in the console leaves a"), Returned(text="record of who did what and when.")]
    apart = find_hits([question], {"T": halves}, parse_hit_rule("evidence"))
    together = find_hits([question], {"T": halves}, parse_hit_rule("evidence(together=true)"))
    assert not len(apart.rank)
    assert together.rank.tolist() == [1]


@pytest.mark.parametrize("name", ["nDCG@10", "AP", "P(rel=2)@5", "Success(judged_only=True)@5", "Judged@10"])
def test_a_measure_that_needs_grades_is_refused(name):
    hits = find_hits([], {}, HitRule("block"))
    with pytest.raises(MeasureError, match="grades"):
        measure_hits(parse_measures(name), hits)
