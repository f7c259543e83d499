"""How far a round is: for a lead by person and query, for an annotator their own, for home what waits."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Avg, Count, Max, Min, Q

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of, roles_of
from apps.judging.enums import RoundKind, RoundState, SeatState
from apps.judging.models import Judgement, Round, RoundAnnotator, Seat
from apps.judging.selectors.pairs import adjudicable, live_judgements
from apps.judging.selectors.rounds import open_rounds_of, rounds_in

MOST_EXTRA = 200


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
    """What judging has in store for a person in a project."""

    to_grade: int
    grade_round: Round | None
    to_adjudicate: int
    adjudicate_round: Round | None
    adjudicate_since: datetime | None


def totals(round_: Round) -> Totals:
    """Count the seats of a round."""
    counts = Seat.objects.filter(round=round_).aggregate(
        planned=Count("pk"),
        done=Count("pk", filter=Q(state=SeatState.DONE)),
        held=Count("pk", filter=Q(state=SeatState.LEASED)),
    )
    return Totals(**counts)


def by_person(round_: Round) -> list[PersonProgress]:
    """Everybody who was asked to judge, by name."""
    held = dict(
        Seat.objects.filter(round=round_, state=SeatState.LEASED)
        .values_list("annotator")
        .annotate(n=Count("pk"))
        .order_by()
    )
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
        PersonProgress(person, row["done"], held.get(person.pk, 0), row["cant"], row["mean_ms"], row["last"])
        for person, row in rows
    ]


def _places(round_: Round) -> list[RoundAnnotator]:
    places = RoundAnnotator.objects.filter(round=round_).select_related("annotator")
    return list(places.order_by("annotator__name", "annotator"))


def by_query(round_: Round) -> list[QueryProgress]:
    """Every query of the round, in the order of the queries."""
    rows = (
        Seat.objects.filter(round=round_)
        .values("query_id", "query__outside_id", "query__text")
        .annotate(
            planned=Count("pk"),
            done=Count("pk", filter=Q(state=SeatState.DONE)),
            held=Count("pk", filter=Q(state=SeatState.LEASED)),
        )
        .order_by("query_id")
    )
    return [QueryProgress(r["query__outside_id"], r["query__text"], r["planned"], r["done"], r["held"]) for r in rows]


class RoundSummary(NamedTuple):
    """A round in the list, with its seats counted."""

    round: Round
    planned: int
    done: int
    people: int


def round_summaries(project: Project) -> list[RoundSummary]:
    """Every round of the project, newest first, in a fixed number of statements."""
    seats = {
        row["round"]: row
        for row in Seat.objects.filter(round__project=project)
        .values("round")
        .annotate(planned=Count("pk"), done=Count("pk", filter=Q(state=SeatState.DONE)))
        .order_by()
    }
    people = dict(
        RoundAnnotator.objects.filter(round__project=project).values_list("round").annotate(n=Count("pk")).order_by()
    )
    none = {"planned": 0, "done": 0}
    counted = [(round_, seats.get(round_.pk, none)) for round_ in rounds_in(project)]
    return [RoundSummary(r, row["planned"], row["done"], people.get(r.pk, 0)) for r, row in counted]


def stuck(round_: Round) -> int:
    """Count the open seats that nobody can fill: everybody of the round who still judges has been on their pair."""
    asked = set(RoundAnnotator.objects.filter(round=round_).values_list("annotator", flat=True))
    able = asked & set(members_of(round_.project, Role.ANNOTATOR).values_list("pk", flat=True))
    if able == asked and len(able) >= round_.judges:
        return 0
    full = (
        Seat.objects.filter(round=round_)
        .values("entry", "pass_number")
        .annotate(
            taken=Count("pk", filter=Q(annotator__in=able)),
            open=Count("pk", filter=Q(state=SeatState.OPEN)),
        )
        .filter(taken__gte=len(able), open__gt=0)
    )
    return sum(row["open"] for row in full)


def own_progress(round_: Round, annotator: User) -> OwnProgress:
    """An annotator's own work. The goal is an even share of the round, as long as it can be reached."""
    mine = live_judgements(round_).filter(annotator=annotator)
    row = mine.aggregate(done=Count("pk"), mean_ms=Avg("active_ms"))
    people = RoundAnnotator.objects.filter(round=round_).count() or 1
    share = -(-Seat.objects.filter(round=round_).count() // people)
    wanted = max(share - row["done"], MOST_EXTRA)
    taken = Seat.objects.filter(round=round_, annotator=annotator).values("entry")
    free = Seat.objects.filter(round=round_).filter(
        Q(state=SeatState.OPEN) & ~Q(entry__in=taken) | Q(state=SeatState.LEASED, annotator=annotator)
    )
    left = len(set(free.values_list("entry_id", flat=True)[: 2 * wanted]))
    goal = share - row["done"] if row["done"] < share else left
    return OwnProgress(row["done"], row["done"] + min(goal, left), row["mean_ms"])


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
    if Role.LEAD in roles:
        for round_ in rounds_to_adjudicate(project):
            pairs = adjudicable(round_, user)
            to_adjudicate += len(pairs)
            adjudicate_round = adjudicate_round or (round_ if pairs else None)
            entries += [judgement.pk for pair in pairs for judgement in pair.judgements]
    since = Judgement.objects.filter(pk__in=entries[:1_000]).aggregate(at=Min("given_at"))["at"]
    return Waiting(to_grade, grade_round, to_adjudicate, adjudicate_round, since)


def rounds_to_adjudicate(project: Project) -> list[Round]:
    """Rounds whose pairs may need a lead, oldest first."""
    rounds = Round.objects.filter(project=project, kind=RoundKind.JUDGING)
    return list(rounds.exclude(state=RoundState.OPENING).order_by("number"))
