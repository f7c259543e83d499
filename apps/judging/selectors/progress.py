"""How far a round is: for a lead by person and query, for an annotator their own, for home what waits."""

from collections import Counter
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Avg, Count, Exists, Max, Min, OuterRef, Q, QuerySet

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of, roles_of
from apps.judging.enums import RoundKind, RoundState, SeatState
from apps.judging.models import Judgement, Round, RoundAnnotator, Seat
from apps.judging.planned import gate, plan_of, seats_at_opening
from apps.judging.selectors.pairs import adjudicable, left_to_another_lead, live_judgements
from apps.judging.selectors.plans import query_in_remit
from apps.judging.selectors.rounds import open_rounds_of, rounds_in
from apps.queries.models import Query
from apps.retrieval.models import PoolQuery

MOST_EXTRA = 200
LOOK = 2 * MOST_EXTRA
PACE_OF = 200


def minutes(milliseconds: float | None) -> str:
    """Write a time as minutes and seconds, "1:48"; nothing for none."""
    if not milliseconds:
        return ""
    seconds = round(milliseconds / 1000)
    return f"{seconds // 60}:{seconds % 60:02}"


class Totals(NamedTuple):
    """Seats of a round: planned, filled, and held by somebody right now."""

    planned: int
    done: int
    held: int

    @property
    def to_go(self) -> int:
        """Judgements still to be given."""
        return self.planned - self.done


class PersonProgress(NamedTuple):
    """What one person has done in a round."""

    person: User
    done: int
    held: int
    cant_judge: int
    mean_ms: float | None
    last_at: datetime | None

    @property
    def pace(self) -> str:
        """The mean time of a pair, "1:48"; empty while nothing was timed."""
        return minutes(self.mean_ms)


class QueryProgress(NamedTuple):
    """How far one query of a round is."""

    outside_id: str
    text: str
    planned: int
    done: int
    held: int


class OwnProgress(NamedTuple):
    """An annotator's own work in a round; `total` is their share of it, or what they can still be given."""

    done: int
    total: int
    mean_ms: float | None

    @property
    def to_go(self) -> int:
        """Pairs still to be graded."""
        return self.total - self.done

    @property
    def pace(self) -> str:
        """The mean time of a pair, "1:48"; empty while nothing was timed."""
        return minutes(self.mean_ms)


class Waiting(NamedTuple):
    """What judging has in store for a person in a project. `left` are pairs they judged, which another lead decides."""

    to_grade: int
    grade_round: Round | None
    to_adjudicate: int
    adjudicate_round: Round | None
    adjudicate_since: datetime | None
    left: int
    left_round: Round | None


def totals(round_: Round) -> Totals:
    """Count the seats of a round."""
    seats = Seat.objects.filter(round=round_)
    return Totals(_planned(round_), seats.filter(state=SeatState.DONE).count(), held_now(round_))


def held_now(round_: Round) -> int:
    """How many seats of a round somebody holds at this moment."""
    return Seat.objects.filter(round=round_, state=SeatState.LEASED).count()


def _planned(round_: Round) -> int:
    """Count the seats of a round: those it opened with, and those that were reserved for somebody since.

    Only a round that may call for extra judges, or that was opened before this number was kept, has every seat
    counted.
    """
    seats = Seat.objects.filter(round=round_)
    opened_with = seats_at_opening(round_)
    if opened_with is None or plan_of(round_).extra_bar is not None:
        return seats.count()
    return opened_with + seats.filter(reserved_for__isnull=False).count()


def by_person(round_: Round) -> list[PersonProgress]:
    """Everybody who was asked to judge, by name."""
    leased = Seat.objects.filter(round=round_, state=SeatState.LEASED)
    held = Counter(leased.values_list("annotator_id", flat=True))
    given: dict[int, dict[str, Any]] = {
        row["annotator"]: dict(row)
        for row in live_judgements(round_)
        .values("annotator")
        .annotate(
            done=Count("pk"),
            cant=Count("pk", filter=~Q(cant_judge="")),
            mean_ms=Avg("active_ms"),
            last=Max("given_at"),
        )
        .order_by()
    }
    people = [place.annotator for place in _places(round_)]
    none: dict[str, Any] = {"done": 0, "cant": 0, "mean_ms": None, "last": None}
    rows = [(person, given.get(person.pk, none)) for person in people]
    return [
        PersonProgress(person, row["done"], held[person.pk], row["cant"], row["mean_ms"], row["last"])
        for person, row in rows
    ]


def _places(round_: Round) -> list[RoundAnnotator]:
    places = RoundAnnotator.objects.filter(round=round_).select_related("annotator")
    return list(places.order_by("annotator__name", "annotator"))


def by_query(round_: Round) -> list[QueryProgress]:
    """Every query of the round, in the order of the queries."""
    counts: dict[int, dict[str, int]] = {}
    rows = Seat.objects.filter(round=round_).values_list("state", "query_id").annotate(n=Count("pk")).order_by()
    for state, query_id, n in rows:
        counts.setdefault(query_id, {})[state] = n
    queries = Query.objects.filter(project=round_.project_id).order_by("pk")
    return [
        QueryProgress(
            outside_id,
            text,
            sum(counts[pk].values()),
            counts[pk].get(SeatState.DONE, 0),
            counts[pk].get(SeatState.LEASED, 0),
        )
        for pk, outside_id, text in queries.values_list("pk", "outside_id", "text")
        if pk in counts
    ]


class RoundSummary(NamedTuple):
    """A round in the list, with its seats counted."""

    round: Round
    planned: int
    done: int
    people: int


def round_summaries(project: Project) -> list[RoundSummary]:
    """Every round of the project, newest first, in a fixed number of statements."""
    rounds = list(rounds_in(project))
    seats = Seat.objects.filter(round__in=rounds)
    uncounted = [r for r in rounds if seats_at_opening(r) is None or plan_of(r).extra_bar is not None]
    every = _by_round(Seat.objects.filter(round__in=uncounted))
    reserved = _by_round(seats.filter(reserved_for__isnull=False))
    done = _by_round(seats.filter(state=SeatState.DONE))
    people = _by_round(RoundAnnotator.objects.filter(round__in=rounds))
    return [
        RoundSummary(
            round_,
            every.get(round_.pk, 0)
            if round_ in uncounted
            else (seats_at_opening(round_) or 0) + reserved.get(round_.pk, 0),
            done.get(round_.pk, 0),
            people.get(round_.pk, 0),
        )
        for round_ in rounds
    ]


def _by_round(rows: QuerySet) -> dict[int, int]:
    return dict(rows.values_list("round").annotate(n=Count("pk")).order_by())


def stuck(round_: Round) -> int:
    """Count the open seats that nobody can fill.

    Everybody of the round who still judges has been on their pair, or whom they are reserved for judges no more.
    """
    asked = set(RoundAnnotator.objects.filter(round=round_).values_list("annotator", flat=True))
    able = asked & set(members_of(round_.project, Role.ANNOTATOR).values_list("pk", flat=True))
    if able == asked and len(able) >= round_.judges:
        return 0
    seats = Seat.objects.filter(round=round_)
    full = (
        seats.filter(reserved_for=None)
        .values("entry", "pass_number")
        .annotate(
            taken=Count("pk", filter=Q(annotator__in=able)),
            open=Count("pk", filter=Q(state=SeatState.OPEN)),
        )
        .filter(taken__gte=len(able), open__gt=0)
    )
    left_behind = seats.filter(state=SeatState.OPEN, reserved_for__isnull=False).exclude(reserved_for__in=able)
    return sum(row["open"] for row in full) + left_behind.count()


def own_progress(round_: Round, annotator: User) -> OwnProgress:
    """An annotator's own work. The goal is an even share of the round and what is reserved for them.

    The goal shrinks to what they can still be given when that is less, and whoever has reached it is shown up to 200
    pairs more. Nothing is counted further ahead, so that the page takes no longer in a larger round.
    """
    mine = Seat.objects.filter(round=round_, annotator=annotator)
    done = mine.filter(state=SeatState.DONE).count()
    reserved = Seat.objects.filter(round=round_, reserved_for=annotator).count()
    goal = max(0, even_share(round_) + reserved - done)
    left = _left_for(round_, annotator)
    to_go = goal or MOST_EXTRA if left is None else min(goal or left, left)
    return OwnProgress(done, done + to_go, _usual_time(round_, annotator))


def even_share(round_: Round) -> int:
    """What each person would judge if all judged as much of what the round opened with."""
    opened_with = seats_at_opening(round_)
    if opened_with is None:
        opened_with = Seat.objects.filter(round=round_, reserved_for=None).count()
    people = RoundAnnotator.objects.filter(round=round_).count() or 1
    return -(-opened_with // people)


def _left_for(round_: Round, annotator: User) -> int | None:
    """Count the pairs this person holds or can still be given; None where there are more than is looked at."""
    place = RoundAnnotator.objects.filter(round=round_, annotator=annotator).first()
    if place is None:
        return 0
    seats = Seat.objects.filter(round=round_)
    taken = seats.filter(entry=OuterRef("entry"), pass_number=OuterRef("pass_number"), annotator=annotator)
    ready = seats.filter(state=SeatState.OPEN)
    if (pilot := gate(round_)) is not None:
        ready = ready.filter(query__in=pilot)
    if place.only is not None:
        within = PoolQuery.objects.filter(query_in_remit(place.only), pool=round_.pool_id)
        ready = ready.filter(query__in=within.values("query"))
    free = ready.filter(~Exists(taken), reserved_for=None).order_by("query_id").values_list("entry_id", flat=True)
    found = list(free.filter(query_id__gte=place.cursor)[:LOOK])
    found += free.filter(query_id__lt=place.cursor)[: LOOK - len(found)]
    if len(found) >= LOOK:
        return None
    held = seats.filter(annotator=annotator, state=SeatState.LEASED).count()
    return len(set(found)) + held + ready.filter(reserved_for=annotator).count()


def _usual_time(round_: Round, annotator: User) -> float | None:
    """The mean time of the last 200 pairs that were timed."""
    mine = live_judgements(round_).filter(annotator=annotator, active_ms__isnull=False)
    last = mine.order_by("-given_at", "-pk").values_list("active_ms", flat=True)[:PACE_OF]
    times = [time for time in last if time is not None]
    return sum(times) / len(times) if times else None


def recent_pairs(round_: Round, annotator: User, n: int = 20) -> list[Judgement]:
    """The last pairs this person graded, latest first: what undo can reach."""
    mine = live_judgements(round_).filter(annotator=annotator)
    return list(mine.select_related("entry__query", "seat").order_by("-given_at", "-pk")[:n])


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
