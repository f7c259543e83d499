"""How a compound wording is proposed to fall into claims."""

import pytest

from apps.review.core.claim_proposals import likeliest, propose, sentences


def test_sentences_have_correct_offsets():
    text = "Root keys rotate. It takes v1.5 days, e.g. so. “Now” it ends.\n\n- an item\nlast"

    assert [text[start:end] for start, end in sentences(text)] == [
        "Root keys rotate.",
        "It takes v1.5 days, e.g. so.",
        "“Now” it ends.",
        "- an item",
        "last",
    ]


def test_a_part_of_a_text_is_cut_within_its_bounds():
    text = "One here. Two here. Three here."

    assert [text[start:end] for start, end in sentences(text, 4, 19)] == ["here.", "Two here."]


@pytest.mark.parametrize("text", ["", " \n\n "])
def test_nothing_has_no_sentences(text):
    assert sentences(text) == []


def test_question_and_answer_fall_apart_together():
    claims = propose(
        "How often is a root key rotated, and who is told?",
        "Root keys are rotated every twelve months, and the customer is told thirty days ahead.",
    )

    assert claims == [
        ("How often is a root key rotated?", "Root keys are rotated every twelve months."),
        ("Who is told?", "The customer is told thirty days ahead."),
    ]


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        ("It opens at nine. It closes at five.", ["It opens at nine.", "It closes at five."]),
        ("It opens at nine; it closes at five", ["It opens at nine.", "It closes at five."]),
        ("It opens at 9.30 with bread, butter and salt", ["It opens at 9.30 with bread, butter and salt.", ""]),
        ("Keys rotate, and yearly", ["Keys rotate, yearly.", ""]),
        ("", ["", ""]),
    ],
)
def test_an_answer_is_cut_at_its_seams(answer, parts):
    claims = propose("When?", answer)

    assert [claim.answer for claim in claims] == parts
    assert {claim.question for claim in claims} == {"When?"}


def test_no_more_than_six_claims_are_proposed_and_nothing_is_left_out():
    claims = propose("What?", " ".join(f"Point {n} holds." for n in range(9)))

    assert len(claims) == 6
    assert claims[-1].answer == "Point 5 holds. Point 6 holds. Point 7 holds. Point 8 holds."


def test_the_likeliest_passage_shares_most_words():
    passages = ["Access closes by itself.", "A root key is rotated each year."]

    assert likeliest("Keys are rotated yearly: the root key.", passages) == 1
    assert likeliest("Something else entirely.", passages) is None
    assert likeliest("Anything", []) is None
