"""What people and machines do with scores."""

from apps.evaluation.actions.comparisons import (
    ClosingRefused,
    RejudgingRefused,
    ask_for_grades,
    close_comparison,
    judge_again,
)
from apps.evaluation.actions.drops import DecisionRefused, decide_drop
from apps.evaluation.actions.first import choose_first
from apps.evaluation.actions.gates import (
    GateRefused,
    create_gate,
    create_gates,
    hold_to_cost,
    make_badge,
    replace_gate,
    retire_gate,
    revoke_badge,
)
from apps.evaluation.actions.ledger import LedgerRefused, write_ledger
from apps.evaluation.actions.reports import request_bias_report, request_stability_report
from apps.evaluation.actions.scoring import (
    DEFAULT_MEASURES,
    EvaluationRefused,
    request_evaluation,
    request_evaluations,
    score_on_release,
    score_the_rest,
)

__all__ = [
    "DEFAULT_MEASURES",
    "ClosingRefused",
    "DecisionRefused",
    "EvaluationRefused",
    "GateRefused",
    "LedgerRefused",
    "RejudgingRefused",
    "ask_for_grades",
    "choose_first",
    "close_comparison",
    "create_gate",
    "create_gates",
    "decide_drop",
    "hold_to_cost",
    "judge_again",
    "make_badge",
    "replace_gate",
    "request_bias_report",
    "request_evaluation",
    "request_evaluations",
    "request_stability_report",
    "retire_gate",
    "revoke_badge",
    "score_on_release",
    "score_the_rest",
    "write_ledger",
]
