import itertools

import pytest

from apps.review.enums import (
    ABOUT_ENTAILMENT,
    ASPECT_OF_REASON,
    POLICIES,
    Category,
    Outcome,
    Reason,
    VerdictChoice,
    aspects_flagged,
)
from apps.review.workflow import STEP_AFTER, outcome_of
from apps.triples.enums import Step

EXPECTED = {
    (): (Outcome.PENDING, None),
    (VerdictChoice.CONFIRM,): (Outcome.PENDING, None),
    (VerdictChoice.FLAG,): (Outcome.PENDING, None),
    (VerdictChoice.CONFIRM, VerdictChoice.CONFIRM): (Outcome.CONSENSUS, Step.AGREE),
    (VerdictChoice.CONFIRM, VerdictChoice.FLAG): (Outcome.DISPUTE, Step.DISAGREE),
    (VerdictChoice.FLAG, VerdictChoice.CONFIRM): (Outcome.DISPUTE, Step.DISAGREE),
    (VerdictChoice.FLAG, VerdictChoice.FLAG): (Outcome.DROP, Step.REJECT),
}


@pytest.mark.parametrize(
    "choices", [pair for size in range(3) for pair in itertools.product(VerdictChoice, repeat=size)]
)
def test_two_verdicts_have_one_outcome(choices):
    outcome = outcome_of(choices)

    assert (outcome, STEP_AFTER.get(outcome)) == EXPECTED[choices]


def test_a_third_verdict_is_an_error():
    with pytest.raises(ValueError, match="two verdicts, not 3"):
        outcome_of([VerdictChoice.CONFIRM] * 3)


def test_each_category_has_its_policy():
    assert set(POLICIES) == set(Category)


def test_each_reason_but_other_speaks_about_one_question():
    assert set(ASPECT_OF_REASON) == set(Reason) - {Reason.OTHER}
    assert {reason for reason, aspect in ASPECT_OF_REASON.items() if aspect == "answer"} == ABOUT_ENTAILMENT


def test_aspects_of_a_flag_and_of_a_confirmation():
    assert aspects_flagged(["wrong_block", "overstated", "other"]) == {
        "question": False,
        "block": True,
        "answer": True,
    }
    assert not any(aspects_flagged([]).values())
