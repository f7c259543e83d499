"""A person's part in a triple right now: computed once, used by rules, buttons and visibility."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial

from django.db.models import F, QuerySet, Value

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.accounts.selectors import Member
from apps.review.core.visibility import Involvement, RoundPhase
from apps.review.enums import VerdictChoice
from apps.review.models import ReviewSeat, Verdict
from apps.triples.enums import State
from apps.triples.models import ExpectedBlock, Revision, Triple
from apps.triples.selectors.triples import authors_by_triple, blocks_of, read_revisions, writers_of

Blinding = Callable[[Sequence[Triple], User], set[int]]
_blindings: list[Blinding] = []


def add_blinding(blinding: Blinding) -> Blinding:
    """Register `blinding(triples, person)`: the ids of those whose verdicts are hidden from the person for now.

    Apps above call this: a calibration has people review past triples once more without seeing the verdicts.
    """
    if blinding not in _blindings:
        _blindings.append(blinding)
    return blinding


def blinded_among(triples: Sequence[Triple], person: User) -> set[int]:
    """The keys of the triples whose verdicts are hidden from the person for now."""
    return set().union(*(blinding(triples, person) for blinding in _blindings)) if triples else set()


def is_blinded(triple: Triple, person: User) -> bool:
    return triple.pk in blinded_among([triple], person)


REVIEWERS_PER_ROUND = 2


def live_verdicts(revision: Revision) -> list[Verdict]:
    """The verdicts that count, by seat: a superseded one does not."""
    return list(_live_verdicts([revision.pk]))


def _live_verdicts(revision_ids: Sequence[int]) -> QuerySet[Verdict]:
    live = Verdict.objects.filter(revision__in=revision_ids, superseded_by=None)
    return live.select_related("reviewer").order_by("seat__number")


def phase_of(revision: Revision, verdicts: int, *, taken: bool = False) -> RoundPhase:
    """The phase of the round of a revision, with so many verdicts in force.

    `taken`: it counts as accepted since it was reviewed elsewhere, and no blind review of it has begun. Nobody here has
    given a verdict, so that none is hidden.
    """
    if revision.submitted_at is None:
        return RoundPhase.WRITING
    if taken and not verdicts:
        return RoundPhase.CLOSED
    return RoundPhase.CLOSED if verdicts >= REVIEWERS_PER_ROUND else RoundPhase.OPEN


@dataclass(frozen=True)
class Participation:
    """`flagger` is who flagged the closed current round of a disputed triple; `own` is the person's live verdict.

    `verdicts` are those in force on the current revision. They and `blinded` are read when they are asked for: most
    rules do not. Of a locked triple that is as good as at once, since only who holds its lock adds a verdict.
    """

    person: User
    roles: frozenset[str]
    wrote_any: bool
    reviewed_any: bool
    seat: ReviewSeat | None
    revision: Revision
    is_taken: bool
    read_verdicts: Callable[[], Sequence[Verdict]]
    is_blinded: Callable[[], bool]

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(self.read_verdicts())

    @cached_property
    def own(self) -> Verdict | None:
        return next((verdict for verdict in self.verdicts if verdict.reviewer_id == self.person.pk), None)

    @cached_property
    def phase(self) -> RoundPhase:
        return phase_of(self.revision, len(self.verdicts), taken=self.is_taken)

    @cached_property
    def flag(self) -> Verdict | None:
        flags = [verdict for verdict in self.verdicts if verdict.choice == VerdictChoice.FLAG]
        return flags[0] if self.phase is RoundPhase.CLOSED and len(flags) == 1 else None

    @cached_property
    def blinded(self) -> bool:
        """Whether verdicts are hidden from the person for now."""
        return self.is_blinded()

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
    return participations_of([triple], person, roles)[triple.pk]


def participations_of(
    triples: Sequence[Triple],
    person: User,
    roles: frozenset[str],
    *,
    wrote: Mapping[int, frozenset[int]] | None = None,
) -> dict[int, Participation]:
    """The participation in each of the triples, in as many queries as for one. `wrote`: who wrote them, where known."""
    wrote = authors_by_triple(triples) if wrote is None else wrote
    return _participations(triples, person, roles, wrote=wrote)


def participation_with(
    triple: Triple, person: User, roles: frozenset[str], *, key: str
) -> tuple[Participation, Verdict | None]:
    """The participation, and the verdict that the person has sent under this key, whatever it is on.

    `triple` is as it came from its lock, and gets its current revision here.
    """
    wrote = {triple.pk: writers_of(triple, read_revisions(triple))}
    live = Verdict.objects.filter(revision=triple.revision, superseded_by=None)
    sent = Verdict.objects.filter(reviewer=person, idempotency_key=key)
    parts = [rows.annotate(place=F("seat__number"), is_sent=Value(n)) for n, rows in enumerate((live, sent))]
    found: list[list[Verdict]] = [[], []]
    for verdict in parts[0].union(parts[1], all=True).order_by("place"):
        found[verdict.is_sent].append(verdict)
    own = _participations([triple], person, roles, wrote=wrote, live={triple.revision.pk: found[0]})[triple.pk]
    return own, found[1][0] if found[1] else None


def _participations(
    triples: Sequence[Triple],
    person: User,
    roles: frozenset[str],
    *,
    wrote: Mapping[int, frozenset[int]],
    live: Mapping[int, Sequence[Verdict]] | None = None,
) -> dict[int, Participation]:
    """`live` are the verdicts in force by revision, where they were read.

    Else they are read for all of the triples when they are first asked for of one, and so is what is hidden.
    """
    seats = defaultdict(list)
    for seat in ReviewSeat.objects.filter(revision__triple__in=triples, reviewer=person).select_related("revision"):
        seats[seat.revision.triple_id].append(seat)

    hidden = cache(lambda: blinded_among(triples, person))
    verdicts = cache(lambda: _by_revision(triples) if live is None else live)

    def is_hidden(triple: int) -> bool:
        return triple in hidden()

    def verdicts_on(revision: int) -> Sequence[Verdict]:
        return verdicts().get(revision, ())

    return {
        triple.pk: _participation(
            triple,
            person,
            roles,
            read_verdicts=partial(verdicts_on, triple.revision.pk),
            seats=seats[triple.pk],
            wrote_any=person.pk in wrote[triple.pk],
            is_blinded=partial(is_hidden, triple.pk),
        )
        for triple in triples
    }


def _by_revision(triples: Sequence[Triple]) -> Mapping[int, Sequence[Verdict]]:
    found = defaultdict(list)
    for verdict in _live_verdicts([triple.revision.pk for triple in triples]):
        found[verdict.revision_id].append(verdict)
    return found


def _participation(
    triple: Triple,
    person: User,
    roles: frozenset[str],
    *,
    read_verdicts: Callable[[], Sequence[Verdict]],
    seats: list[ReviewSeat],
    wrote_any: bool,
    is_blinded: Callable[[], bool],
) -> Participation:
    revision = triple.revision
    return Participation(
        person=person,
        roles=roles,
        wrote_any=wrote_any,
        reviewed_any=bool(seats),
        seat=next((seat for seat in seats if seat.revision_id == revision.pk and seat.released_at is None), None),
        revision=revision,
        is_taken=triple.is_from_elsewhere and triple.state == State.ACCEPTED,
        read_verdicts=read_verdicts,
        is_blinded=is_blinded,
    )


def participation_for(triple: Triple, member: Member) -> Participation:
    return participation_of(triple, member.user, member.roles)


@dataclass(frozen=True)
class Record:
    """All that was written and reviewed of one triple, for pages that show its whole history.

    Its revisions with their authors, oldest first, and the expected blocks of each by its key; its seats, released ones
    too, and the verdicts that count, with their reviewers.
    """

    triple: Triple
    revisions: list[Revision]
    blocks: dict[int, list[ExpectedBlock]]
    seats: list[ReviewSeat]
    verdicts: list[Verdict]

    @property
    def submitted(self) -> list[Revision]:
        """Those that were reviewed or are: a round that was undone in bulk has the number of a later one, or above."""
        counted: list[Revision] = []
        for revision in reversed(self.revisions):
            after = counted[-1].round if counted else self.triple.round + 1
            if revision.submitted_at is not None and revision.round < after:
                counted.append(revision)
        return counted[::-1]

    @property
    def open_revision(self) -> Revision | None:
        """The revision that is being written; None without one."""
        return next((revision for revision in reversed(self.revisions) if revision.submitted_at is None), None)

    @property
    def before(self) -> Revision | None:
        """The submitted revision before the one that counts; None for a first one."""
        number = self.triple.revision.number
        return next((revision for revision in reversed(self.submitted) if revision.number < number), None)


def record_of(triple: Triple) -> Record:
    seats = ReviewSeat.objects.filter(revision__triple=triple).select_related("reviewer")
    verdicts = Verdict.objects.filter(revision__triple=triple, superseded_by=None).select_related("reviewer")
    revisions = list(triple.revisions.select_related("author").order_by("number"))
    return Record(
        triple,
        revisions,
        blocks_of(revisions),
        list(seats),
        list(verdicts.order_by("seat__number")),
    )


def participation_in(record: Record, member: Member) -> Participation:
    """As `participation_for`, of a triple whose record was read."""
    triple, person = record.triple, member.user
    verdicts = [verdict for verdict in record.verdicts if verdict.revision_id == triple.revision.pk]
    return _participation(
        triple,
        person,
        member.roles,
        read_verdicts=lambda: verdicts,
        seats=[seat for seat in record.seats if seat.reviewer_id == person.pk],
        wrote_any=person.pk in writers_of(triple, record.revisions),
        is_blinded=lambda: is_blinded(triple, person),
    )
