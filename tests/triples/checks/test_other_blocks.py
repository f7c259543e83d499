import pytest

from apps.triples.core.checks import PASS, WARN, Check, OtherBlock, check_other_blocks
from tests.triples.checks.texts import TEXT


def other_block(text, ref="B-2", **more):
    return OtherBlock(7, ref, "Sessions", text, **more)


def others_named(*others, answer="At most eight hours, then it closes by itself.", expected=(TEXT,)):
    return check_other_blocks("How long may access last?", answer, expected, others)


def test_a_block_that_contains_the_answer_may_answer_as_well():
    other = other_block(
        "Access closes by itself after at most 8 hours, however long it would last.", found_by="BM25 at 2"
    )

    assert others_named(other) == [
        Check(WARN, "other_block", "“Sessions” may answer as well.", "Found by BM25 at 2.", ref="B-2", block=7)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Access that should last long closes by itself after at most 9 hours.",
        "Access for eight hours is a long time to last.",
        "A lunch break closes by itself after at most eight hours.",
        "Nothing of the kind is said here.",
    ],
)
def test_a_block_without_the_figures_and_words_of_the_answer_is_not_another_answer(text):
    assert others_named(other_block(text)) == [
        Check(PASS, "other_block", "The other passage found does not contain the answer.")
    ]


def test_an_answer_that_says_too_little_is_not_looked_for():
    assert others_named(other_block("Yes, it is so."), answer="Yes.")[0].level == PASS


def test_a_near_duplicate_block_is_named_whatever_the_answer():
    (twin,) = others_named(other_block(TEXT + " Ask the desk."), answer="")
    (same,) = others_named(other_block(TEXT.upper()), answer="")

    assert twin.sentence == "“Sessions” says nearly the same."
    assert same.sentence == "“Sessions” says the same, word for word."


def test_no_more_than_three_other_blocks_are_named_best_first():
    found = [other_block(TEXT, ref=f"B-{number}") for number in range(5)]

    assert [check.ref for check in others_named(*found)] == ["B-0", "B-1", "B-2"]


def test_without_any_other_block_there_is_no_warning():
    assert others_named() == []
