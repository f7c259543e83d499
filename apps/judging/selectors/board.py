"""Reads for a lead's board of a round: differences between judges, their pace, additional and stuck seats."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Avg, Count, Max, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from apps.accounts.models import User
from apps.common.database.batched_reads import BatchedRead, CountOf, answer_to, joined
from apps.judging.core.eta import LOOKS_BACK, Lately, Workload, minutes
from apps.judging.enums import SeatState
from apps.judging.models import Judgement, KnownAnswer, Round, Seat
from apps.judging.selectors.deciding import decidable
from apps.judging.selectors.pairs import live_judgements
from apps.judging.selectors.plans import even_share, plan_of
from apps.judging.selectors.progress import Place, Totals, places_in, seat_counts
from apps.metrics.agreement.ratings import Rate

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
# Of each query, then of each person: the same columns, so that the pairs are found once for both.
OVERLAPS = f"""{SHARED}
SELECT q.outside_id, NULL, COUNT(*), SUM(s.differs), SUM(CASE WHEN s.differs = 1 AND EXISTS (
    SELECT 1 FROM judging_adjudication a WHERE a.round_id = %s AND a.entry_id = s.entry_id
) THEN 1 ELSE 0 END)
FROM shared s JOIN retrieval_poolentry e ON e.id = s.entry_id JOIN queries_query q ON q.id = e.query_id
GROUP BY q.outside_id
UNION ALL
SELECT NULL, l.annotator_id, COUNT(*), SUM(s.differs), 0 FROM live l JOIN shared s ON s.entry_id = l.entry_id
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


class Overlaps(NamedTuple):
    """By the outside id of each query that has any, and by the key of each person: without what was decided."""

    by_query: dict[str, Overlap]
    by_person: dict[int, Overlap]


def overlaps(round_: Round) -> Overlaps:
    """The pairs of a round that several people judged, in one statement."""
    found = Overlaps({}, {})
    with connection.cursor() as cursor:
        cursor.execute(OVERLAPS, [round_.pk, round_.pk])
        for query, person, *counts in cursor.fetchall():
            if person is None:
                found.by_query[query] = Overlap(*map(int, counts))
            else:
                found.by_person[person] = Overlap(*map(int, counts))
    return found


def overlap_of(rows: Mapping[str, Overlap]) -> Overlap:
    """The sum over queries."""
    return Overlap(*map(sum, zip(*rows.values(), strict=True))) if rows else Overlap()


class SeatGroup(NamedTuple):
    """Seats of one person, reservation, pass and state. `late` are those leased for too long; `since` as of either."""

    annotator: int | None
    reserved_for: int | None
    pass_number: int
    state: str
    n: int
    late: int
    since: datetime | None
    late_since: datetime | None


def taken_seats(round_: Round, *, at: datetime) -> list[SeatGroup]:
    """The leased and the reserved seats of a round, counted in one statement."""
    seats = Seat.objects.filter(Q(state=SeatState.LEASED) | Q(reserved_for__isnull=False), round=round_)
    late = Q(state=SeatState.LEASED, lease_expires_at__lt=at)
    groups = seats.order_by().values_list("annotator", "reserved_for", "pass_number", "state")
    rows = groups.annotate(
        n=Count("pk"),
        late=Count("pk", filter=late),
        since=Min("lease_expires_at"),
        late_since=Min("lease_expires_at", filter=late),
    )
    return [SeatGroup(*row) for row in rows]


def held_by(seats: Iterable[SeatGroup]) -> Counter[int]:
    """How many seats each person has leased."""
    held: Counter[int] = Counter()
    for group in seats:
        if group.state == SeatState.LEASED and group.annotator is not None:
            held[group.annotator] += group.n
    return held


def on_top(seats: Iterable[SeatGroup]) -> dict[str, Again]:
    """What is planned in addition to first grades, and how much of it is done: "again" and "checks"."""
    counts: dict[str, Counter[str]] = {"again": Counter(), "checks": Counter()}
    for group in seats:
        if group.reserved_for is not None and group.pass_number != 1:
            counts["checks" if group.pass_number == 0 else "again"][group.state] += group.n
    return {kind: Again(sum(states.values()), states[SeatState.DONE]) for kind, states in counts.items()}


def lapsed(round_: Round, *, at: datetime) -> QuerySet[Seat]:
    """The seats with a lapsed lease; the next claim of anybody opens them."""
    return Seat.objects.filter(round=round_, state=SeatState.LEASED, lease_expires_at__lt=at)


def stuck_holders(round_: Round, seats: Collection[SeatGroup]) -> list[Holder]:
    """People with seats leased for longer than a lease, or who have left the project or Karat; by name."""
    holders = [_holder(place, seats) for place in places_in(round_)]
    return sorted(
        (holder for holder in holders if holder.held or holder.reserved),
        key=lambda holder: (holder.person.name, holder.person.pk),
    )


def _holder(place: Place, seats: Iterable[SeatGroup]) -> Holder:
    """The stuck seats of a person; of one who left all that are leased, and those reserved for them."""
    held = reserved = 0
    times: list[datetime] = []
    for group in seats:
        if group.state == SeatState.LEASED and group.annotator == place.person.pk:
            held += group.late if place.is_able else group.n
            since = group.late_since if place.is_able else group.since
            times += [since] if since is not None else []
        if group.state == SeatState.OPEN and group.reserved_for == place.person.pk and not place.is_able:
            reserved += group.n
    return Holder(place.person, held, min(times, default=None), not place.is_able, reserved)


def totals_and_undecided(round_: Round, user: User) -> tuple[Totals, int]:
    """The totals of a round, and how many pairs this lead can adjudicate; in one statement."""
    undecided = CountOf(decidable(round_, user).values("pk"))
    asked: dict[str, BatchedRead[Any]] = {
        "totals": seat_counts(round_),
        "undecided": BatchedRead({"n": undecided}, lambda found: found["n"]),
    }
    found = answer_to(round_, joined(asked))
    return found["totals"], found["undecided"]


def is_asked(round_: Round, user: User) -> bool:
    """Whether this person is an annotator of the round."""
    return any(place.person.pk == user.pk for place in places_in(round_))


class Answers(NamedTuple):
    """What one person has answered in a round, in force; `fast` counts what was below a limit of time.

    `lately` counts the answers of the last days, `timed_lately` and `ms_lately` the time that these took.
    """

    done: int = 0
    cant_judge: int = 0
    timed: int = 0
    mean_ms: float | None = None
    fast: int = 0
    last_at: datetime | None = None
    lately: int = 0
    timed_lately: int = 0
    ms_lately: int = 0

    @property
    def pace(self) -> str:
        """The mean time of a pair, "1:48"; empty while nothing was timed."""
        return minutes(self.mean_ms)


class RoundAnswers(NamedTuple):
    """The answers of a round by the person's key. Those of the last `days` days count as of late."""

    days: int
    by_person: Mapping[int, Answers]

    def of(self, person: User) -> Answers:
        return self.by_person.get(person.pk, Answers())

    @property
    def lately(self) -> Lately:
        """What all of them gave in the last days."""
        rows = self.by_person.values()
        return Lately(
            self.days,
            sum(row.lately for row in rows),
            sum(row.timed_lately for row in rows),
            sum(row.ms_lately for row in rows),
        )

    def judged_since(self, at: datetime) -> int:
        """How many people have judged since then: whoever changed a grade has one in force from then."""
        return sum(row.last_at is not None and row.last_at >= at for row in self.by_person.values())


def answers_in(round_: Round, *, at: datetime, fast_ms: int = 0) -> RoundAnswers:
    """The answers of everybody who has given one, in one statement. `fast_ms` limits a fast pair.

    Of late is what was given in the last seven days, or since the round was opened.
    """
    days = min(LOOKS_BACK, max(1, (at - (round_.opened_at or at)).days + 1))
    late = Q(given_at__gt=at - timedelta(days=days))
    counted = live_judgements(round_).order_by().values("annotator")
    counted = counted.annotate(
        done=Count("pk"),
        cant=Count("pk", filter=~Q(cant_judge="")),
        timed=Count("active_ms"),
        mean_ms=Avg("active_ms"),
        fast=Count("pk", filter=Q(active_ms__lt=fast_ms)),
        last=Max("given_at"),
        late=Count("pk", filter=late),
        timed_late=Count("active_ms", filter=late),
        ms_late=Coalesce(Sum("active_ms", filter=late), 0),
    )
    columns = ("annotator", "done", "cant", "timed", "mean_ms", "fast", "last", "late", "timed_late", "ms_late")
    return RoundAnswers(days, {person: Answers(*each) for person, *each in counted.values_list(*columns)})


def workloads(round_: Round, answers: RoundAnswers) -> list[tuple[User, Workload]]:
    """Every annotator of the round, by name, with what they have answered of their share."""
    places, again = places_in(round_), plan_of(round_).again
    rows = []
    for place in places:
        first = even_share(round_, len(places)) if place.share is None else place.share
        share, own = first + int(again * first + 0.5), answers.of(place.person)
        work = Workload(own.done, share, own.timed, own.mean_ms, own.fast, own.lately, answers.days)
        rows.append((place.person, work))
    return rows


class Steadiness(NamedTuple):
    """Of a person's repeated pairs, those graded alike; of their checks, those they got right."""

    repeats: Rate = Rate(0, 0)
    checks: Rate = Rate(0, 0)


def steadiness(round_: Round) -> dict[int, Steadiness]:
    """The consistency of each person who has a repeated pair or a check, by the person's id."""
    live, columns = live_judgements(round_), ("annotator", "known", "grade")
    repeats = same_answers(repeats_among(live).values_list(*columns))
    checks = same_answers(checks_among(live).values_list(*columns))
    none = Rate(0, 0)
    return {pk: Steadiness(repeats.get(pk, none), checks.get(pk, none)) for pk in {*repeats, *checks}}


def repeats_among(answers: QuerySet[Judgement]) -> QuerySet[Any]:
    """The answers to pairs that the same person judged once more, blindly; `known` is the first one."""
    first = answers.filter(
        round=OuterRef("round"), annotator=OuterRef("annotator"), entry=OuterRef("entry"), pass_number=1
    )
    return answers.filter(pass_number__gt=1).annotate(known=Subquery(first.values("grade")[:1]))


def checks_among(answers: QuerySet[Judgement]) -> QuerySet[Any]:
    """The answers to checks; `known` is the known grade."""
    known = KnownAnswer.objects.filter(round=OuterRef("round"), entry=OuterRef("entry"))
    return answers.filter(pass_number=0).annotate(known=Subquery(known.values("grade")[:1]))


def same_answers(rows: Iterable[tuple[int, int | None, int | None]]) -> dict[int, Rate]:
    """By key, in how many rows both answers are the same. "Can't judge", None, is an answer."""
    found: dict[int, Rate] = {}
    for key, one, other in rows:
        before = found.get(key, Rate(0, 0))
        found[key] = Rate(before.hits + (one == other), before.n + 1)
    return found
