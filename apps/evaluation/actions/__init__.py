"""What people and machines do with scores."""

from apps.evaluation.actions.bias import choose_first, request_bias_report
from apps.evaluation.actions.drops import DecisionRefused, decide_drop
from apps.evaluation.actions.scoring import (
    DEFAULT_MEASURES,
    EvaluationRefused,
    request_evaluation,
    request_evaluations,
)

__all__ = [
    "DEFAULT_MEASURES",
    "DecisionRefused",
    "EvaluationRefused",
    "choose_first",
    "decide_drop",
    "request_bias_report",
    "request_evaluation",
    "request_evaluations",
]
