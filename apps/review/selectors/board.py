"""The lead's board: every triple in progress, the next person, and what has waited too long.

A lead who wrote or reviews a triple sees the same row of it whatever a reviewer did: seats, answers and what is stuck
are shown to leads without a part, and filters on them leave such rows out.
"""

from collections import defaultdict
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any, NamedTuple, cast

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from apps.accounts.models import Project, User
from apps.common.database.batched_reads import BatchedRead, CountOf, ListOf, answer_to, joined
from apps.common.text.wording import age
from apps.jobs.selectors.jobs import hidden_by_id
from apps.review.core.visibility import Involvement, RoundPhase, sight
from apps.review.models import ReviewSeat
from apps.review.selectors.queues import (
    CANDIDATE,
    KeysetPlace,
    behind,
    escalates_at,
    place,
    reaches_leads_at,
    with_last_writer,
)
from apps.review.selectors.seats import NUMBERS, able_in, is_pulled, stuck_seats
from apps.triples.enums import State
from apps.triples.models import Revision, Triple
from apps.triples.selectors.staleness import fates_in
from apps.triples.selectors.triples import newest_snapshots, state_counts

PER_PAGE = 50

KINDS: dict[str, Q] = {
    "draft": Q(state=State.DRAFT) & ~Q(is_machine_written=True, adopted_by=None),
    "candidate": CANDIDATE,
    "in_review": Q(state=State.IN_REVIEW),
    "disputed": Q(state=State.DISPUTED),
    "stale": Q(state=State.ACCEPTED, is_stale=True),
    "accepted": Q(state=State.ACCEPTED, is_stale=False),
}
IN_PROGRESS = [kind for kind in KINDS if kind != "accepted"]
KIND_LABELS = {kind: kind.replace("_", " ").capitalize() for kind in KINDS}
AGES = (1, 3, 7, 14, 30)


class BoardFilters(NamedTuple):
    """The filters of the board. No other input reaches a query."""

    state: str = ""
    days: int | None = None
    domain: str = ""
    source: int | None = None
    author: int | None = None
    reviewer: int | None = None
    show: str = ""  # "stuck", "escalated" or ""


class SeatView(NamedTuple):
    """A place in an open round, as a lead without a part sees it. `reviewer` None: it is free."""

    number: int
    reviewer: User | None
    is_answered: bool
    is_stuck: bool
    is_lapsed: bool
    since: datetime | None

    @property
    def word(self) -> str:
        if self.is_answered:
            return "answered"
        if self.is_stuck:
            return "can no longer answer"
        return "reservation ran out" if self.is_lapsed else "has not answered"


class BoardTriple(NamedTuple):
    """One triple on the board. `seats` is None where this lead may not know them."""

    triple: Triple
    kind: str
    move: str
    seats: list[SeatView] | None
    has_part: bool
    is_escalated: bool
    against_repin: str | None = None  # of a stale one; None: all of its evidence is in the newest text

    @property
    def can_be_pinned(self) -> bool:
        """Whether it is stale, with its evidence in the newest text, and nobody is writing it anew."""
        is_revised = cast(Any, self.triple).is_revised  # read with it, see `with_last_writer`
        return self.kind == "stale" and self.against_repin is None and not is_revised

    @property
    def is_stuck(self) -> bool:
        return any(seat.is_stuck for seat in self.seats or [])

    @property
    def since(self) -> datetime:
        return self.triple.changed_at


def parted(lead: User) -> Q:
    """Triples that this person wrote or ever had a seat in."""
    wrote = Revision.objects.filter(triple=OuterRef("pk"), author=lead)
    # Read once. Asked of each triple, SQLite would walk all seats of the person for it.
    seated = ReviewSeat.objects.filter(reviewer=lead).values("revision__triple")
    return Q(author=lead) | Q(adopted_by=lead) | Q(Exists(wrote)) | Q(pk__in=seated)


def kinds_of(filters: BoardFilters) -> list[str]:
    """The kinds that the filters show: accepted ones wait for nobody and are listed only when they are asked for."""
    if filters.show == "stuck":
        return [kind for kind in ("in_review",) if filters.state in ("", kind)]
    return [filters.state] if filters.state in KINDS else IN_PROGRESS


def matching(project: Project, lead: User, filters: BoardFilters, at: datetime) -> QuerySet[Triple]:
    """Every triple that the board shows with these filters, on whichever page; no other is in a selection."""
    is_shown = reduce(or_, (KINDS[kind] for kind in kinds_of(filters)), Q(pk__in=[]))
    return _narrowed(project, lead, filters, at).filter(is_shown)


def _narrowed(project: Project, lead: User, filters: BoardFilters, at: datetime) -> QuerySet[Triple]:
    own = {"domain": filters.domain, "source": filters.source, "author": filters.author}
    rows = Triple.objects.filter(project=project, **{name: value for name, value in own.items() if value})
    rows = rows.exclude(KINDS["accepted"] & hidden_by_id(lead, "pk"))
    if filters.days is not None:
        rows = rows.filter(changed_at__lte=at - timedelta(days=filters.days))
    if filters.reviewer is not None:
        seats = ReviewSeat.objects.filter(revision=OuterRef("current"), released_at=None, reviewer=filters.reviewer)
        rows = rows.filter(Exists(seats))
        if filters.reviewer != lead.pk:
            rows = rows.exclude(Q(state=State.IN_REVIEW) & parted(lead))
    if filters.show == "escalated":
        rows = rows.filter(changed_at__lte=escalates_at(project, at)).exclude(CANDIDATE | KINDS["accepted"])
    if filters.show == "stuck":
        stuck = stuck_seats(project).order_by().values("revision__triple")
        rows = rows.filter(state=State.IN_REVIEW, pk__in=stuck).exclude(parted(lead))
    return rows


class BoardPage(NamedTuple):
    """Rows, the place where the next page begins ("" on the last), and what the filters match, by kind, on any page.

    `states` are those of all triples of the project.
    """

    rows: list[BoardTriple]
    next: str
    matching: dict[str, int]
    states: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.matching.values())


def board_page(
    project: Project, lead: User, filters: BoardFilters, at: datetime, *, after: str = "", limit: int = PER_PAGE
) -> BoardPage:
    """One page of rows, longest wait first. Each kind is read in the order of its index, and the rows are merged."""
    rows, kinds = _narrowed(project, lead, filters, at), kinds_of(filters)
    of_kinds = {kind: rows.filter(KINDS[kind]) for kind in kinds}
    first = {
        kind: ListOf(behind(found, "changed_at", place(after)).values_list("pk")[: limit + 1])
        for kind, found in of_kinds.items()
    }
    counts = {kind: CountOf(found.order_by().values("pk")) for kind, found in of_kinds.items()}
    parts = {"first": BatchedRead(first, dict), "counts": BatchedRead(counts, dict), "states": state_counts(project)}
    found = answer_to(project, joined(parts))
    keys = [key for listed in found["first"].values() for (key,) in listed]
    with_all = with_last_writer(Triple.objects.filter(pk__in=keys)).select_related(
        "project", "author", "adopted_by", "current", "source", "snapshot"
    )
    triples = list(with_all.order_by("changed_at", "pk")[: limit + 1])
    shown = triples[:limit]
    more = str(KeysetPlace(shown[-1].changed_at, shown[-1].pk)) if len(triples) > limit else ""
    return BoardPage(_rows(project, lead, shown, at), more, found["counts"], found["states"])


# From triples to rows ----------------------------------------------------------------------------------------------


def _parts(lead: User, triples: list[Triple], seated: set[int]) -> dict[int, Involvement]:
    """The lead's part in each of the triples; `seated` are the keys of those of which they have or had a review."""
    ids = [triple.pk for triple in triples]
    wrote = set(Revision.objects.filter(triple__in=ids, author=lead).values_list("triple", flat=True))
    wrote |= {triple.pk for triple in triples if lead.pk in (triple.author_id, triple.adopted_by_id)}
    return {
        pk: Involvement.AUTHOR if pk in wrote else Involvement.REVIEWER if pk in seated else Involvement.LEAD
        for pk in ids
    }


def _rows(project: Project, lead: User, triples: list[Triple], at: datetime) -> list[BoardTriple]:
    open_rounds = {triple.revision.pk for triple in triples if triple.state == State.IN_REVIEW}
    seats: dict[int, list[ReviewSeat]] = defaultdict(list)
    seated = set()
    in_them = Q(revision__in=open_rounds, released_at=None)
    own = Q(revision__triple__in=[triple.pk for triple in triples], reviewer=lead)
    for seat in ReviewSeat.objects.filter(in_them | own).select_related("reviewer", "revision").order_by("number"):
        if seat.revision_id in open_rounds and seat.released_at is None:
            seats[seat.revision_id].append(seat)
        if seat.reviewer_id == lead.pk:
            seated.add(seat.revision.triple_id)
    parts = _parts(lead, triples, seated)
    able = frozenset(able_in(project).order_by().values_list("pk", flat=True))
    late, reached = escalates_at(project, at), reaches_leads_at(project, at)
    pulled = is_pulled(project)
    evidence = _evidence(project, [triple for triple in triples if triple.is_stale])
    rows = []
    for triple in triples:
        kind, part = _kind(triple), parts[triple.pk]
        seen = sight(part, RoundPhase.OPEN)
        shown = None
        if kind == "in_review" and seen.reviewer_names and seen.who_answered:
            shown = [_seat(number, seats[triple.revision.pk], able, at, pulled) for number in NUMBERS]
        rows.append(
            BoardTriple(
                triple=triple,
                kind=kind,
                move=_move(triple, kind, part, reached),
                seats=shown,
                has_part=part is not Involvement.LEAD,
                is_escalated=triple.changed_at <= late and kind not in ("candidate", "accepted"),
                against_repin="you reviewed it" if part is Involvement.REVIEWER else evidence.get(triple.pk),
            )
        )
    return rows


def _evidence(project: Project, stale: list[Triple]) -> dict[int, str]:
    """In few words, why the evidence of stale triples cannot be pinned to the newest texts as it is; by their keys."""
    if not stale:
        return {}
    found = {}
    newest = newest_snapshots(project)
    for corpus in {triple.snapshot.corpus_id for triple in stale}:
        revisions = [triple.revision.pk for triple in stale if triple.snapshot.corpus_id == corpus]
        for revision, blocks in fates_in(newest[corpus], revisions).items():
            if any(block.new is None for block in blocks):
                found[revision] = "the passage is gone from the snapshot"
            elif not all(block.keeps_evidence for block in blocks):
                found[revision] = "the evidence is not in the new text"
    return {triple.pk: found[triple.revision.pk] for triple in stale if triple.revision.pk in found}


def _kind(triple: Triple) -> str:
    if triple.state == State.ACCEPTED:
        return "stale" if triple.is_stale else "accepted"
    if triple.state == State.DRAFT and triple.is_machine_written and triple.adopted_by_id is None:
        return "candidate"
    return str(triple.state)


def _seat(number: int, live: list[ReviewSeat], able: frozenset[int], at: datetime, pulled: bool) -> SeatView:
    seat = next((seat for seat in live if seat.number == number), None)
    if seat is None:
        return SeatView(number, None, is_answered=False, is_stuck=not pulled, is_lapsed=False, since=None)
    answered = seat.answered_at is not None
    return SeatView(
        number,
        seat.reviewer,
        is_answered=answered,
        is_stuck=not answered and seat.reviewer_id not in able,
        is_lapsed=not answered and seat.lease_expires_at is not None and seat.lease_expires_at <= at,
        since=seat.opened_at,
    )


def _move(triple: Any, kind: str, part: Involvement, reached: datetime) -> str:
    """The next person, in words that are the same whatever a reviewer of an open round did.

    A dispute that began after `reached` is with its author and its flagger alone.
    """
    if kind == "draft":
        return f"{triple.author} is writing"
    if kind == "candidate":
        return "somebody must adopt it"
    if kind == "stale":
        return "the next revision is being written" if triple.is_revised else "pin it again or retire it"
    if kind == "accepted":
        return "nobody: it is accepted"
    if kind == "disputed":
        if triple.is_revised:
            return f"{triple.author} revises"
        has_answered = triple.last_word == triple.author_id
        words = "the flagger answers" if has_answered else f"{triple.author} answers the flag"
        if triple.changed_at <= reached:
            return f"{words}, or a lead decides"
        return f"{words}; leads are asked in {age(reached, triple.changed_at)}"
    if part is Involvement.REVIEWER:
        return "you and another reviewer"
    return "its two reviewers"


# Reviewers ---------------------------------------------------------------------------------------------------------


class ReviewerLoad(NamedTuple):
    """How many reviews one person has in rounds that are closed, and in rounds that are open."""

    person: int
    name: str
    closed: int
    open: int


def reviewer_loads(project: Project, lead: User, most: int) -> list[ReviewerLoad]:
    """Who reviews, those with most open reviews first, as this lead may know it.

    An open review counts whether it is answered or not. Those of triples in which the lead has a part count for the
    lead alone: who else reviews these is hidden from them.
    """
    hidden = Triple.objects.filter(parted(lead), project=project, state=State.IN_REVIEW).values("pk")
    is_shown = Q(reviewer=lead) | ~Q(revision__triple__in=hidden)
    seats = ReviewSeat.objects.filter(released_at=None, revision__triple__project=project)
    rows = (
        seats.values_list("reviewer", "reviewer__name")
        .annotate(
            closed=Count("pk", filter=Q(closed_at__isnull=False)), open=Count("pk", filter=Q(closed_at=None) & is_shown)
        )
        .filter(Q(closed__gt=0) | Q(open__gt=0))
        .order_by("-open", "-closed", "reviewer__name", "reviewer")
    )
    return [ReviewerLoad(*row) for row in rows[:most]]


# Filters -----------------------------------------------------------------------------------------------------------


def people_of_board(project: Project) -> QuerySet[User]:
    """Everybody who has or had a role in the project, by name: authors and reviewers to filter by."""
    return User.objects.filter(memberships__project=project).distinct().order_by("name", "pk")
