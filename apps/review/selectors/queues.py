"""One person's queues: to write, to review, to answer, and for leads to decide. Oldest first, in pages.

Nothing in a person's queue depends on what another reviewer of the same round did.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import BigIntegerField, Count, Exists, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import policy
from apps.common.database.batched_reads import BatchedRead, CountOf, answer_to
from apps.common.database.statements import LARGEST_KEY
from apps.review.enums import VerdictChoice
from apps.review.models import DisputeMessage, ReviewSeat, Verdict
from apps.review.selectors.candidate_blocks import to_answer, to_decide
from apps.review.selectors.seats import UNANSWERED, is_pulled, lapsed, newcomers_in
from apps.triples.enums import State
from apps.triples.models import Revision, Triple
from apps.triples.rules import WRITERS
from apps.triples.selectors.triples import triples_of


class KeysetPlace(NamedTuple):
    """The place of a row in such a list."""

    time: datetime
    pk: int

    def __str__(self) -> str:
        return f"{self.time.isoformat()}~{self.pk}"


class KeysetPage(NamedTuple):
    """Some rows, and the place of the next page: "" on the last one."""

    rows: list[Any]
    next: str

    def __len__(self) -> int:
        return len(self.rows)

    def __bool__(self) -> bool:
        return bool(self.rows)


def place(text: str) -> KeysetPlace | None:
    """The place that a link names, or None for anything else."""
    time, _, pk = text.partition("~")
    try:
        when = datetime.fromisoformat(time)
    except ValueError:
        return None
    if when.tzinfo is None or not (pk.isascii() and pk.isdecimal() and len(pk) < 20 and int(pk) <= LARGEST_KEY):
        return None
    return KeysetPlace(when, int(pk))


def behind(rows: QuerySet, column: str, after: KeysetPlace | None, *, newest_first: bool = False) -> QuerySet:
    """`rows` by `column` and key, after the place `after`."""
    sign, compare = ("-", "lt") if newest_first else ("", "gt")
    if after is not None:
        later = Q(**{f"{column}__{compare}": after.time}) | Q(**{column: after.time, f"pk__{compare}": after.pk})
        bound = Q(**{f"{column}__{compare}e": after.time})
        rows = rows.filter(bound & later)
    return rows.order_by(f"{sign}{column}", f"{sign}pk")


def page(rows: QuerySet, column: str, after: str, limit: int, *, newest_first: bool = False) -> KeysetPage:
    """At most `limit` rows after the place `after` ("": from the start)."""
    shown = list(behind(rows, column, place(after), newest_first=newest_first)[: limit + 1])
    if len(shown) <= limit:
        return KeysetPage(shown, "")
    last = shown[limit - 1]
    return KeysetPage(shown[:limit], str(KeysetPlace(getattr(last, column), last.pk)))


CANDIDATE = Q(state=State.DRAFT, is_machine_written=True, adopted_by=None)


def escalates_at(project: Project, at: datetime) -> datetime:
    """The latest time at which a wait that is too long by `at` began."""
    return at - timedelta(days=policy(project, "escalation_days"))


# To review ---------------------------------------------------------------------------------------------------------


def _seats_of(person: User, project: Project) -> QuerySet[ReviewSeat]:
    return ReviewSeat.objects.filter(
        reviewer=person, released_at=None, revision__triple__project=project
    ).select_related("revision__triple__project")


def open_seats_of(person: User, project: Project) -> QuerySet[ReviewSeat]:
    """The person's seats in open rounds, oldest first, answered or not. Independent of what anybody else does."""
    return _seats_of(person, project).filter(closed_at=None).order_by("opened_at", "pk")


def review_queue(person: User, project: Project) -> QuerySet[ReviewSeat]:
    """Seats that need this person's verdict, oldest first."""
    return _seats_of(person, project).filter(UNANSWERED).order_by("opened_at", "pk")


def answered_seats(person: User, project: Project) -> QuerySet[ReviewSeat]:
    """The person's answered seats in rounds that are still open: they can be changed until the round closes."""
    return _seats_of(person, project).filter(closed_at=None, answered_at__isnull=False)


def next_in_queue(person: User, project: Project, after: int | None = None) -> Triple | None:
    """The next triple to review: the one after triple `after` in the queue, or the first. None: the queue is empty."""
    queue = review_queue(person, project)
    seat = None
    if after is not None and (current := queue.filter(revision__triple=after).first()):
        later = Q(opened_at__gt=current.opened_at) | Q(opened_at=current.opened_at, pk__gt=current.pk)
        seat = queue.filter(later).first()
    seat = seat or queue.first()
    return seat.revision.triple if seat else None


def _offered(person: User, project: Project, at: datetime) -> QuerySet[Triple]:
    """Open rounds with a place that this person may take: free, or with a lapsed lease."""
    live = ReviewSeat.objects.filter(revision=OuterRef("current"), released_at=None)
    unavailable = live.exclude(lapsed(at))
    both = Exists(unavailable.filter(number=1)) & Exists(unavailable.filter(number=2))
    return (
        Triple.objects.filter(project=project, state=State.IN_REVIEW)
        .exclude(author=person)
        .exclude(adopted_by=person)
        .filter(~both, ~Exists(live.filter(reviewer=person)))
        .exclude(Exists(Revision.objects.filter(triple=OuterRef("pk"), author=person)))
        .order_by("changed_at", "pk")
    )


def offers_to(person: User, project: Project, at: datetime, *, again: bool = True, limit: int) -> list[int]:
    """Ids of the rounds that this person is offered, oldest first, where reviewers pull their seats.

    A newcomer is not offered a round with another newcomer while there are others. Rounds they gave back come last, and
    only with `again`.
    """
    if not is_pulled(project):
        return []
    offered = _offered(person, project, at)
    given_back = Exists(ReviewSeat.objects.filter(revision=OuterRef("current"), reviewer=person))
    fresh = offered.exclude(given_back)
    newcomers = newcomers_in(project)
    turns = [fresh]
    if person.pk in newcomers:
        with_newcomer = ReviewSeat.objects.filter(
            revision=OuterRef("current"), released_at=None, reviewer__in=newcomers
        )
        turns.insert(0, fresh.exclude(Exists(with_newcomer)))
    if again:
        turns.append(offered.filter(given_back))
    for turn in turns:
        if ids := list(turn.values_list("pk", flat=True)[:limit]):
            return ids
    return []


class QueueCount(NamedTuple):
    """How many are waiting, and since when the oldest is."""

    count: int  # type: ignore[assignment]
    since: datetime | None


def tally(rows: QuerySet, column: str) -> QueueCount:
    """Every row, and the earliest time in `column`."""
    return QueueCount(**rows.order_by().aggregate(count=Count("pk"), since=Min(column)))


def offered_tally(person: User, project: Project, at: datetime) -> QueueCount:
    """How many rounds this person could pull from now."""
    return tally(_offered(person, project, at), "changed_at") if is_pulled(project) else QueueCount(0, None)


# To answer ---------------------------------------------------------------------------------------------------------


def _flagged(person: User) -> Exists:
    return Exists(
        Verdict.objects.filter(
            revision=OuterRef("current"), reviewer=person, choice=VerdictChoice.FLAG, superseded_by=None
        )
    )


def _wrote(person: User) -> Exists:
    return Exists(Revision.objects.filter(triple=OuterRef("pk"), author=person))


def _disputed(project: Project) -> QuerySet[Triple]:
    return triples_of(project).filter(state=State.DISPUTED).order_by("changed_at", "pk")


def with_last_writer(disputed: QuerySet[Triple]) -> QuerySet[Triple]:
    """`last_word`: who wrote last in the round's thread, 0 for nobody. `is_revised`: the next revision is begun."""
    messages = DisputeMessage.objects.filter(triple=OuterRef("pk"), round=OuterRef("round")).order_by("-pk")
    begun = Revision.objects.filter(triple=OuterRef("pk"), submitted_at=None)
    return disputed.annotate(
        last_word=Coalesce(Subquery(messages.values("author")[:1]), 0, output_field=BigIntegerField()),
        is_revised=Exists(begun),
    )


def _is_turn_of(person: User) -> Q:
    """After a flag it is the author's turn, then that of whoever did not write last, until a revision is begun."""
    others = ~Q(last_word=person.pk)
    return Q(is_revised=False) & ((_wrote(person) & others) | (_flagged(person) & others & ~Q(last_word=0)))


def disputes_to_answer(person: User, project: Project) -> QuerySet[Triple]:
    """Disputes in which the next step is this person's."""
    return with_last_writer(_disputed(project)).filter(_is_turn_of(person))


def disputes_of_others(person: User, project: Project) -> QuerySet[Triple]:
    """Disputes that this person wrote or has a seat in, and in which the next step is somebody else's."""
    seated = ReviewSeat.objects.filter(revision=OuterRef("current"), reviewer=person, released_at=None)
    writing = Revision.objects.filter(triple=OuterRef("pk"), author=person, submitted_at=None)
    disputes = with_last_writer(_disputed(project)).filter(Exists(seated) | _wrote(person), ~Exists(writing))
    return disputes.filter(~_is_turn_of(person))


def reaches_leads_at(project: Project, at: datetime) -> datetime:
    """The latest time at which a dispute began whose author and flagger have had their days by `at`."""
    return at - timedelta(days=policy(project, "dispute_days"))


def to_adjudicate(person: User, project: Project) -> QuerySet[Triple]:
    """Disputed triples in which the person has no part. They are a lead's work from `reaches_leads_at`."""
    # Read once. Asked of each triple, SQLite would walk all seats of the person for it.
    seated = ReviewSeat.objects.filter(reviewer=person).values("revision__triple")
    disputed = _disputed(project).exclude(author=person).exclude(adopted_by=person)
    return disputed.exclude(pk__in=seated).exclude(_wrote(person))


# To write ----------------------------------------------------------------------------------------------------------


def drafts_of(person: User, project: Project) -> QuerySet[Triple]:
    """Drafts to finish: one's own, and those of outside authors that one writes on. A candidate is nobody's draft."""
    theirs = Q(author=person) | Q(current__author=person)
    drafts = triples_of(project).filter(theirs, state=State.DRAFT).exclude(CANDIDATE)
    return drafts.order_by("changed_at", "pk")


def revisions_of(person: User, project: Project) -> QuerySet[Triple]:
    """Triples of which the person has begun the next revision and not submitted it, with `begun_at`."""
    begun = Revision.objects.filter(author=person, submitted_at=None, triple__project=project)
    mine = begun.filter(triple=OuterRef("pk")).order_by("-number").values("created_at")[:1]
    triples = triples_of(project).filter(pk__in=begun.order_by().values("triple"))
    triples = triples.exclude(state__in=[State.DRAFT, State.WITHDRAWN])
    return triples.annotate(begun_at=Subquery(mine)).order_by("begun_at", "pk")


def _stale(project: Project) -> QuerySet[Triple]:
    return triples_of(project).filter(state=State.ACCEPTED, is_stale=True).order_by("changed_at", "pk")


def stale_of(person: User, project: Project) -> QuerySet[Triple]:
    """The stale triples that the person wrote."""
    return _stale(project).filter(_wrote(person))


def dropped_of(person: User, project: Project) -> QuerySet[Triple]:
    """Dropped triples that the person could reopen as a new draft."""
    return triples_of(project).filter(author=person, state=State.DROPPED).order_by("changed_at", "pk")


# Counted for the home page -----------------------------------------------------------------------------------------


class QueuedWork(NamedTuple):
    """One person's open work: how many, and since when the oldest is waiting."""

    word: str
    count: int  # type: ignore[assignment]
    since: datetime | None
    url_name: str


Queue = tuple[str, str, list[tuple[QuerySet, str]]]
"""One kind of open work: its words, its page, and query sets, oldest first, each with the column of its times."""


def _queues(person: User, project: Project, roles: frozenset[str], at: datetime) -> list[Queue]:
    reviews: list[tuple[QuerySet, str]] = [(review_queue(person, project), "opened_at")]
    if is_pulled(project):
        reviews.append((_offered(person, project, at), "changed_at"))
    is_reviewer, is_lead = Role.REVIEWER in roles, Role.LEAD in roles
    stale = _stale(project) if is_lead else stale_of(person, project)
    of_reviewers: list[Queue] = [
        ("triples to review", "review:next", reviews),
        ("passages to check", "review:candidate-next", [(to_answer(person, project), "proposed_at")]),
    ]
    of_everybody: list[Queue] = [
        ("disputes to answer", "review:queue", [(disputes_to_answer(person, project), "changed_at")]),
        ("drafts to finish", "review:queue", [(drafts_of(person, project), "changed_at")]),
        ("revisions to finish", "review:queue", [(revisions_of(person, project), "begun_at")]),
    ]
    disputes = to_adjudicate(person, project).filter(changed_at__lte=reaches_leads_at(project, at))
    of_leads: list[Queue] = [
        ("disputes to adjudicate", "review:queue", [(disputes, "changed_at")]),
        ("passages to decide", "review:queue", [(to_decide(person, project), "proposed_at")]),
    ]
    of_writers: list[Queue] = [("stale triples", "review:stale", [(stale, "changed_at")])]
    return [
        *(of_reviewers if is_reviewer else []),
        *of_everybody,
        *(of_leads if is_lead else []),
        *(of_writers if roles & set(WRITERS) else []),
    ]


def waiting_for(person: User, project: Project, roles: frozenset[str], at: datetime) -> list[QueuedWork]:
    """Reviews, disputes, drafts and what went stale of this person's; for a lead also what to adjudicate, and all that
    is stale.
    """
    return answer_to(project, what_waits_for(person, project, roles, at))


def what_waits_for(
    person: User, project: Project, roles: frozenset[str], at: datetime
) -> BatchedRead[list[QueuedWork]]:
    """The question behind `waiting_for`, for a page that asks others with it."""
    queues = _queues(person, project, roles, at)
    asks: dict[str, Subquery] = {}
    for place, (_, _, parts) in enumerate(queues):
        for part, (rows, column) in enumerate(parts):
            asks[f"n{place}_{part}"] = CountOf(rows.order_by().values("pk"))
            asks[f"since{place}_{part}"] = Subquery(rows.values(column)[:1])

    def read(values: Mapping[str, Any]) -> list[QueuedWork]:
        found = []
        for place, (word, url_name, parts) in enumerate(queues):
            n = sum(values[f"n{place}_{part}"] for part in range(len(parts)))
            times = [since for part in range(len(parts)) if (since := values[f"since{place}_{part}"])]
            found.append(QueuedWork(word, n, min(times, default=None), url_name))
        return [work for work in found if work.count]

    return BatchedRead(asks, read)
