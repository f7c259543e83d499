"""What judging has in store for a person: pairs to grade, and for leads pairs to adjudicate."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import Min, Q

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import roles_of
from apps.judging.enums import RoundKind, RoundState
from apps.judging.models import Judgement, Round
from apps.judging.selectors.own_share import own_progress
from apps.judging.selectors.pairs import adjudicable, left_to_another_lead
from apps.judging.selectors.rounds import open_rounds_of


class Waiting(NamedTuple):
    """What judging has in store for a person in a project. `left` are pairs they judged, which another lead decides."""

    to_grade: int
    grade_round: Round | None
    to_adjudicate: int
    adjudicate_round: Round | None
    adjudicate_since: datetime | None
    left: int
    left_round: Round | None


def waiting_for(user: User, project: Project) -> Waiting:
    """What waits for this person: pairs to grade in open rounds, and for leads pairs to adjudicate."""
    roles = roles_of(user, project)
    to_grade, grade_round = 0, None
    if Role.ANNOTATOR in roles:
        for round_ in open_rounds_of(user, project):
            left = own_progress(round_, user).to_go
            to_grade += left
            grade_round = grade_round or (round_ if left else None)
    to_adjudicate, adjudicate_round, entries = 0, None, []
    left, left_round = 0, None
    if Role.LEAD in roles:
        for round_ in rounds_to_adjudicate(project):
            pairs = adjudicable(round_, user)
            to_adjudicate += len(pairs)
            adjudicate_round = adjudicate_round or (round_ if pairs else None)
            entries += [judgement.pk for pair in pairs for judgement in pair.judgements]
            others = left_to_another_lead(round_, user)
            left += others
            left_round = left_round or (round_ if others else None)
    since = Judgement.objects.filter(pk__in=entries[:1_000]).aggregate(at=Min("given_at"))["at"]
    return Waiting(to_grade, grade_round, to_adjudicate, adjudicate_round, since, left, left_round)


def rounds_to_adjudicate(project: Project) -> list[Round]:
    """Rounds whose pairs may need a lead, oldest first."""
    several = Q(kind=RoundKind.JUDGING) | Q(kind=RoundKind.IMPORTED, judges__gt=1)
    rounds = Round.objects.filter(several, project=project)
    return list(rounds.exclude(state=RoundState.OPENING).order_by("number"))
