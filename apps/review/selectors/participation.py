"""A person's part in a triple right now: computed once, used by rules, buttons and visibility."""

from dataclasses import dataclass

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.accounts.selectors import Member
from apps.review.core.visibility import Involvement, RoundPhase
from apps.review.enums import VerdictChoice
from apps.review.models import ReviewSeat, Verdict
from apps.review.selectors.blinding import is_blinded
from apps.triples.models import Revision, Triple
from apps.triples.selectors.triples import authors_of

REVIEWERS_PER_ROUND = 2


def live_verdicts(revision: Revision) -> list[Verdict]:
    """The verdicts that count, by seat: a superseded one does not."""
    return list(
        Verdict.objects.filter(revision=revision, superseded_by=None)
        .select_related("reviewer")
        .order_by("seat__number")
    )


def phase_of(revision: Revision, verdicts: int) -> RoundPhase:
    """The phase of the round of a revision, with so many verdicts in force."""
    if revision.submitted_at is None:
        return RoundPhase.WRITING
    return RoundPhase.CLOSED if verdicts >= REVIEWERS_PER_ROUND else RoundPhase.OPEN


@dataclass(frozen=True)
class Participation:
    """`flagger` is who flagged the closed current round of a disputed triple; `own` is the person's live verdict."""

    person: User
    roles: frozenset[str]
    is_author: bool
    wrote_any: bool
    reviewed_any: bool
    seat: ReviewSeat | None
    own: Verdict | None
    flag: Verdict | None
    phase: RoundPhase
    blinded: bool = False

    @property
    def is_lead(self) -> bool:
        return Role.LEAD in self.roles

    @property
    def is_flagger(self) -> bool:
        return self.flag is not None and self.flag.reviewer_id == self.person.pk

    @property
    def flagger(self) -> User | None:
        return self.flag.reviewer if self.flag else None

    @property
    def has_part(self) -> bool:
        return self.wrote_any or self.reviewed_any

    @property
    def part(self) -> Involvement:
        if self.wrote_any:
            return Involvement.AUTHOR
        if self.reviewed_any:
            return Involvement.REVIEWER
        if self.is_lead:
            return Involvement.LEAD
        if self.roles & {Role.ANNOTATOR, Role.REVIEWER}:
            return Involvement.BYSTANDER
        return Involvement.VIEWER


def participation_of(triple: Triple, person: User, roles: frozenset[str]) -> Participation:
    """The participation of somebody with these roles. A part once had remains, whatever the roles are now."""
    revision = triple.revision
    verdicts = live_verdicts(revision)
    phase = phase_of(revision, len(verdicts))
    flags = [verdict for verdict in verdicts if verdict.choice == VerdictChoice.FLAG]
    wrote = authors_of(triple)
    seats = list(ReviewSeat.objects.filter(revision__triple=triple, reviewer=person))
    seat = next((s for s in seats if s.revision_id == revision.pk and s.released_at is None), None)
    return Participation(
        person=person,
        roles=roles,
        is_author=person.pk == triple.author_id,
        wrote_any=person.pk in wrote,
        reviewed_any=bool(seats),
        seat=seat,
        own=next((verdict for verdict in verdicts if verdict.reviewer_id == person.pk), None),
        flag=flags[0] if phase is RoundPhase.CLOSED and len(flags) == 1 else None,
        phase=phase,
        blinded=is_blinded(triple, person),
    )


def participation_for(triple: Triple, member: Member) -> Participation:
    return participation_of(triple, member.user, member.roles)
