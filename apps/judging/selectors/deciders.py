"""Which leads can decide pairs: those who judged them under no name."""

from collections import defaultdict
from typing import NamedTuple

from django.db.models import QuerySet

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.accounts.selectors import members_of
from apps.judging.models import Judgement, Round
from apps.judging.selectors.pairs import judged_undecided
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
