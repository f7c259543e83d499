from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.jobs.actions import enqueue
from apps.judging import rules
from apps.judging.enums import RoundState, SeatState
from apps.judging.execution import create_seats, finish_opening, seat_counts
from apps.judging.models import Guideline, Round, RoundAnnotator, Seat
from apps.judging.plan import Plan
from apps.retrieval.actions import lock_queries
from apps.retrieval.models import Pool

MOST_PAIRS_AT_ONCE = 5_000


class RoundRefused(Refusal):
    """A round cannot be opened or closed."""


@transaction.atomic
def open_round(
    *,
    project: Project,
    actor: User,
    pool: Pool,
    guideline: Guideline | None,
    annotators: Sequence[User],
    plan: Plan,
    at: datetime,
    name: str = "",
    lease_minutes: int = 30,
) -> Round:
    """Plan who judges how much of a pool, and create exactly the planned seats.

    Up to 5,000 pairs the round is open at once; beyond that a job opens it.
    """
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    people = set(members_of(project, Role.ANNOTATOR).filter(pk__in=[user.pk for user in annotators]))
    refusal = rules.open_round_refusal(pool, guideline, len(people))
    preview = plan.preview(pool.entry_count)
    most = plan.judges if preview.repeated else 1
    if reason := refusal or rules.plan_refusal(len(people), most):
        raise RoundRefused(reason, code="round_not_possible")
    number = next_number(project)
    round_ = Round.objects.create(
        project=project,
        pool=pool,
        guideline=guideline,
        number=number,
        name=name or f"Round {number}",
        overlap_share=plan.overlap,
        judges=plan.judges,
        seed=plan.seed,
        lease_minutes=lease_minutes,
        created_by=actor,
        created_at=at,
    )
    RoundAnnotator.objects.bulk_create(
        RoundAnnotator(round=round_, annotator=person) for person in sorted(people, key=lambda p: p.pk)
    )
    lock_queries(list(pool.pool_queries.values_list("query_id", flat=True)), at=at)
    record(
        project=project,
        actor=actor,
        action="round.planned",
        obj=round_,
        after={"pool": pool.pk, "seed": plan.seed, "annotators": sorted(p.pk for p in people)},
        at=at,
    )
    if pool.entry_count > MOST_PAIRS_AT_ONCE:
        params = {"round_id": round_.pk}
        enqueue(kind="judging.open_round", params=params, project=project, actor=actor, at=at)
        return round_
    create_seats(round_, seat_counts(round_))
    finish_opening(round_, actor=actor, at=at)
    return round_


def next_number(project: Project) -> int:
    """The number of the project's next round; the caller holds the project's row."""
    return (Round.objects.filter(project=project).aggregate(top=Max("number"))["top"] or 0) + 1


@transaction.atomic
def close_round(*, round_id: int, actor: User, at: datetime) -> Round:
    """End a round. Seats that nobody filled stay empty, and pairs resolve on the answers they have."""
    round_ = Round.objects.select_for_update(of=("self",)).select_related("project").get(pk=round_id)
    if reason := rules.close_refusal(round_):
        raise RoundRefused(reason, code="round_not_closable")
    seats = Seat.objects.filter(round=round_)
    seats.filter(state=SeatState.LEASED).update(state=SeatState.OPEN, annotator=None, lease_expires_at=None)
    round_.state = RoundState.CLOSED
    round_.closed_at = at
    round_.save(update_fields=["state", "closed_at"])
    record(
        project=round_.project,
        actor=actor,
        action="round.closed",
        obj=round_,
        before={"state": RoundState.OPEN},
        after={
            "state": RoundState.CLOSED,
            "planned": seats.count(),
            "given": seats.filter(state=SeatState.DONE).count(),
        },
        at=at,
    )
    return round_
