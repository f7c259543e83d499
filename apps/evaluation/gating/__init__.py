"""Gates: named rules that the scores, the speed and the cost of a run are held to.

A rule is a value (`rule`), read from a TOML file and written to one (`files`), or read from facts that `as_facts`
wrote, and decided on plain arrays (`deciding`). `karat eval` and the app say the same sentence about the same evidence.
"""

from apps.evaluation.gating.deciding import (
    Evidence,
    Verdict,
    bound_of,
    decide,
    figure_words,
    not_known,
    told,
    unit,
    worst,
    worst_state,
)
from apps.evaluation.gating.files import LONGEST_FILE, as_toml, parse_rules, read_rules
from apps.evaluation.gating.gaps import FEW_QUERIES, GAPS, NO_BASELINE, OFF_SCALE, OTHER_TEXTS
from apps.evaluation.gating.rule import (
    BASELINE,
    COST,
    FAILED,
    LATENCIES,
    LONGEST_NAME,
    PASSED,
    STATES,
    TIERS,
    UNKNOWN,
    Rule,
    RuleError,
    Slice,
    as_facts,
    asks,
    measures_of,
    rule_of,
)
from apps.evaluation.gating.tiers import SMOKE_QUERIES, rules_in, sample

__all__ = [
    "BASELINE",
    "COST",
    "FAILED",
    "FEW_QUERIES",
    "GAPS",
    "LATENCIES",
    "LONGEST_FILE",
    "LONGEST_NAME",
    "NO_BASELINE",
    "OFF_SCALE",
    "OTHER_TEXTS",
    "PASSED",
    "SMOKE_QUERIES",
    "STATES",
    "TIERS",
    "UNKNOWN",
    "Evidence",
    "Rule",
    "RuleError",
    "Slice",
    "Verdict",
    "as_facts",
    "as_toml",
    "asks",
    "bound_of",
    "decide",
    "figure_words",
    "measures_of",
    "not_known",
    "parse_rules",
    "read_rules",
    "rule_of",
    "rules_in",
    "sample",
    "told",
    "unit",
    "worst",
    "worst_state",
]
