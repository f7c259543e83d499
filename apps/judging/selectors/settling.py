"""Trivial disagreements of a round, and what a rule would make of each of them."""

from collections.abc import Iterable
from typing import NamedTuple

from apps.accounts.models import User
from apps.common.digests import digest_of_lines
from apps.judging.core.resolution import Rule, settled_by
from apps.judging.models import Round
from apps.judging.selectors.pairs import Pair, adjudicable

MOST_AT_ONCE = 2_000


class Trivial(NamedTuple):
    """A pair that waits for a lead, and the grade that the rule gives it."""

    pair: Pair
    grade: int


def rule_of(round_: Round) -> Rule:
    """The rule that was chosen when the round was planned; the majority where none was."""
    try:
        return Rule((round_.plan or {}).get("rule", Rule.MAJORITY))
    except ValueError:
        return Rule.MAJORITY


def trivial(round_: Round, user: User, rule: Rule) -> list[Trivial]:
    """The pairs that this lead may settle by the rule in one go, in the order in which they wait; at most 2,000."""
    return trivial_among(adjudicable(round_, user), rule)[:MOST_AT_ONCE]


def trivial_among(waiting: Iterable[Pair], rule: Rule) -> list[Trivial]:
    """Those of the pairs that the rule settles."""
    found = ((pair, settled_by(rule, pair.answers)) for pair in waiting)
    return [Trivial(pair, grade) for pair, grade in found if grade is not None]


def mark_of(pairs: Iterable[Trivial]) -> str:
    """Name exactly these pairs, their answers and what they become: what a lead saw is what they settle."""
    return digest_of_lines(f"{each.pair.entry_id}\t{each.pair.answers}\t{each.grade}" for each in pairs)
