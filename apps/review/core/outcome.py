"""The outcome of the verdicts of one round. Derived, never stored."""

from collections.abc import Sequence

from apps.review.enums import CandidateChoice, CandidateStep, Outcome, VerdictChoice
from apps.triples.enums import Step

VERDICTS_PER_ROUND = 2

STEP_AFTER: dict[Outcome, Step] = {
    Outcome.CONSENSUS: Step.AGREE,
    Outcome.DISPUTE: Step.DISAGREE,
    Outcome.DROP: Step.REJECT,
}


def outcome_of(choices: Sequence[str]) -> Outcome:
    """The outcome of a round from its live verdicts, in any order.

    Fewer than two are pending. Raises ValueError for more than two, which cannot happen.
    """
    if len(choices) > VERDICTS_PER_ROUND:
        raise ValueError(f"A round has two verdicts, not {len(choices)}.")
    if len(choices) < VERDICTS_PER_ROUND:
        return Outcome.PENDING
    flags = sum(VerdictChoice(choice) is VerdictChoice.FLAG for choice in choices)
    return (Outcome.CONSENSUS, Outcome.DISPUTE, Outcome.DROP)[flags]


def candidate_step(choices: Sequence[str]) -> CandidateStep | None:
    """The step that the answers about a candidate block cause, in any order; None while one is missing."""
    if len(choices) > VERDICTS_PER_ROUND:
        raise ValueError(f"A candidate block has two answers, not {len(choices)}.")
    if len(choices) < VERDICTS_PER_ROUND:
        return None
    confirmed = sum(CandidateChoice(choice) is CandidateChoice.CONFIRM for choice in choices)
    return (CandidateStep.REJECT, CandidateStep.DISAGREE, CandidateStep.AGREE)[confirmed]
