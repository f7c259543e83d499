"""Reads for a lead's board of a round in addition to progress: differences, stuck seats, recent pace."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection
from django.db.models import Count, Min, Q, QuerySet, Sum

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.accounts.selectors import members_of
from apps.judging.core.eta import LOOKS_BACK, Lately
from apps.judging.enums import SeatState
from apps.judging.models import Round, RoundAnnotator, Seat
from apps.judging.selectors.pairs import live_judgements

# Pairs with two first answers or more, and whether these differ. "Can't judge" differs from a grade.
SHARED = """
WITH live AS (
    SELECT j.entry_id, j.annotator_id, j.grade FROM judging_judgement j
    WHERE j.round_id = %s AND j.pass_number = 1
      AND NOT EXISTS (SELECT 1 FROM judging_judgement l WHERE l.supersedes_id = j.id)
), shared AS (
    SELECT entry_id, CASE WHEN MIN(grade) < MAX(grade) OR COUNT(grade) BETWEEN 1 AND COUNT(*) - 1
                     THEN 1 ELSE 0 END AS differs
    FROM live GROUP BY entry_id HAVING COUNT(*) > 1
)
"""
BY_QUERY = f"""{SHARED}
SELECT q.outside_id, COUNT(*), SUM(s.differs), SUM(CASE WHEN s.differs = 1 AND EXISTS (
    SELECT 1 FROM judging_adjudication a WHERE a.round_id = %s AND a.entry_id = s.entry_id
) THEN 1 ELSE 0 END)
FROM shared s JOIN retrieval_poolentry e ON e.id = s.entry_id JOIN queries_query q ON q.id = e.query_id
GROUP BY q.outside_id
"""
BY_PERSON = f"""{SHARED}
SELECT l.annotator_id, COUNT(*), SUM(s.differs) FROM live l JOIN shared s ON s.entry_id = l.entry_id
GROUP BY l.annotator_id
"""


class Overlap(NamedTuple):
    """Pairs that several people judged, those of them on which they differ, and those decided by a lead."""

    shared: int = 0
    differing: int = 0
    decided: int = 0


class Again(NamedTuple):
    """Seats of one kind that are additional: repeated pairs, or checks."""

    planned: int = 0
    done: int = 0

    @property
    def to_go(self) -> int:
        """Those still to be judged."""
        return self.planned - self.done


class Holder(NamedTuple):
    """Somebody with stuck seats: leased for too long, or of a person who left; `reserved` are for them alone."""

    person: User
    held: int
    since: datetime | None
    has_left: bool
    reserved: int


def overlap_by_query(round_: Round) -> dict[str, Overlap]:
    """Pairs that several people judged, for each query that has any, by its outside id."""
    with connection.cursor() as cursor:
        cursor.execute(BY_QUERY, [round_.pk, round_.pk])
        return {row[0]: Overlap(*map(int, row[1:])) for row in cursor.fetchall()}


def overlap_by_person(round_: Round) -> dict[int, Overlap]:
    """Pairs that each person judged and somebody else did too."""
    with connection.cursor() as cursor:
        cursor.execute(BY_PERSON, [round_.pk])
        return {row[0]: Overlap(int(row[1]), int(row[2])) for row in cursor.fetchall()}


def overlap_of(rows: Mapping[str, Overlap]) -> Overlap:
    """The sum over queries."""
    return Overlap(*map(sum, zip(*rows.values(), strict=True))) if rows else Overlap()


def on_top(round_: Round) -> dict[str, Again]:
    """What is planned in addition to first grades, and how much of it is done: "again" and "checks"."""
    seats = Seat.objects.filter(round=round_, reserved_for__isnull=False)
    rows = seats.values_list("pass_number", "state").annotate(n=Count("pk")).order_by()
    counts: dict[str, Counter[str]] = {"again": Counter(), "checks": Counter()}
    for number, state, n in rows:
        if number != 1:
            counts["checks" if number == 0 else "again"][state] += n
    return {kind: Again(sum(states.values()), states[SeatState.DONE]) for kind, states in counts.items()}


def lately(round_: Round, *, at: datetime) -> tuple[Lately, dict[int, int]]:
    """What was judged in the last seven days, or since the round was opened; in all and by person."""
    opened = round_.opened_at or at
    days = min(LOOKS_BACK, max(1, (at - opened).days + 1))
    since = live_judgements(round_).filter(given_at__gt=at - timedelta(days=days))
    rows = since.values_list("annotator").annotate(n=Count("pk"), timed=Count("active_ms"), ms=Sum("active_ms"))
    people = list(rows.order_by())
    total = Lately(
        days, sum(row[1] for row in people), sum(row[2] for row in people), sum(row[3] or 0 for row in people)
    )
    return total, {row[0]: row[1] for row in people}


def lapsed(round_: Round, *, at: datetime) -> QuerySet[Seat]:
    """The seats with a lapsed lease; the next claim of anybody opens them."""
    return Seat.objects.filter(round=round_, state=SeatState.LEASED, lease_expires_at__lt=at)


def stuck_holders(round_: Round, *, at: datetime) -> list[Holder]:
    """People with seats leased for longer than a lease, or who have left the project or Karat; by name."""
    able = set(members_of(round_.project, Role.ANNOTATOR).values_list("pk", flat=True))
    leased = Seat.objects.filter(round=round_, state=SeatState.LEASED)
    is_late = Q(lease_expires_at__lt=at) | ~Q(annotator__in=able)
    held = {
        pk: (n, since)
        for pk, n, since in leased.filter(is_late)
        .values_list("annotator")
        .annotate(n=Count("pk"), since=Min("lease_expires_at"))
        .order_by()
    }
    reserved_seats = Seat.objects.filter(round=round_, reserved_for__isnull=False, state=SeatState.OPEN)
    reserved = dict(
        reserved_seats.exclude(reserved_for__in=able).values_list("reserved_for").annotate(n=Count("pk")).order_by()
    )
    people = User.objects.in_bulk([*held, *reserved])
    rows = [
        Holder(person, *held.get(pk, (0, None)), pk not in able, reserved.get(pk, 0)) for pk, person in people.items()
    ]
    return sorted(rows, key=lambda row: (row.person.name, row.person.pk))


def is_asked(round_: Round, user: User) -> bool:
    """Whether this person is an annotator of the round."""
    return RoundAnnotator.objects.filter(round=round_, annotator=user).exists()
