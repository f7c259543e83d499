"""What people and machines do with scores."""

from apps.evaluation.actions.bias import choose_first, request_bias_report
from apps.evaluation.actions.comparisons import (
    ClosingRefused,
    RejudgingRefused,
    ask_for_grades,
    close_comparison,
    judge_again,
)
from apps.evaluation.actions.drops import DecisionRefused, decide_drop
from apps.evaluation.actions.scoring import (
    DEFAULT_MEASURES,
    EvaluationRefused,
    request_evaluation,
    request_evaluations,
)
from apps.evaluation.actions.stability import request_stability_report

__all__ = [
    "DEFAULT_MEASURES",
    "ClosingRefused",
    "DecisionRefused",
    "EvaluationRefused",
    "RejudgingRefused",
    "ask_for_grades",
    "choose_first",
    "close_comparison",
    "decide_drop",
    "judge_again",
    "request_bias_report",
    "request_evaluation",
    "request_evaluations",
    "request_stability_report",
]
