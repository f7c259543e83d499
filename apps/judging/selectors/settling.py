"""Who can decide the open pairs of a round, and what a rule gives its trivial disagreements."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import QuerySet

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.accounts.selectors import members_of
from apps.common.digests import digest_of_lines
from apps.judging.core.resolution import ResolutionRule, settled_by
from apps.judging.models import Judgement, Round
from apps.judging.selectors.pairs import JudgedPair, adjudicable, judged_undecided
from apps.judging.selectors.placeholders import live_claims


class Deciders(NamedTuple):
    """For some pairs: the names of leads who can decide at least one, and how many pairs nobody can decide."""

    names: list[str]
    stuck: int


def deciders_of_pair(round_: Round, entry_id: int) -> Deciders:
    return _deciders(round_, Judgement.objects.filter(round=round_, entry=entry_id))


def deciders_of_left(round_: Round, user: User) -> Deciders:
    """For the undecided pairs that this lead judged."""
    entries = judged_undecided(round_, user).values("entry")
    return _deciders(round_, Judgement.objects.filter(round=round_, entry__in=entries))


def _deciders(round_: Round, judgements: QuerySet[Judgement]) -> Deciders:
    members = dict(live_claims(round_.project).values_list("placeholder", "member"))
    judges = defaultdict(set)
    for entry, annotator in judgements.order_by().values_list("entry", "annotator"):
        judges[entry].add(members.get(annotator, annotator))
    leads = list(members_of(round_.project, Role.LEAD))
    free = [[lead for lead in leads if lead.pk not in of_pair] for of_pair in judges.values()]
    able = {lead.pk for each in free for lead in each}
    return Deciders([lead.name for lead in leads if lead.pk in able], sum(not each for each in free))


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
