"""Runs measured against the blocks that people expect: what is a hit, and the measures by hits.

`rules` says what a hit is, `questions` what is asked, expected and returned; `evidence` compares words, `hits` finds
the hits of a run, and `measures` turns them into values for each question.
"""

from apps.metrics.expected.hits import Hits, find_hits
from apps.metrics.expected.measures import (
    DEFAULT_HIT_MEASURES,
    HIT_MEASURES,
    YES_OR_NO,
    RankBin,
    can_be_of_hits,
    first_ranks,
    measure_hits,
    rank_bins,
    refuse_without_hits,
)
from apps.metrics.expected.questions import ExpectedBlock, Question, Returned
from apps.metrics.expected.rules import BY_GRADES, KINDS, HitRule, HitRuleError, parse_hit_rule

__all__ = [
    "BY_GRADES",
    "DEFAULT_HIT_MEASURES",
    "HIT_MEASURES",
    "KINDS",
    "YES_OR_NO",
    "ExpectedBlock",
    "HitRule",
    "HitRuleError",
    "Hits",
    "Question",
    "RankBin",
    "Returned",
    "can_be_of_hits",
    "find_hits",
    "first_ranks",
    "measure_hits",
    "parse_hit_rule",
    "rank_bins",
    "refuse_without_hits",
]
