"""Requests for scores, decisions on drops, closed comparisons and ledger entries."""

from apps.evaluation.actions.comparisons import (
    ClosingRefused,
    RejudgingRefused,
    close_comparison,
    judge_again,
    pool_unjudged,
)
from apps.evaluation.actions.drops import DecisionRefused, decide_drop
from apps.evaluation.actions.ledger import LedgerRefused, write_ledger
from apps.evaluation.actions.run_again import RunAgainRefused, run_again, run_again_on_release
from apps.evaluation.actions.scoring import (
    EvaluationRefused,
    request_evaluation,
    request_evaluations,
    score_missing,
    score_on_release,
)

__all__ = [
    "ClosingRefused",
    "DecisionRefused",
    "EvaluationRefused",
    "LedgerRefused",
    "RejudgingRefused",
    "RunAgainRefused",
    "close_comparison",
    "decide_drop",
    "judge_again",
    "pool_unjudged",
    "request_evaluation",
    "request_evaluations",
    "run_again",
    "run_again_on_release",
    "score_missing",
    "score_on_release",
    "write_ledger",
]
