"""What people and machines do with scores."""

from apps.evaluation.actions.comparisons import (
    ClosingRefused,
    RejudgingRefused,
    ask_for_grades,
    close_comparison,
    judge_again,
)
from apps.evaluation.actions.drops import DecisionRefused, decide_drop
from apps.evaluation.actions.ledger import LedgerRefused, write_ledger
from apps.evaluation.actions.scoring import (
    EvaluationRefused,
    request_evaluation,
    request_evaluations,
    score_on_release,
    score_the_rest,
)

__all__ = [
    "ClosingRefused",
    "DecisionRefused",
    "EvaluationRefused",
    "LedgerRefused",
    "RejudgingRefused",
    "ask_for_grades",
    "close_comparison",
    "decide_drop",
    "judge_again",
    "request_evaluation",
    "request_evaluations",
    "score_on_release",
    "score_the_rest",
    "write_ledger",
]
