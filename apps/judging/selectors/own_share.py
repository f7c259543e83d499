"""An annotator's progress in a round: their share, what is left of it, and their last grades."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Exists, F, OuterRef
from django.http import Http404

from apps.accounts.models import Project, User
from apps.common.database.questions import CountOf, DistinctOf, MeanOf, Question, answer_to, first_with, joined
from apps.judging.enums import SeatState
from apps.judging.models import NOT_RETIRED, Judgement, PilotDecision, Round, RoundAnnotator, Seat
from apps.judging.selectors.pairs import live_judgements
from apps.judging.selectors.plans import pilot_queries, plan_of, query_in_remit, seats_at_opening
from apps.judging.selectors.progress import minutes
from apps.retrieval.models import PoolQuery

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


def own_progress(round_: Round, annotator: User) -> OwnProgress:
    """An annotator's own work. The goal is the pairs of their share, the expected repeated ones, and the checks.

    Repeated pairs are counted as the plan expects them, never as sampled: a goal that grew with a grade would reveal
    that its pair is repeated. The goal shrinks when others take pairs of the share, and to what is left once none of it
    is; it does not change once it is reached. At most 200 pairs are counted beyond it, and 400 of the share, so that
    the page takes no longer in a larger round.
    """
    return own_progress_in([round_], annotator)[round_.pk]


def own_progress_in(rounds: Sequence[Round], annotator: User) -> dict[int, OwnProgress]:
    """The same for several rounds by key, in as many statements as for one."""
    return answer_to(rounds[0], what_is_left_of(rounds, annotator)) if rounds else {}


def what_is_left_of(rounds: Sequence[Round], annotator: User) -> Question[dict[int, OwnProgress]]:
    """The question behind `own_progress_in`, for a page that asks others with it."""
    places = _places_of(rounds, annotator)
    questions = {round_.pk: _question(round_, places.get(round_.pk), annotator.pk) for round_ in rounds}
    return joined(questions)


def share_question(place: "OwnPlace") -> Question[OwnProgress]:
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
    asked = Question({"is_decided": IS_DECIDED}, lambda found: bool(found["is_decided"]))
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


def _question(round_: Round, place: OwnPlace | None, annotator: int) -> Question[OwnProgress]:
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
    return Question(asks, lambda found: _progress(round_, found, place))


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


def even_share(round_: Round, people: int, shared: int | None = None) -> int:
    """How many pairs each person would judge in equal shares, in a round from before shares were planned.

    `shared` counts the seats of a round from before that was stored.
    """
    opened_with = seats_at_opening(round_)
    return -(-(shared or 0 if opened_with is None else opened_with) // (people or 1))


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


def recent_pairs(round_: Round, annotator: User, n: int = 20) -> list[Judgement]:
    """The last pairs this person graded, latest first: those that undo can reach."""
    mine = live_judgements(round_).filter(annotator=annotator)
    return list(mine.select_related("entry__query", "seat").order_by("-given_at", "-pk")[:n])
