"""Trivial disagreements of a round, and the grade that a rule gives each of them."""

from collections.abc import Iterable
from typing import NamedTuple

from apps.accounts.models import User
from apps.common.digests import digest_of_lines
from apps.judging.core.resolution import ResolutionRule, settled_by
from apps.judging.models import Round
from apps.judging.selectors.pairs import JudgedPair, adjudicable

MOST_AT_ONCE = 2_000


class Trivial(NamedTuple):
    """An undecided pair, and the grade that the rule gives it."""

    pair: JudgedPair
    grade: int


def rule_of(round_: Round) -> ResolutionRule:
    """The rule chosen when the round was planned; the majority where none was."""
    try:
        return ResolutionRule((round_.plan or {}).get("rule", ResolutionRule.MAJORITY))
    except ValueError:
        return ResolutionRule.MAJORITY


def rules_for(round_: Round) -> list[ResolutionRule]:
    """The rule that the round was planned with, or every rule that a lead can choose."""
    choosable = [ResolutionRule.NEAR_MEDIAN, ResolutionRule.LOWER]
    planned = rule_of(round_)
    return [planned] if planned in choosable else choosable


def trivial(round_: Round, user: User, rule: ResolutionRule) -> list[Trivial]:
    """The pairs that this lead may settle by the rule at once, in the order of the list; at most 2,000."""
    return trivial_among(adjudicable(round_, user), rule)[:MOST_AT_ONCE]


def trivial_among(pairs: Iterable[JudgedPair], rule: ResolutionRule) -> list[Trivial]:
    """Those of the pairs that the rule settles."""
    settled = ((pair, settled_by(rule, pair.answers)) for pair in pairs)
    return [Trivial(pair, grade) for pair, grade in settled if grade is not None]


def mark_of(pairs: Iterable[Trivial]) -> str:
    """A digest of exactly these pairs, their answers and their grades: only what a lead was shown is settled."""
    return digest_of_lines(f"{each.pair.entry_id}\t{each.pair.answers}\t{each.grade}" for each in pairs)
