"""Assignment of reviewers: two seats per revision, given by load or pulled from a queue, never to its writers."""

import hashlib
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery
from prometheus_client.core import CounterMetricFamily, Metric

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import Holding, members_of, policy
from apps.review.models import ReviewSeat, Verdict
from apps.review.selectors.participation import REVIEWERS_PER_ROUND
from apps.triples.enums import State
from apps.triples.models import Revision, Triple
from apps.triples.selectors.triples import authors_of


def verdict_metrics(at: datetime) -> list[Metric]:
    """The highest number of a verdict, as of grades: none is ever deleted."""
    highest = Verdict.objects.aggregate(highest=Max("pk"))["highest"] or 0
    return [CounterMetricFamily("karat_verdicts", "Verdicts ever stored.", highest)]


NUMBERS = range(1, REVIEWERS_PER_ROUND + 1)
UNANSWERED = Q(released_at=None, answered_at=None)


# How a project seats people ----------------------------------------------------------------------------------------


def is_pulled(project: Project) -> bool:
    """Whether reviewers pull their seats from a queue. Otherwise seats are given by load when a round opens."""
    return policy(project, "review_assignment") == "pull"


def lease_from(project: Project, at: datetime) -> datetime | None:
    """When a seat opened at `at` lapses unless answered. None where seats are given by load: they have no lease."""
    if not is_pulled(project):
        return None
    return at + timedelta(hours=policy(project, "review_lease_hours"))


def lapsed(at: datetime) -> Q:
    """Unanswered seats whose lease has lapsed: the next person may take them."""
    return UNANSWERED & Q(lease_expires_at__lte=at)


# Who may, and who should -------------------------------------------------------------------------------------------


def able_in(project: Project) -> QuerySet[User]:
    """Everybody who can answer a review in the project now."""
    return members_of(project, Role.REVIEWER)


def open_load(project: Project) -> dict[int, int]:
    """Seats in open rounds per person, answered or not.

    Answered ones count too: otherwise the assignment of the next triple would reveal who has answered this one.
    """
    rows = (
        ReviewSeat.objects.filter(released_at=None, closed_at=None, revision__triple__project=project)
        .order_by()
        .values_list("reviewer")
        .annotate(Count("pk"))
    )
    return dict(rows)


def newcomers_in(project: Project) -> frozenset[int]:
    """Reviewers who have given fewer reviews here than the project asks for before somebody counts as experienced.

    Nobody where all are new: then there is no experienced reviewer to pair them with. Only closed rounds count:
    otherwise the assignment of the next seat would reveal who has just answered.
    """
    needed = policy(project, "calibrating_reviews")
    if not needed:
        return frozenset()
    closed = ReviewSeat.objects.filter(reviewer=OuterRef("pk"), released_at=None, closed_at__isnull=False)
    verdicts = closed.filter(revision__triple__project=project).values("pk")
    able = able_in(project).order_by().annotate(enough=Subquery(verdicts[needed - 1 : needed]))
    is_new = {pk: enough is None for pk, enough in able.values_list("pk", "enough")}
    return frozenset() if all(is_new.values()) else frozenset(pk for pk in is_new if is_new[pk])


def _lot(triple: Triple, person: User) -> str:
    return hashlib.sha256(f"{triple.pk}:{person.pk}".encode()).hexdigest()


def choose(
    triple: Triple,
    people: Iterable[User],
    load: dict[int, int],
    keep: Iterable[int],
    writers: frozenset[int],
    newcomers: frozenset[int] = frozenset(),
    last: Iterable[int] = (),
) -> list[User]:
    """Two reviewers: those of the round before first, then the least loaded, ties by hash. Fewer when too few.

    People in `last` come behind everybody else. Two newcomers do not sit together while somebody practised is there;
    who sat in the round before stays.
    """
    kept_ids, behind = set(keep), set(last)
    able = [person for person in people if person.pk not in writers]
    able.sort(
        key=lambda person: (
            person.pk in behind,
            person.pk not in kept_ids,
            load.get(person.pk, 0),
            _lot(triple, person),
        )
    )
    if not able:
        return []
    first, *others = able
    if first.pk in newcomers:
        others.sort(key=lambda person: person.pk not in kept_ids and person.pk in newcomers)
    return [first, *others][:REVIEWERS_PER_ROUND]


def _seated_before(triple: Triple) -> list[int]:
    before = ReviewSeat.objects.filter(revision=triple.current_id, released_at=None)
    return list(before.values_list("reviewer", flat=True))


def reviewers_for(triple: Triple, *, afresh: bool = False) -> list[User]:
    """The two who get the seats of the next round by load. `afresh`: people who have not reviewed it come first."""
    project = triple.project
    reviewed = ReviewSeat.objects.filter(revision__triple=triple).values_list("reviewer", flat=True)
    return choose(
        triple,
        able_in(project),
        open_load(project),
        () if afresh else _seated_before(triple),
        authors_of(triple),
        newcomers_in(project),
        last=reviewed if afresh else (),
    )


def able_for(triple: Triple) -> list[User]:
    """At most two who could review the next round: enough to know that it can be reviewed."""
    return list(able_in(triple.project).exclude(pk__in=authors_of(triple))[:REVIEWERS_PER_ROUND])


def returning_reviewers(triple: Triple) -> list[User]:
    """Reviewers of the round before who can still answer: they are shown what changed, also where seats are pulled."""
    return list(able_in(triple.project).filter(pk__in=_seated_before(triple)).exclude(pk__in=authors_of(triple)))


def successor_for(triple: Triple, apart_from: Iterable[int], among: Collection[int] | None = None) -> User | None:
    """Who takes over a seat of the open round by load: no writer, nobody with a seat in it, nobody in `apart_from`.

    `among`: only these people.
    """
    project = triple.project
    seated = set(live_seats(triple.revision).values_list("reviewer", flat=True))
    people = [person for person in able_in(project) if among is None or person.pk in among]
    excluded = authors_of(triple) | set(apart_from)
    return choose_successor(triple, people, open_load(project), seated, excluded, newcomers_in(project))


def choose_successor(
    triple: Triple,
    people: Iterable[User],
    load: Mapping[int, int],
    seated: Collection[int],
    excluded: Collection[int],
    newcomers: frozenset[int] = frozenset(),
) -> User | None:
    """The least loaded, ties by hash: somebody practised first where the other reviewer is new."""
    with_newcomer = not newcomers.isdisjoint(seated)
    able = [person for person in people if person.pk not in excluded and person.pk not in seated]
    return min(
        able,
        key=lambda person: (with_newcomer and person.pk in newcomers, load.get(person.pk, 0), _lot(triple, person)),
        default=None,
    )


# Seats of a round --------------------------------------------------------------------------------------------------


def live_seats(revision: Revision) -> QuerySet[ReviewSeat]:
    """Seats with a reviewer, answered or not, by number: two at most."""
    return ReviewSeat.objects.filter(revision=revision, released_at=None).order_by("number")


def free_number(revision: Revision) -> int | None:
    """The number of a free place, or None when both are taken."""
    taken = set(live_seats(revision).values_list("number", flat=True))
    return next((number for number in NUMBERS if number not in taken), None)


STUCK, UNANSWERED_ONES = "stuck", "unanswered"


class Places(NamedTuple):
    """What is given to others in a round: seats that somebody has, and numbers of free places."""

    seats: list[ReviewSeat]
    free: list[int]

    def __bool__(self) -> bool:
        return bool(self.seats or self.free)


def places_to_give(
    live: Sequence[ReviewSeat],
    replace: int | str,
    among: Collection[int] | None,
    *,
    able: Container[int],
    is_pulled: bool,
) -> Places:
    """The places that are meant by `replace`: STUCK, UNANSWERED_ONES, or those of one person, by key.

    `among` are the people whom a lead has chosen, who keep what they have; without any, a free place stays for the
    queue, where seats are pulled.
    """
    waiting = [seat for seat in live if seat.answered_at is None and seat.reviewer_id not in (among or ())]
    if replace == STUCK:
        waiting = [seat for seat in waiting if seat.reviewer_id not in able]
    elif replace != UNANSWERED_ONES:
        return Places([seat for seat in live if seat.reviewer_id == replace], [])
    taken = {seat.number for seat in live}
    free = [number for number in NUMBERS if number not in taken]
    return Places(waiting, free if among or not is_pulled else [])


def stuck_holders(project: Project) -> QuerySet[User]:
    """People who once could review here and no longer can: nobody will answer their seats."""
    once = User.objects.filter(memberships__project=project, memberships__role=Role.REVIEWER)
    return once.exclude(pk__in=able_in(project).order_by().values("pk")).distinct()


def stuck_seats(project: Project) -> QuerySet[ReviewSeat]:
    """Unanswered seats in open rounds whose reviewer can no longer answer."""
    holders = stuck_holders(project).order_by().values("pk")
    return ReviewSeat.objects.filter(
        UNANSWERED,
        reviewer__in=holders,
        revision__triple__project=project,
        revision_id=F("revision__triple__current_id"),
    )


def abandoned_rounds(project: Project, before: datetime, at: datetime) -> QuerySet[Triple, int]:
    """Ids of triples in review with a seat of somebody who left, unchanged since `before`.

    Where seats are given by load, also those with a free place, or a lapsed lease from earlier.
    """
    stuck = stuck_seats(project).filter(opened_at__lte=before).order_by().values("revision__triple")
    is_abandoned = Q(pk__in=stuck)
    if not is_pulled(project):
        live = ReviewSeat.objects.filter(revision=OuterRef("current"), released_at=None)
        is_abandoned |= ~Q(Exists(live.filter(number=1))) | ~Q(Exists(live.filter(number=2)))
        is_abandoned |= Q(Exists(live.filter(lapsed(at))))
    rounds = Triple.objects.filter(is_abandoned, project=project, state=State.IN_REVIEW)
    return rounds.order_by("changed_at", "pk").values_list("pk", flat=True)


def unanswered_of(user: User) -> QuerySet[ReviewSeat]:
    """The person's seats in open rounds that wait for a verdict, in every project."""
    return _in_open_rounds(user).filter(UNANSWERED)


def _in_open_rounds(user: User) -> QuerySet[ReviewSeat]:
    current = F("revision__triple__current_id")
    seats = ReviewSeat.objects.filter(reviewer=user, released_at=None, revision_id=current)
    return seats.filter(revision__triple__state=State.IN_REVIEW)


def held_reviews(user: User) -> list[Holding]:
    """Answered ones count too, so that nobody learns from the number which were answered."""
    seats = _in_open_rounds(user).order_by("revision__triple__project__name")
    counted = seats.values_list("revision__triple__project__name").annotate(count=Count("pk"))
    becomes = "without a verdict: to another reviewer, or back to the queue"
    return [Holding("review in an open round,reviews in open rounds", count, becomes, name) for name, count in counted]
