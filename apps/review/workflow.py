"""The outcome of verdicts, the transition table of candidate blocks, and the one function that makes their moves."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from apps.accounts.models import User
from apps.audit.actions import save_step
from apps.review.enums import CandidateChoice, CandidateState, CandidateStep, Outcome, VerdictChoice
from apps.review.models import CandidateBlock
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


class Edge(NamedTuple):
    source: CandidateState
    step: CandidateStep
    target: CandidateState


EDGES: tuple[Edge, ...] = (
    Edge(CandidateState.OPEN, CandidateStep.AGREE, CandidateState.CONFIRMED),
    Edge(CandidateState.OPEN, CandidateStep.DISAGREE, CandidateState.DISPUTED),
    Edge(CandidateState.OPEN, CandidateStep.REJECT, CandidateState.REJECTED),
    Edge(CandidateState.OPEN, CandidateStep.WITHDRAW, CandidateState.WITHDRAWN),
    Edge(CandidateState.DISPUTED, CandidateStep.DECIDE_ADD, CandidateState.CONFIRMED),
    Edge(CandidateState.DISPUTED, CandidateStep.DECIDE_REJECT, CandidateState.REJECTED),
)


def edge_for(state: str, step: str) -> Edge | None:
    """The edge of `step` from `state`, or None when the table lists none."""
    return next((edge for edge in EDGES if (edge.source, edge.step) == (state, step)), None)


def move(
    candidate: CandidateBlock, step: CandidateStep, *, actor: User, at: datetime, reason: str = "", **changes: Any
) -> CandidateBlock:
    """Make `step` on a locked row with `reason` and `changes` to other fields, and write the audit event.

    The event names the step, the passage and who had proposed it. Raises IllegalStep and changes nothing when there is
    no edge.
    """
    edge = edge_for(candidate.state, step)
    after = {"triple": candidate.triple.label, "block": str(candidate.version.block)}
    save_step(
        candidate,
        step.label,
        edge and edge.target,
        project=candidate.triple.project,
        actor=actor,
        action=f"candidate_block.{step.value}",
        after=after | ({"reason": reason} if reason else {}),
        at=at,
        closed_at=None if edge and edge.target == CandidateState.DISPUTED else at,
        reason=reason,
        **changes,
    )
    return candidate
