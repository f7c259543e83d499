"""The comment on a pull request: one sentence, the worst queries where a gate failed, and a link."""

import numpy as np
import pytest

from apps.gates.core.comment import CheckedGate, CommentFacts, WorstQuery, comment_of
from apps.gates.core.decisions import RunEvidence, decide, worst_first
from apps.gates.core.rule import GateRule, Slice

VALUES = np.array([0.0, 1.0] * 10)
GOOD = GateRule("Good", "nDCG@10", at_least=0.1, on="interval")
BAD = GateRule("Bad", "nDCG@10", at_least=0.9, on="interval")
OPEN = GateRule("Open", "nDCG@10", at_least=0.5, on="interval")
WARNS = OPEN._replace(name="Warns", not_known="warn")
EMPTY = GateRule("Empty", "RR", at_least=0.5)
LINK = "https://karat.example.org/p/hut/versions/doors/v2/"
WORST = WorstQuery("Q1", "red key", 0.0, None, "d: the key", "not judged")


def evidence(values=VALUES, **others):
    return RunEvidence([f"Q{number:02}" for number in range(len(values))], {"nDCG@10": values}, **others)


def checked(*rules):
    return [CheckedGate(rule, decide(rule, evidence())) for rule in rules]


def comment(*rules, worst=(WORST,), **facts):
    return comment_of(CommentFacts("hybrid", "Doors v2", checked(*rules), worst, 20, link=LINK, **facts))


def test_when_all_gates_passed_it_is_the_sentence_alone():
    low, high = checked(GOOD)[0].verdict.interval

    assert comment(GOOD, GOOD._replace(name="Too")) == (
        f"**Passed:** gate `Good` of `hybrid` on `Doors v2`: nDCG@10 is 0.5000, 95 % interval {low:.4f} to {high:.4f}, "
        "n = 20; the gate requires at least 0.1 with its whole interval. The other gate passed.\n"
    )


def test_a_failure_names_the_worst_queries_and_links_to_karat():
    sentence, table, link = comment(BAD).split("\n\n")

    assert sentence.startswith("**Failed:** gate `Bad` of `hybrid` on `Doors v2`: nDCG@10 is 0.5000, 95 % interval ")
    assert table.splitlines() == [
        "| Query | Worst queries | nDCG@10 | What came first |",
        "| --- | --- | ---: | --- |",
        "| `Q1` | `red key` | 0.00 | `d: the key`, not judged |",
    ]
    assert link == f"[Open in Karat]({LINK})\n"


def test_with_a_baseline_the_table_has_both_values():
    table = comment(BAD, worst=[WORST._replace(baseline=0.75, first="", grade="")]).split("\n\n")[1]

    assert table.splitlines()[0] == "| Query | Worst queries | Baseline | This change | What came first |"
    assert table.splitlines()[2] == "| `Q1` | `red key` | 0.75 | 0.00 | nothing |"


def test_what_is_not_known_yet_has_its_range_of_more_queries_in_place_of_queries():
    found = comment(OPEN._replace(at_least=0.35))

    assert found.startswith("**Not known yet:** gate `Open` of `hybrid` on `Doors v2`: nDCG@10 is 0.5000, ")
    assert "more queries decide it (half of all cases, nine in ten)." in found
    assert "| Query |" not in found
    assert found.endswith(f"[Open in Karat]({LINK})\n")


def test_the_sentence_is_about_the_worst_outcome_and_counts_the_others():
    found = comment(GOOD, EMPTY, OPEN, BAD, GOOD)

    assert found.startswith("**Failed:** gate `Bad`")
    assert "Of the other 4 gates 2 passed and 2 are not known yet." in found
    assert comment(GOOD, OPEN).startswith("**Not known yet:** gate `Open`")


def test_a_gate_that_only_warns_says_so():
    assert "It warns and stops nothing." in comment(WARNS)
    assert "It warns" not in comment(OPEN)


def test_without_a_gate_nothing_was_checked():
    assert comment() == (
        "**Nothing checked:** there is no gate of this tier or slice for `hybrid` on `Doors v2`.\n\n"
        f"[Open in Karat]({LINK})\n"
    )


@pytest.mark.parametrize(
    ("hidden", "words"),
    [
        (1, "19 of 20 queries may be named. One is on the test side, and only counted."),
        (8, "12 of 20 queries may be named. 8 are on the test side, and only counted."),
    ],
)
def test_queries_of_the_test_side_are_counted(hidden, words):
    assert words in comment(BAD, hidden=hidden)


def test_texts_of_others_are_code_on_one_line_so_that_they_name_and_link_nobody():
    loud = WorstQuery("Q|1", "ask @team\nsee #12 `now` | ![x](http://example.org)", 0.0, None, "<b>", "grade 0")

    row = comment(BAD, worst=[loud]).split("\n\n")[1].splitlines()[2]

    assert row == "| `Q\\|1` | `` ask @team see #12 `now` \\| ![x](http://example.org) `` | 0.00 | `<b>`, grade 0 |"


# Which queries are the worst ----------------------------------------------------------------------------------------


def worst(rule, values, **others):
    return [(one.query_id, one.value, one.baseline) for one in worst_first(rule, evidence(np.array(values), **others))]


def test_the_lowest_value_is_the_worst_and_of_equal_ones_the_first_query():
    assert worst(BAD, [0.5, 0.0, np.nan, 0.0]) == [("Q01", 0.0, None), ("Q03", 0.0, None), ("Q00", 0.5, None)]


def test_against_a_baseline_the_largest_drop_is_the_worst():
    rule = GateRule("No worse", "nDCG@10", is_against_baseline=True)
    before = {"nDCG@10": np.array([0.5, 1.0, np.nan])}

    assert worst(rule, [0.4, 0.5, 0.0], baseline=before) == [("Q01", 0.5, 1.0), ("Q00", 0.4, 0.5)]


def test_of_a_gate_on_the_value_what_fell_from_the_baseline_comes_before_what_was_bad_already():
    before = {"nDCG@10": np.array([0.0, 0.9, 0.8])}

    found = worst(BAD, [0.0, 0.4, 0.7], baseline=before)

    assert found == [("Q01", 0.4, 0.9), ("Q02", 0.7, 0.8), ("Q00", 0.0, 0.0)]


def test_of_a_slice_only_its_queries_count_and_of_speed_the_slowest_is_the_worst():
    walls = GateRule("Walls", "nDCG@10", at_least=0.9, slice=Slice("domain", "walls"))
    speed = GateRule("Quick", "latency_p95", at_most=100)

    assert worst(walls, [0.1, 0.2], strata={"domain": ["keys", "walls"]}) == [("Q01", 0.2, None)]
    assert worst(speed, [0.1, 0.2], latencies=np.array([90.0, 400.0])) == [("Q01", 400.0, None), ("Q00", 90.0, None)]
    assert worst(GateRule("Cheap", "cost", at_most=1), [0.1]) == []
