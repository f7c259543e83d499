"""An annotator's own work, for them alone: their share of a round, what is left of it, and their past grades.

While a round is open, only counts and times are shown: a figure that changed with a grade would reveal which pair is
repeated, or others' grades. Leads' decisions are shown once the round is closed, and never of a pair that the person
may still be assigned in another one.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, date
from typing import Any, NamedTuple

from django.db.models import Avg, Count, Exists, F, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import TruncWeek
from django.http import Http404

from apps.accounts.models import Project, User
from apps.common.database.batched_reads import BatchedRead, CountOf, DistinctOf, MeanOf, answer_to, first_with, joined
from apps.judging.core.eta import minutes
from apps.judging.enums import DecidedBy, RoundKind, RoundState, SeatState
from apps.judging.models import NOT_RETIRED, Adjudication, Judgement, PilotDecision, Round, RoundAnnotator, Seat
from apps.judging.selectors.board import checks_among, repeats_among, same_answers
from apps.judging.selectors.pairs import live_judgements
from apps.judging.selectors.plans import even_share, pilot_queries, plan_of, query_in_remit, seats_at_opening
from apps.judging.selectors.rounds import rounds_of
from apps.metrics.agreement.ratings import Rate
from apps.retrieval.models import PoolEntry, PoolQuery

WEEKS = 8
ROUNDS = 30
SHOWN = 50


class WorkWeek(NamedTuple):
    """One week of a person's work, from Monday in UTC, whatever the reader's time zone."""

    begins: date
    pairs: int
    mean_ms: float | None
    timed_ms: int | None

    @property
    def pace(self) -> str:
        """The mean time of a pair, "1:48"."""
        return minutes(self.mean_ms)

    @property
    def hours(self) -> float | None:
        """The working time, in hours."""
        return self.timed_ms / 3_600_000 if self.timed_ms else None


class OwnRound(NamedTuple):
    """A person's work in a round and, once it is closed, how far decisions, repeats and checks agreed: None before."""

    round: Round
    pairs: int
    mean_ms: float | None
    repeats: Rate | None
    decisions: Rate | None
    checks: Rate | None

    @property
    def pace(self) -> str:
        """The mean time of a pair, "1:48"."""
        return minutes(self.mean_ms)


def own_grades(user: User, project: Project) -> QuerySet[Judgement]:
    """This person's answers in force, of every pass."""
    return Judgement.objects.filter(
        annotator=user, round__project=project, round__kind=RoundKind.JUDGING, superseded_by=None
    )


def own_weeks(user: User, project: Project) -> list[WorkWeek]:
    """The last weeks in which this person judged, latest first."""
    rows = own_grades(user, project).annotate(week=TruncWeek("given_at", tzinfo=UTC)).values_list("week")
    weeks = rows.annotate(n=Count("pk"), mean=Avg("active_ms"), ms=Sum("active_ms")).order_by("-week")[:WEEKS]
    return [WorkWeek(week.date(), n, mean, ms) for week, n, mean, ms in weeks]


def own_rounds(user: User, project: Project) -> list[OwnRound]:
    """The rounds in which this person is an annotator, newest first, in a fixed number of statements."""
    rounds = list(rounds_of(user, project)[:ROUNDS])
    rows = own_grades(user, project).filter(pass_number=1, round__in=rounds).values_list("round")
    counts = {pk: (n, mean) for pk, n, mean in rows.annotate(n=Count("pk"), mean=Avg("active_ms")).order_by()}
    closed = [round_.pk for round_ in rounds if round_.state == RoundState.CLOSED]
    own = own_grades(user, project)
    rates = (
        same_answers(repeats_among(own).values_list("round", "known", "grade")),
        same_answers(_decided(user, project).values_list("round", "own_grade", "grade")),
        same_answers(checks_among(own).values_list("round", "known", "grade")),
    )
    return [
        OwnRound(
            round_,
            *counts.get(round_.pk, (0, None)),
            *(shares.get(round_.pk, Rate(0, 0)) if round_.pk in closed else None for shares in rates),
        )
        for round_ in rounds
    ]


def own_decisions(user: User, project: Project) -> list[Adjudication]:
    """Decisions that differ from this person's grade, latest first; `own_grade` is theirs."""
    decided = _decided(user, project).exclude(own_grade=F("grade")).exclude(own_grade=None, grade=None)
    decisions = decided.select_related("round", "entry__query", "entry__version__block__document")
    return list(decisions.order_by("-pk")[:SHOWN])


def _decided(user: User, project: Project) -> QuerySet[Any]:
    """Leads' decisions in force in closed rounds on pairs this person judged and cannot be assigned again."""
    answers = own_grades(user, project).filter(round__state=RoundState.CLOSED, pass_number=1)
    own = answers.filter(round=OuterRef("round"), entry=OuterRef("entry"))
    still = RoundAnnotator.objects.filter(annotator=user).exclude(round__state=RoundState.CLOSED)
    same = PoolEntry.objects.filter(
        pool__in=still.values("round__pool"), query=OuterRef("entry__query"), version=OuterRef("entry__version")
    )
    decisions = Adjudication.objects.filter(Exists(own), ~Exists(same), superseded_by=None, decided_by=DecidedBy.LEAD)
    return decisions.annotate(own_grade=Subquery(own.values("grade")[:1]))


MOST_EXTRA = 200
LOOK = 2 * MOST_EXTRA
PACE_OF = 200


class OwnProgress(NamedTuple):
    """An annotator's own work in a round; `total` is their share, or less where others took pairs of it.

    After their share they may continue: `beyond` more pairs are open to them.
    """

    done: int
    total: int
    mean_ms: float | None
    beyond: int = 0

    @property
    def to_go(self) -> int:
        """Pairs of their share still to be judged."""
        return max(0, self.total - self.done)

    @property
    def is_past(self) -> bool:
        """Whether the next pair is beyond their share."""
        return self.done >= self.total and self.beyond > 0

    @property
    def waiting(self) -> int:
        """Pairs they can judge now: of their share, and once that is done of others'."""
        return self.to_go or self.beyond

    @property
    def pace(self) -> str:
        """The mean time of a pair, "1:48"; empty where none was timed."""
        return minutes(self.mean_ms)


def own_progress_in(rounds: Sequence[Round], annotator: User) -> dict[int, OwnProgress]:
    """An annotator's own work in some rounds, by key, in as many statements as for one.

    The goal is the pairs of their share, the expected repeated ones, and the checks. Repeated pairs are counted as the
    plan expects them, never as sampled: a goal that grew with a grade would reveal that its pair is repeated. The goal
    shrinks when others take pairs of the share, and to what is left once none of it is; it does not change once it is
    reached. At most 200 pairs are counted beyond it, and 400 of the share, so that the page takes no longer in a larger
    round.
    """
    return answer_to(rounds[0], what_is_left_of(rounds, annotator)) if rounds else {}


def what_is_left_of(rounds: Sequence[Round], annotator: User) -> BatchedRead[dict[int, OwnProgress]]:
    """The question behind `own_progress_in`, for a page that asks others with it."""
    places = _places_of(rounds, annotator)
    questions = {round_.pk: _question(round_, places.get(round_.pk), annotator.pk) for round_ in rounds}
    return joined(questions)


def share_question(place: "OwnPlace") -> BatchedRead[OwnProgress]:
    """The same for one round, whose place was read already.

    The place may be as it was before pairs were leased: how far a person has got decides only where counting begins.
    """
    return _question(place.round, place, place.row.annotator_id)


class OwnPlace(NamedTuple):
    """An annotator's place in a round; `is_pilot` while they are confined to the queries of an undecided pilot."""

    row: RoundAnnotator
    round: Round
    is_pilot: bool


IS_DECIDED = Exists(PilotDecision.objects.filter(round=OuterRef("round")))


def own_place(user: User, project: Project, pk: int) -> OwnPlace:
    """This person's place in a round, with its project and guideline; Http404 where they are no annotator."""
    places = RoundAnnotator.objects.filter(round=pk, round__project=project, annotator=user)
    asked = BatchedRead({"is_decided": IS_DECIDED}, lambda found: bool(found["is_decided"]))
    found = first_with(places.select_related("round__project", "round__guideline"), asked)
    if found is None:
        raise Http404("No such round.")
    row, is_decided = found
    return _place(row, row.round, is_decided=is_decided)


def _places_of(rounds: Sequence[Round], annotator: User) -> dict[int, OwnPlace]:
    by_key = {round_.pk: round_ for round_ in rounds}
    mine = RoundAnnotator.objects.filter(round__in=list(by_key), annotator=annotator).annotate(is_decided=IS_DECIDED)
    return {row.round_id: _place(row, by_key[row.round_id], is_decided=row.is_decided) for row in mine}


def _place(row: RoundAnnotator, round_: Round, *, is_decided: bool) -> OwnPlace:
    return OwnPlace(row, round_, is_pilot=bool(pilot_queries(round_)) and not is_decided)


def _question(round_: Round, place: OwnPlace | None, annotator: int) -> BatchedRead[OwnProgress]:
    seats = Seat.objects.filter(round=round_).order_by()
    done = seats.filter(annotator=annotator, state=SeatState.DONE)
    asks = {
        "done": CountOf(done.values("pk")),
        "checks": CountOf(seats.filter(reserved_for=annotator, pass_number=0).values("pk")),
        "usual": _usual_time(round_, annotator),
        **(_left(round_, place, annotator) if place else {}),
    }
    if place is None or place.row.share is None:
        asks |= {"people": CountOf(RoundAnnotator.objects.filter(round=round_).values("pk")), **_shared_seats(round_)}
    else:
        asks |= {
            "checked": CountOf(done.filter(pass_number=0).values("pk")),
            "repeated": CountOf(done.filter(pass_number__gt=1).values("pk")),
        }
    return BatchedRead(asks, lambda found: _progress(round_, found, place))


def _progress(round_: Round, found: Mapping[str, Any], place: OwnPlace | None) -> OwnProgress:
    share = place.row.share if place else None
    first = even_share(round_, found["people"], found.get("shared")) if share is None else share
    again, done = int(plan_of(round_).again * first + 0.5), found["done"]
    goal = first + again + found["checks"]
    left = _left_of(found) if place else 0
    to_go = max(0, goal - done)
    if share is None:
        to_go = to_go if left is None else min(to_go, left)
    elif found["own"] < LOOK:
        own = found["own"] + found["own_leased"]
        to_go = own + found["checks"] - found["checked"] + max(0, again - found["repeated"])
        if place and (place.is_pilot or not own):
            to_go = min(to_go, own + found["own_reserved"])
    beyond = MOST_EXTRA if left is None else min(max(0, left - to_go), MOST_EXTRA)
    return OwnProgress(done, done + to_go if to_go else min(done, goal), found["usual"], beyond)


def _shared_seats(round_: Round) -> dict[str, CountOf]:
    """Asked only where the number at opening was not stored."""
    if seats_at_opening(round_) is not None:
        return {}
    return {"shared": CountOf(Seat.objects.filter(round=round_, reserved_for=None).order_by().values("pk"))}


def _left(round_: Round, place: OwnPlace, annotator: int) -> dict[str, CountOf]:
    """Seats and pairs that can still be assigned to this person, those from their cursor on and those before it.

    And those of their share among them; `own_reserved` are repeated pairs and checks.
    """
    seats = Seat.objects.filter(round=round_).order_by()
    own = seats.filter(entry=OuterRef("entry"), pass_number=OuterRef("pass_number"), annotator=annotator)
    ready = seats.filter(NOT_RETIRED, state=SeatState.OPEN)
    if place.is_pilot:
        ready = ready.filter(query__in=pilot_queries(round_))
    if place.row.only is not None:
        within = PoolQuery.objects.filter(query_in_remit(place.row.only), pool=round_.pool_id)
        ready = ready.filter(query__in=within.values("query"))
    free = ready.filter(~Exists(own), reserved_for=None).order_by("query_id")
    cursor = place.row.cursor
    counted = {"on": free.filter(query_id__gte=cursor)[:LOOK], "before": free.filter(query_id__lt=cursor)[:LOOK]}
    leased = seats.filter(NOT_RETIRED, annotator=annotator, state=SeatState.LEASED)
    reserved = ready.filter(reserved_for=annotator)
    return {
        **{f"seats_{part}": CountOf(rows.values("entry")) for part, rows in counted.items()},
        **{f"pairs_{part}": DistinctOf(rows.values("entry")) for part, rows in counted.items()},
        "leased": CountOf(leased.values("pk")),
        "reserved": CountOf(reserved.values("pk")),
        "own": CountOf(free.filter(meant_for=annotator).order_by().values("pk")[:LOOK]),
        "own_leased": CountOf(leased.filter(meant_for=annotator).values("pk")),
        "own_reserved": CountOf((reserved | leased.filter(reserved_for=annotator)).values("pk")),
    }


def _left_of(found: Mapping[str, Any]) -> int | None:
    """How many pairs are leased to this person or can still be assigned to them; None above the limit."""
    if found["seats_on"] + found["seats_before"] >= LOOK:
        return None
    return found["pairs_on"] + found["pairs_before"] + found["leased"] + found["reserved"]


def _usual_time(round_: Round, annotator: int) -> MeanOf:
    """The mean time of the last 200 pairs that were timed."""
    mine = live_judgements(round_).filter(annotator=annotator, active_ms__isnull=False)
    return MeanOf(mine.order_by("-given_at", "-pk").values(value=F("active_ms"))[:PACE_OF])
