"""The rounds of a project, and the progress of one: in total, by query, its people, and its stuck pairs."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import Count, Exists, F, Max, OuterRef, Q
from django.db.models.functions import Coalesce

from apps.accounts.enums import Role
from apps.accounts.models import PLACEHOLDER_DOMAIN, Project, User
from apps.accounts.selectors import members_of
from apps.common.database.batched_reads import BatchedRead, CountOf, answer_to, once
from apps.judging.core.plan import Remit
from apps.judging.enums import RoundKind, RoundState, SeatState
from apps.judging.models import NOT_RETIRED, Round, RoundAnnotator, Seat
from apps.judging.selectors.plans import judges_by_query, plan_of, query_in_remit, seats_at_opening
from apps.queries.models import Query

UNFINISHED = (SeatState.OPEN, SeatState.LEASED)


class KnownRound(NamedTuple):
    """A round as one person finds it. `is_asked`: they are an annotator of it; `has_raters`: grades came with names.

    `is_full`: it has seats, and every planned grade is given, but for retired queries. Only undo is possible there.
    """

    round: Round
    is_asked: bool
    has_raters: bool
    is_full: bool

    @property
    def is_judged_here(self) -> bool:
        return self.round.kind == RoundKind.JUDGING

    @property
    def has_people(self) -> bool:
        """Whether its grades count and belong to people: judged here, or imported with the names of their raters."""
        return self.round.withdrawn_at is None and (self.is_judged_here or self.has_raters)

    @property
    def may_need_a_lead(self) -> bool:
        """Whether two answers of it can differ, and count."""
        if self.round.withdrawn_at or self.round.state == RoundState.OPENING:
            return False
        return self.is_judged_here or self.round.judges > 1

    @property
    def can_be_judged(self) -> bool:
        """Whether its annotators are asked for grades."""
        return self.is_judged_here and self.round.state == RoundState.OPEN and self.round.withdrawn_at is None

    @property
    def can_be_closed(self) -> bool:
        """Whether it is open, and every planned grade is given."""
        return self.is_judged_here and self.round.state == RoundState.OPEN and self.is_full


def known_rounds(project: Project, user: User | None) -> list[KnownRound]:
    """The rounds of the project, oldest first, withdrawn ones too."""
    return once(("rounds", project.pk, user and user.pk), lambda: _read(project, user))


def newest_round(project: Project, user: User | None) -> Round | None:
    """The round that was planned last, once it is open."""
    found = [each.round for each in known_rounds(project, user) if each.is_judged_here]
    return next((round_ for round_ in reversed(found) if round_.state != RoundState.OPENING), None)


def _read(project: Project, user: User | None) -> list[KnownRound]:
    people, seats = RoundAnnotator.objects.filter(round=OuterRef("pk")), Seat.objects.filter(round=OuterRef("pk"))
    rounds = Round.objects.filter(project=project).annotate(
        is_asked=Exists(people.filter(annotator=user)),
        has_raters=Exists(people.filter(annotator__email__endswith=PLACEHOLDER_DOMAIN)),
        has_seats=Exists(seats),
        is_unfinished=Exists(seats.filter(NOT_RETIRED, state__in=UNFINISHED)),
    )
    found = []
    for round_ in rounds.order_by("number"):
        round_.project = project
        is_full = round_.has_seats and not round_.is_unfinished
        found.append(KnownRound(round_, round_.is_asked, round_.has_raters, is_full))
    return found


class Totals(NamedTuple):
    """Seats of a round: planned, done, and leased right now."""

    planned: int
    done: int
    held: int

    @property
    def to_go(self) -> int:
        """Judgements still to be given."""
        return self.planned - self.done


class QueryProgress(NamedTuple):
    outside_id: str
    text: str
    planned: int
    done: int
    held: int


def totals(round_: Round) -> Totals:
    return answer_to(round_, seat_counts(round_))


def seat_counts(round_: Round) -> BatchedRead[Totals]:
    """The question behind `totals`, for a page that asks others with it."""
    seats, fixed = Seat.objects.filter(round=round_).order_by(), fixed_seat_count(round_)
    counted = {
        "planned": seats if fixed is None else seats.filter(reserved_for__isnull=False),
        "done": seats.filter(state=SeatState.DONE),
        "held": seats.filter(state=SeatState.LEASED),
    }
    asks = {name: CountOf(rows.values("pk")) for name, rows in counted.items()}
    return BatchedRead(asks, lambda n: Totals(n["planned"] + (fixed or 0), n["done"], n["held"]))


def leased_now(round_: Round) -> int:
    """How many seats of a round are leased right now."""
    return Seat.objects.filter(round=round_, state=SeatState.LEASED).count()


def fixed_seat_count(round_: Round) -> int | None:
    """How many seats a round was opened with; only those reserved since are to be added.

    None where every seat has to be counted: the round may add extra judges, or was opened before this number was
    stored.
    """
    return None if plan_of(round_).extra_bar is not None else seats_at_opening(round_)


class Place(NamedTuple):
    """An annotator of a round. `is_able`: they still judge in the project. `only` is their remit."""

    person: User
    is_able: bool
    share: int | None
    only: Remit | None


def places_in(round_: Round) -> list[Place]:
    """The annotators of the round, by name, whether they still judge or not."""
    return once(("places", round_.pk), lambda: _places(round_))


def _places(round_: Round) -> list[Place]:
    able = members_of(round_.project, Role.ANNOTATOR).order_by().filter(pk=OuterRef("annotator"))
    rows = RoundAnnotator.objects.filter(round=round_).select_related("annotator").annotate(is_able=Exists(able))
    rows = rows.order_by("annotator__name", "annotator")
    return [Place(row.annotator, row.is_able, row.share, row.only) for row in rows]


def by_query(round_: Round) -> list[QueryProgress]:
    """Every query of the round, in the order of the queries."""
    counted = Seat.objects.filter(round=round_).values("query_id").order_by("query_id")
    rows = counted.annotate(
        outside_id=Max("query__outside_id"),
        text=Max("query__text"),
        planned=Count("pk"),
        done=Count("pk", filter=Q(state=SeatState.DONE)),
        held=Count("pk", filter=Q(state=SeatState.LEASED)),
    )
    return [QueryProgress(*row) for row in rows.values_list("outside_id", "text", "planned", "done", "held")]


class PlannedPairs(NamedTuple):
    """A query of some rounds: the pairs to judge, and those judged by somebody."""

    outside_id: str
    pairs: int
    done: int


def planned_pairs(rounds: Iterable[Round]) -> list[PlannedPairs]:
    """The queries that these rounds judge together, without retired ones, by id; none where every seat is filled."""
    seats = Seat.objects.filter(NOT_RETIRED, round__in=list(rounds), pass_number=1)
    if not seats.filter(state__in=[SeatState.OPEN, SeatState.LEASED]).exists():
        return []
    done = Count("entry", distinct=True, filter=Q(state=SeatState.DONE))
    counted = seats.values_list("query__outside_id").annotate(pairs=Count("entry", distinct=True), done=done)
    return [PlannedPairs(*row) for row in counted.order_by("query__outside_id")]


def stuck(round_: Round) -> int:
    """How many open seats nobody can fill.

    Every person of the round who still judges, and may judge the query, has had the pair; or the person they are
    reserved for no longer judges.
    """
    able = _able(round_)
    if able is None:
        return 0
    open_ = Count("pk", filter=Q(state=SeatState.OPEN))
    seats = Seat.objects.filter(NOT_RETIRED, round=round_, reserved_for=None).order_by()
    pairs = seats.values("entry", "pass_number", "query")
    counted = pairs.annotate(open=open_, taken=Count("pk", filter=Q(annotator__in=able)))
    queries = Query.objects.filter(pk__in=round_.pool.pool_queries.values("query"))
    may = {pk: len(people) for pk, people in judges_by_query(queries, able).items()}
    short = counted.filter(open__gt=0).filter(open__gt=min(may.values(), default=0) - F("taken"))
    full = sum(max(0, row["open"] - max(0, may[row["query"]] - row["taken"])) for row in short)
    left_behind = Seat.objects.filter(NOT_RETIRED, round=round_, state=SeatState.OPEN, reserved_for__isnull=False)
    return full + left_behind.exclude(reserved_for__in=able).count()


def to_go_by_person(round_: Round) -> Counter[int]:
    """How many judgements are still to be given by each person, by key: leased to them, theirs alone, or their share.

    Those of nobody's share are under 0.
    """
    rest = Seat.objects.filter(NOT_RETIRED, round=round_).exclude(state=SeatState.DONE).order_by()
    whose = Coalesce("annotator", "reserved_for", "meant_for", 0)
    return Counter(dict(rest.annotate(whose=whose).values_list("whose").annotate(n=Count("pk"))))


class LeftOver(NamedTuple):
    """The open seats that are in the share of nobody who still judges, and who may fill how many of them, by name."""

    number: int
    may: list[tuple[User, int]]


def left_over(round_: Round) -> LeftOver:
    """What people who left have not judged of their shares. Others may, once their own share is done."""
    able = _able(round_)
    if able is None:
        return LeftOver(0, [])
    seats = Seat.objects.filter(NOT_RETIRED, round=round_, state=SeatState.OPEN, reserved_for=None)
    seats = seats.exclude(meant_for__in=able).exclude(meant_for=None)
    may = []
    for person in (place.person for place in places_in(round_) if place.person.pk in able):
        own = Seat.objects.filter(
            round=round_, entry=OuterRef("entry"), pass_number=OuterRef("pass_number"), annotator=person
        )
        if n := seats.filter(~Exists(own), query_in_remit(able[person.pk])).count():
            may.append((person, n))
    return LeftOver(seats.count(), may)


def _able(round_: Round) -> dict[int, Remit | None] | None:
    """The remits of those of the round who still judge, by key; None where everybody does."""
    places = places_in(round_)
    able = {place.person.pk: place.only for place in places if place.is_able}
    return None if len(able) == len(places) >= round_.judges else able
