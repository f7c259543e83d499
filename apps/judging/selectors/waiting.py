"""A person's open work in judging: pairs to grade, and for leads pairs to adjudicate and rounds to close."""

from datetime import datetime
from typing import NamedTuple

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import roles_of
from apps.judging.enums import RoundKind, RoundState, SeatState
from apps.judging.models import Judgement, Round, Seat
from apps.judging.selectors.own_share import own_progress
from apps.judging.selectors.rounds import open_rounds_of

# Pairs whose judges have all answered without settling them, and which have no decision, counted by round and by
# whether this person judged them: the same as `pairs.adjudicable`, without loading the pairs. "Can't judge" counts
# against a majority, so a pair is undecided where no grade has more than half of the answers.
WAITING = """
WITH live AS (
    SELECT j.id, j.round_id, j.entry_id, j.grade, j.annotator_id FROM judging_judgement j
    WHERE j.round_id IN ({rounds}) AND j.pass_number = 1
      AND NOT EXISTS (SELECT 1 FROM judging_judgement l WHERE l.supersedes_id = j.id)
), votes AS (
    SELECT round_id, entry_id, CASE WHEN grade IS NULL THEN 0 ELSE COUNT(*) END AS top, COUNT(*) AS n,
           MIN(id) AS oldest, MAX(CASE WHEN annotator_id = %s THEN 1 ELSE 0 END) AS own
    FROM live GROUP BY round_id, entry_id, grade
), unsettled AS (
    SELECT round_id, entry_id, SUM(n) AS n, MIN(oldest) AS oldest, MAX(own) AS own FROM votes
    GROUP BY round_id, entry_id HAVING 2 * MAX(top) <= SUM(n)
)
SELECT u.round_id, u.own, COUNT(*), MIN(u.oldest) FROM unsettled u JOIN judging_round r ON r.id = u.round_id
WHERE NOT EXISTS (SELECT 1 FROM judging_adjudication a WHERE a.round_id = u.round_id AND a.entry_id = u.entry_id)
  AND (r.state = 'closed' OR NOT EXISTS (
      SELECT 1 FROM judging_seat s
      WHERE s.round_id = u.round_id AND s.entry_id = u.entry_id AND s.pass_number = 1 AND s.state <> 'done'))
GROUP BY u.round_id, u.own
"""


class JudgingWork(NamedTuple):
    """A person's open work in a project. `left` are pairs they judged, which another lead decides.

    `full_round` is an open round in which every planned grade is given, so that it can be closed.
    """

    to_grade: int
    grade_round: Round | None
    to_adjudicate: int
    adjudicate_round: Round | None
    adjudicate_since: datetime | None
    left: int
    left_round: Round | None
    full_round: Round | None = None


class Undecided(NamedTuple):
    """The undecided pairs of a round, those apart that this person judged; `oldest` is a judgement's key."""

    round: Round
    own: int = 0
    others: int = 0
    oldest: int | None = None


def waiting_for(user: User, project: Project, roles: frozenset[str] | None = None) -> JudgingWork:
    """A person's open work: pairs to grade in open rounds, and for leads pairs to adjudicate, rounds to close.

    `roles` are theirs, if already read.
    """
    roles = roles_of(user, project) if roles is None else roles
    to_grade, grade_round = 0, None
    if Role.ANNOTATOR in roles:
        for round_ in open_rounds_of(user, project):
            left = own_progress(round_, user).waiting
            to_grade += left
            grade_round = grade_round or (round_ if left else None)
    if Role.LEAD not in roles:
        return JudgingWork(to_grade, grade_round, 0, None, None, 0, None)
    undecided = undecided_in(project, user)
    to_adjudicate = [row for row in undecided if row.others]
    # While a round is open, how many of one's pairs are undecided would reveal others' answers.
    to_others = [row for row in undecided if row.own and row.round.state == RoundState.CLOSED]
    oldest = min((row.oldest for row in to_adjudicate if row.oldest), default=None)
    return JudgingWork(
        to_grade,
        grade_round,
        sum(row.others for row in to_adjudicate),
        to_adjudicate[0].round if to_adjudicate else None,
        Judgement.objects.get(pk=oldest).given_at if oldest else None,
        sum(row.own for row in to_others),
        to_others[0].round if to_others else None,
        full_rounds(project).first(),
    )


def undecided_in(project: Project, user: User | None = None) -> list[Undecided]:
    """The rounds with undecided pairs, oldest first, counted in one statement."""
    rounds = {round_.pk: round_ for round_ in rounds_to_adjudicate(project)}
    if not rounds:
        return []
    by_round = {pk: Undecided(round_) for pk, round_ in rounds.items()}
    with connection.cursor() as cursor:
        cursor.execute(WAITING.format(rounds=", ".join(["%s"] * len(rounds))), [*rounds, user.pk if user else None])
        for pk, is_own, n, oldest in cursor.fetchall():
            by_round[pk] = by_round[pk]._replace(own=n) if is_own else by_round[pk]._replace(others=n, oldest=oldest)
    return [row for row in by_round.values() if row.own or row.others]


def is_judged(project: Project) -> bool:
    """Whether no planned grade is missing in an open round, and no pair is undecided."""
    rounds = Round.objects.filter(project=project, kind=RoundKind.JUDGING).exclude(state=RoundState.CLOSED)
    missing = Seat.objects.filter(round=OuterRef("pk")).exclude(state=SeatState.DONE)
    return not rounds.filter(Q(state=RoundState.OPENING) | Exists(missing)).exists() and not undecided_in(project)


def full_rounds(project: Project) -> QuerySet[Round]:
    """The open rounds in which every planned grade is given, oldest first. Only undo is possible there."""
    seats = Seat.objects.filter(round=OuterRef("pk"))
    rounds = Round.objects.filter(project=project, kind=RoundKind.JUDGING, state=RoundState.OPEN)
    empty = seats.exclude(state=SeatState.DONE)
    return rounds.filter(Exists(seats), ~Exists(empty)).order_by("number")


def rounds_to_adjudicate(project: Project) -> list[Round]:
    """Rounds whose pairs may need a lead, oldest first."""
    several = Q(kind=RoundKind.JUDGING) | Q(kind=RoundKind.IMPORTED, judges__gt=1)
    rounds = Round.objects.in_force().filter(several, project=project)
    return list(rounds.exclude(state=RoundState.OPENING).order_by("number"))
