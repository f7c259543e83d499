"""A person's open work in judging: pairs to grade, and for leads pairs to adjudicate and rounds to close."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Exists, OuterRef, Q, Subquery

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import roles_of
from apps.common.database.questions import Question, answer_to
from apps.judging.enums import RoundKind, RoundState, SeatState
from apps.judging.models import Judgement, Round, Seat
from apps.judging.selectors.own_share import what_is_left_of
from apps.judging.selectors.project_rounds import known_rounds

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
    return answer_to(project, what_waits_for(user, project, roles_of(user, project) if roles is None else roles))


def what_waits_for(user: User, project: Project, roles: frozenset[str]) -> Question[JudgingWork]:
    """The question behind `waiting_for`, for a page that asks others with it."""
    rounds = known_rounds(project, user)
    own = [each.round for each in rounds if each.is_asked and each.can_be_judged] if Role.ANNOTATOR in roles else []
    undecided = undecided_in(project, user) if Role.LEAD in roles else []
    to_adjudicate = [row for row in undecided if row.others]
    # While a round is open, how many of one's pairs are undecided would reveal others' answers.
    to_others = [row for row in undecided if row.own and row.round.state == RoundState.CLOSED]
    full = [each.round for each in rounds if each.can_be_closed] if Role.LEAD in roles else []
    oldest = min((row.oldest for row in to_adjudicate if row.oldest), default=None)
    left = what_is_left_of(own, user)
    since = Judgement.objects.filter(pk=oldest).values("given_at") if oldest else None

    def read(found: Mapping[str, Any]) -> JudgingWork:
        waiting = {pk: progress.waiting for pk, progress in left.read(found).items()}
        return JudgingWork(
            sum(waiting.values()),
            next((round_ for round_ in own if waiting[round_.pk]), None),
            sum(row.others for row in to_adjudicate),
            next((row.round for row in to_adjudicate), None),
            found.get("since"),
            sum(row.own for row in to_others),
            next((row.round for row in to_others), None),
            next(iter(full), None),
        )

    return Question({**left.asks, "since": Subquery(since)} if since is not None else left.asks, read)


def undecided_in(project: Project, user: User | None = None) -> list[Undecided]:
    """The rounds with undecided pairs, oldest first, counted in one statement."""
    rounds = {round_.pk: round_ for round_ in rounds_to_adjudicate(project, user)}
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


def rounds_to_adjudicate(project: Project, user: User | None = None) -> list[Round]:
    """Rounds whose pairs may need a lead, oldest first."""
    return [each.round for each in known_rounds(project, user) if each.may_need_a_lead]
