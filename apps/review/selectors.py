"""Reads of reviews: queues, what a person may see of a triple's rounds, and what agreement is computed from."""

from collections import defaultdict
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Exists, F, OuterRef, QuerySet

from apps.accounts.models import Project, User
from apps.review.enums import Category, Choice, Reason
from apps.review.models import DisputeMessage, Resolution, ReviewSeat, Verdict
from apps.review.standing import REVIEWERS_PER_ROUND, Standing, phase_of
from apps.review.visibility import Phase, Sight, sight
from apps.triples.enums import State
from apps.triples.models import Revision, Triple
from apps.triples.selectors import triples_of

# Queues ------------------------------------------------------------------------------------------------------------


def _live() -> QuerySet[Verdict]:
    return Verdict.objects.filter(superseded_by=None)


def open_seats_of(person: User, project: Project) -> QuerySet[ReviewSeat]:
    """The person's seats in open rounds, oldest first, answered or not. Nothing in it depends on anybody else."""
    return (
        ReviewSeat.objects.filter(
            reviewer=person,
            released_at=None,
            revision__triple__project=project,
            revision__triple__state=State.IN_REVIEW,
            revision_id=F("revision__triple__current_id"),
        )
        .select_related("revision__triple")
        .order_by("opened_at", "pk")
    )


def review_queue(person: User, project: Project) -> QuerySet[ReviewSeat]:
    """What waits for this person's verdict, oldest first."""
    mine = _live().filter(revision=OuterRef("revision"), reviewer=person)
    return open_seats_of(person, project).exclude(Exists(mine))


def next_in_queue(person: User, project: Project, after: int | None = None) -> Triple | None:
    """The next triple to review: the one behind triple `after` in the queue, or the first. None: nothing waits."""
    triples = [seat.revision.triple for seat in review_queue(person, project)]
    if not triples:
        return None
    ids = [triple.pk for triple in triples]
    if after in ids:
        return triples[(ids.index(after) + 1) % len(ids)]
    return triples[0]


def disputed_with(person: User, project: Project) -> QuerySet[Triple]:
    """Disputed triples in which the person is the author or holds a seat."""
    disputed = triples_of(project).filter(state=State.DISPUTED)
    seated = ReviewSeat.objects.filter(revision=OuterRef("current"), reviewer=person, released_at=None)
    wrote = Revision.objects.filter(triple=OuterRef("pk"), author=person)
    return disputed.filter(Exists(seated) | Exists(wrote)).order_by("changed_at", "number")


def disputes_to_settle(person: User, project: Project) -> QuerySet[Triple]:
    """Disputed triples that the person wrote or flagged: those who only confirmed have nothing to do there."""
    flagged = _live().filter(revision=OuterRef("current"), reviewer=person, choice=Choice.FLAG)
    wrote = Revision.objects.filter(triple=OuterRef("pk"), author=person)
    disputed = triples_of(project).filter(state=State.DISPUTED)
    return disputed.filter(Exists(flagged) | Exists(wrote)).order_by("changed_at", "number")


def to_adjudicate(person: User, project: Project) -> QuerySet[Triple]:
    """Disputed triples in which the person has no part."""
    seated = ReviewSeat.objects.filter(revision__triple=OuterRef("pk"), reviewer=person)
    wrote = Revision.objects.filter(triple=OuterRef("pk"), author=person)
    disputed = triples_of(project).filter(state=State.DISPUTED).exclude(author=person)
    return disputed.exclude(Exists(seated)).exclude(Exists(wrote)).order_by("changed_at", "number")


class Waiting(NamedTuple):
    """What waits for one person, each with its count and the moment the oldest began to wait."""

    word: str
    count: int  # type: ignore[assignment]
    since: datetime | None
    url_name: str


def waiting_for(person: User, project: Project, roles: frozenset[str]) -> list[Waiting]:
    """Reviews, disputes and drafts that wait for this person; for a lead also what to adjudicate and what is stale."""
    seats = list(review_queue(person, project).values_list("opened_at", flat=True))
    disputes = list(disputes_to_settle(person, project).values_list("changed_at", flat=True))
    drafts = list(
        Triple.objects.filter(project=project, author=person, state=State.DRAFT).values_list("changed_at", flat=True)
    )
    rows = [
        Waiting("triples to review", len(seats), min(seats, default=None), "review:next"),
        Waiting("disputes to settle", len(disputes), min(disputes, default=None), "review:queue"),
        Waiting("drafts to finish", len(drafts), min(drafts, default=None), "triples:mine"),
    ]
    if "lead" in roles:
        others = list(to_adjudicate(person, project).values_list("changed_at", flat=True))
        stale = list(
            Triple.objects.filter(project=project, is_stale=True)
            .order_by("changed_at")
            .values_list("changed_at", flat=True)
        )
        rows.append(Waiting("disputes to adjudicate", len(others), min(others, default=None), "review:queue"))
        rows.append(Waiting("stale triples", len(stale), min(stale, default=None), "triples:list"))
    return [row for row in rows if row.count]


# One triple --------------------------------------------------------------------------------------------------------


class VerdictView(NamedTuple):
    choice: str
    reasons: list[str]
    category: str
    note: str
    who: User
    is_own: bool
    at: datetime

    @property
    def is_flag(self) -> bool:
        return self.choice == Choice.FLAG

    @property
    def words(self) -> str:
        """ "overstated, numeric precision": what is wrong, and its kind."""
        named = [reason.removeprefix("Answer ") for reason in self.reasons]
        return ", ".join([*named, self.category] if self.category else named).lower()


class RoundView(NamedTuple):
    """One round as one person may see it; what they may not see is not in it."""

    revision: Revision
    phase: Phase
    sight: Sight
    verdicts: list[VerdictView]
    reviewers: list[User]
    resolution: Resolution | None
    messages: list[DisputeMessage]

    @property
    def number(self) -> int:
        return self.revision.round

    @property
    def flags(self) -> list[VerdictView]:
        return [verdict for verdict in self.verdicts if verdict.is_flag]


def _view(verdict: Verdict, person: User) -> VerdictView:
    return VerdictView(
        choice=verdict.choice,
        reasons=[Reason(reason).label for reason in verdict.reasons],
        category=Category(verdict.category).label if verdict.category else "",
        note=verdict.note,
        who=verdict.reviewer,
        is_own=verdict.reviewer_id == person.pk,
        at=verdict.given_at,
    )


def rounds_of(triple: Triple, standing: Standing) -> list[RoundView]:
    """The rounds of a triple, oldest first, each cut to what `standing` may see of it."""
    revisions = list(triple.revisions.exclude(submitted_at=None).select_related("author").order_by("number"))
    verdicts: dict[int, list[Verdict]] = defaultdict(list)
    for verdict in _live().filter(revision__triple=triple).select_related("reviewer").order_by("seat__number"):
        verdicts[verdict.revision_id].append(verdict)
    seats: dict[int, list[User]] = defaultdict(list)
    for seat in ReviewSeat.objects.filter(revision__triple=triple, released_at=None).select_related("reviewer"):
        seats[seat.revision_id].append(seat.reviewer)
    ends = {end.revision_id: end for end in triple.resolutions.select_related("decided_by").order_by("pk")}
    messages: dict[int, list[DisputeMessage]] = defaultdict(list)
    for message in triple.messages.select_related("author").order_by("posted_at", "pk"):
        messages[message.round].append(message)
    views = []
    for revision in revisions:
        given = verdicts[revision.pk]
        phase = phase_of(revision, len(given))
        seen = sight(standing.part, phase)
        shown = [
            _view(verdict, standing.person)
            for verdict in given
            if seen.other_verdicts or (seen.own_verdict and verdict.reviewer_id == standing.person.pk)
        ]
        views.append(
            RoundView(
                revision=revision,
                phase=phase,
                sight=seen,
                verdicts=shown,
                reviewers=seats[revision.pk] if seen.reviewer_names else [],
                resolution=ends.get(revision.pk) if seen.other_verdicts else None,
                messages=messages[revision.round] if seen.thread else [],
            )
        )
    return views


# Agreement ---------------------------------------------------------------------------------------------------------


class Reviewed(NamedTuple):
    """One closed first round: who chose what. `reasons` of a confirm are empty."""

    triple_id: int
    label: str
    author_id: int
    closed_at: datetime
    choices: dict[int, str]
    reasons: dict[int, list[str]]


def verdict_matrix(project: Project) -> list[Reviewed]:
    """First-round verdicts of every closed first round, by triple number. Open rounds are left out: they are blind."""
    rows = (
        _live()
        .filter(revision__triple__project=project, revision__round=1)
        .select_related("revision__triple")
        .order_by("revision__triple__number", "seat__number")
    )
    by_revision: dict[int, list[Verdict]] = defaultdict(list)
    for verdict in rows:
        by_revision[verdict.revision_id].append(verdict)
    return [
        Reviewed(
            triple_id=given[0].revision.triple_id,
            label=given[0].revision.triple.label,
            author_id=given[0].revision.author_id,
            closed_at=max(verdict.given_at for verdict in given),
            choices={verdict.reviewer_id: verdict.choice for verdict in given},
            reasons={verdict.reviewer_id: list(verdict.reasons) for verdict in given},
        )
        for given in by_revision.values()
        if len(given) >= REVIEWERS_PER_ROUND
    ]


class FlagCount(NamedTuple):
    """Flags among first-round verdicts of closed rounds: `flags` of `reviews`, on `revisions` revisions."""

    person: User
    flags: int
    reviews: int
    revisions: int


def _flag_counts(project: Project, by_author: bool) -> list[FlagCount]:
    flags: dict[int, int] = defaultdict(int)
    reviews: dict[int, int] = defaultdict(int)
    revisions: dict[int, int] = defaultdict(int)
    for row in verdict_matrix(project):
        people = {reviewer: row.author_id if by_author else reviewer for reviewer in row.choices}
        for reviewer, choice in row.choices.items():
            reviews[people[reviewer]] += 1
            flags[people[reviewer]] += choice == Choice.FLAG
        for person in set(people.values()):
            revisions[person] += 1
    people_by_id = User.objects.in_bulk(list(reviews))
    counted = [FlagCount(people_by_id[pk], flags[pk], reviews[pk], revisions[pk]) for pk in reviews]
    return sorted(counted, key=lambda count: (count.person.name, count.person.pk))


def flag_counts_by_author(project: Project) -> list[FlagCount]:
    """Flags that each author's first revisions received, by name."""
    return _flag_counts(project, by_author=True)


def flag_counts_by_reviewer(project: Project) -> list[FlagCount]:
    """Flags that each reviewer gave in first rounds, by name."""
    return _flag_counts(project, by_author=False)


def resolutions_of(project: Project) -> dict[str, int]:
    """How many accepted triples stand on each kind of resolution."""
    found = Triple.objects.filter(project=project, state=State.ACCEPTED)
    return dict(found.values_list("resolution").annotate(Count("pk")).order_by("resolution"))
