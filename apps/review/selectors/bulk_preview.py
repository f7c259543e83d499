"""What a bulk step would do to each selected triple, by the rules of the single actions, in as many reads for many.

Nothing is written here. The job asks the same rules once more, on each locked row.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from apps.accounts.models import Project, User
from apps.accounts.selectors import roles_of
from apps.review import rules
from apps.review.enums import BulkKind, ItemState
from apps.review.models import BulkItem, ReviewSeat
from apps.review.selectors.bulk import digest_of_step
from apps.review.selectors.participation import Participation, participations_of
from apps.review.selectors.seats import (
    able_in,
    choose,
    choose_successor,
    is_pulled,
    newcomers_in,
    open_load,
    places_to_give,
)
from apps.triples import rules as writing
from apps.triples.core.checks import CAN_WARN
from apps.triples.enums import State
from apps.triples.models import Revision, Triple
from apps.triples.selectors.staleness import fates_in
from apps.triples.selectors.triples import (
    REVOKED,
    authors_by_triple,
    newest_snapshots,
    rests_on_revoked,
)

NOT_CHECKED = "Its checks have not run since it was edited."
ONLY_DRAFTS = "It is {state}; only a draft is submitted with others."
HAS_IT = "It has them already."


class Share(NamedTuple):
    person: User
    number: int


class Group(NamedTuple):
    """Triples to which it cannot be done, for one reason."""

    reason: str
    triples: list[Triple]

    @property
    def number(self) -> int:
        return len(self.triples)


class WarningKind(NamedTuple):
    """One kind of warning among the drafts, and the reason that was given for all of them."""

    code: str
    words: str
    number: int
    answer: str


@dataclass
class Preview:
    """`selected` is `can` and all of `cannot`. `reviews` are those that people get, `queued` wait for whoever comes."""

    kind: BulkKind
    selected: int
    digest: str
    can: list[Triple]
    cannot: list[Group]
    reviews: list[Share] = field(default_factory=list)
    lose: list[Share] = field(default_factory=list)
    queued: int = 0
    waits: list[Share] = field(default_factory=list)
    warnings: list[WarningKind] = field(default_factory=list)
    discarded: int = 0
    missing: str = ""

    @property
    def left(self) -> int:
        return self.selected - len(self.can)


class Work:
    """What is asked about the selected triples, each read once when it is first needed."""

    def __init__(
        self,
        project: Project,
        lead: User,
        roles: frozenset[str],
        triples: list[Triple],
        values: Mapping[str, Any],
        at: datetime,
    ) -> None:
        self.project, self.lead, self.roles, self.triples = project, lead, roles, triples
        self.values, self.at = values, at
        self.gained: Counter[int] = Counter()
        self.lost: Counter[int] = Counter()
        self.queued = 0
        self.warned: Counter[str] = Counter()

    @cached_property
    def participations(self) -> dict[int, Participation]:
        return participations_of(self.triples, self.lead, self.roles, wrote=self.writers)

    @cached_property
    def writers(self) -> dict[int, frozenset[int]]:
        return authors_by_triple(self.triples)

    @cached_property
    def revoked(self) -> set[int]:
        return rests_on_revoked(self.triples, at=self.at)

    @cached_property
    def able(self) -> list[User]:
        return list(able_in(self.project))

    @cached_property
    def people(self) -> dict[int, User]:
        keys = {*self.gained, *self.lost, *(triple.author_id for triple in self.triples)}
        return {person.pk: person for person in User.objects.filter(pk__in=keys)}

    @cached_property
    def load(self) -> dict[int, int]:
        return open_load(self.project)

    @cached_property
    def newcomers(self) -> frozenset[int]:
        return newcomers_in(self.project)

    @cached_property
    def is_pulled(self) -> bool:
        return is_pulled(self.project)

    @cached_property
    def seats(self) -> dict[int, list[Any]]:
        """The live seats of the current revision of each triple, with no more of them than the rules ask for."""
        found: dict[int, list[Any]] = defaultdict(list)
        current = [triple.current_id for triple in self.triples]
        live = ReviewSeat.objects.filter(revision__in=current, released_at=None).order_by("number")
        for seat in live.values_list("revision_id", "number", "reviewer_id", "answered_at", named=True):
            found[seat.revision_id].append(seat)
        return found

    @cached_property
    def begun(self) -> dict[int, Revision]:
        """The open next revision of each triple, of somebody who still writes here."""
        current = [triple.revision.pk for triple in self.triples]
        rows = Revision.objects.filter(triple__in=self.triples, submitted_at=None).exclude(pk__in=current)
        found = {row.triple_id: row for row in rows.select_related("author").order_by("number")}
        gone = {
            author
            for author in {row.author for row in found.values()}
            if writing.writer_refusal(roles_of(author, self.project))
        }
        return {key: row for key, row in found.items() if row.author not in gone}

    @cached_property
    def kept_evidence(self) -> dict[int, str | None]:
        """By triple, the reason against pinning its evidence to the newest texts as it is."""
        by_corpus: dict[int, list[Triple]] = defaultdict(list)
        for triple in self.triples:
            by_corpus[triple.snapshot.corpus_id].append(triple)
        found: dict[int, str | None] = {}
        newest = newest_snapshots(self.project)
        for corpus, triples in by_corpus.items():
            blocks = fates_in(newest[corpus], [triple.revision.pk for triple in triples])
            found |= {triple.pk: rules.evidence_refusal(blocks[triple.revision.pk]) for triple in triples}
        return found

    @cached_property
    def checked(self) -> dict[int, BulkItem]:
        """The newest checks that this lead had run on each draft, as it is now."""
        rows = BulkItem.objects.filter(
            step__project=self.project,
            step__kind=BulkKind.CHECK,
            step__begun_by=self.lead,
            state=ItemState.DONE,
            triple__in=self.triples,
        ).order_by("pk")
        versions = {triple.pk: triple.edit_version for triple in self.triples}
        return {row.triple_id: row for row in rows if row.edit_version == versions[row.triple_id]}

    def round_refusal(self, triple: Triple, writers: frozenset[int], keep: Sequence[int]) -> str | None:
        """Why no round can open for it; counts who would get its reviews."""
        if triple.pk in self.revoked:
            return REVOKED
        able = [person for person in self.able if person.pk not in writers]
        if reason := rules.reviewers_refusal(len(able)):
            return reason
        if self.is_pulled:
            chosen = [person for person in able if person.pk in keep]
            self.queued += rules.REVIEWERS_PER_ROUND - len(chosen)
        else:
            chosen = choose(triple, able, self.load, keep, writers, self.newcomers)
        self._seat(chosen)
        return None

    def _seat(self, people: Iterable[User]) -> None:
        for person in people:
            self.gained[person.pk] += 1
            self.load[person.pk] = self.load.get(person.pk, 0) + 1

    def assignment_refusal(self, triple: Triple) -> str | None:
        """Why none of its places is given away; counts who would get them, and who would lose them."""
        live = self.seats[triple.revision.pk]
        replace, among = self.values["replace"], self.values.get("to")
        able = {person.pk for person in self.able}
        places = places_to_give(live, replace, among, able=able, is_pulled=self.is_pulled)
        if reason := rules.places_refusal(places, replace):
            return reason
        seated = {seat.reviewer_id for seat in live}
        load, moves = dict(self.load), []
        excluded = self.writers[triple.pk] | {seat.reviewer_id for seat in places.seats}
        for seat in (*places.seats, *(None for _ in places.free)):
            people = [person for person in self.able if among is None or person.pk in among]
            heir = choose_successor(triple, people, load, seated, excluded, self.newcomers)
            if heir is None:
                return rules.nobody_else(is_chosen=among is not None)
            moves.append((seat.reviewer_id if seat else None, heir))
            if seat is not None:
                seated.discard(seat.reviewer_id)
                load[seat.reviewer_id] = load.get(seat.reviewer_id, 0) - 1
            seated.add(heir.pk)
            load[heir.pk] = load.get(heir.pk, 0) + 1
        self.load = load
        for former, heir in moves:
            self.gained[heir.pk] += 1
            if former is not None:
                self.lost[former] += 1
        return None


# What is against it, by kind ---------------------------------------------------------------------------------------


def _against_repin(work: Work, triple: Triple) -> str | None:
    part = work.participations[triple.pk]
    if reason := rules.repin_refusal(triple, part) or work.kept_evidence[triple.pk]:
        return reason
    if reason := rules.begun_refusal(work.begun.get(triple.pk), part):
        return reason
    keep = [seat.reviewer_id for seat in work.seats[triple.revision.pk]]
    return work.round_refusal(triple, work.writers[triple.pk] | {work.lead.pk}, keep)


def _against_assigning(work: Work, triple: Triple) -> str | None:
    return rules.reseat_refusal(triple, work.participations[triple.pk]) or work.assignment_refusal(triple)


def _against_describing(work: Work, triple: Triple) -> str | None:
    if reason := writing.describe_refusal(work.roles, triple):
        return reason
    return HAS_IT if all(getattr(triple, name) == value for name, value in work.values.items()) else None


def _against_retiring(work: Work, triple: Triple) -> str | None:
    return writing.retire_refusal(work.roles, triple)


def _against_checking(work: Work, triple: Triple) -> str | None:
    if triple.state != State.DRAFT:
        return ONLY_DRAFTS.format(state=State(triple.state).label.lower())
    is_writer = triple.revision.author_id == work.lead.pk
    return rules.submit_refusal(triple, work.participations[triple.pk], is_writer)


def _against_submitting(work: Work, triple: Triple) -> str | None:
    if reason := _against_checking(work, triple):
        return reason
    checked = work.checked.get(triple.pk)
    if checked is None:
        return NOT_CHECKED
    if checked.before["stop"]:
        return str(checked.before["stop"])
    warned = {code for _, code in checked.before["warnings"]}
    work.warned.update(warned)
    if unanswered := sorted(code for code in warned if not work.values.get("answers", {}).get(code, "").strip()):
        return f"A warning needs a reason why it is all right: {CAN_WARN[unanswered[0]].lower()}."
    keep = [seat.reviewer_id for seat in work.seats[triple.revision.pk]]
    return work.round_refusal(triple, work.writers[triple.pk], keep)


AGAINST: dict[BulkKind, Callable[[Work, Triple], str | None]] = {
    BulkKind.RE_PIN: _against_repin,
    BulkKind.ASSIGN: _against_assigning,
    BulkKind.DESCRIBE: _against_describing,
    BulkKind.RETIRE: _against_retiring,
    BulkKind.CHECK: _against_checking,
    BulkKind.SUBMIT: _against_submitting,
}


def preview_of(
    kind: BulkKind,
    values: Mapping[str, Any],
    triples: list[Triple],
    *,
    project: Project,
    lead: User,
    roles: frozenset[str],
    at: datetime,
) -> Preview:
    """What the step would do. The groups of what it cannot be done to come by size."""
    missing = rules.bulk_value_fault(kind, values) or ""
    work = Work(project, lead, roles, triples, values, at)
    reasons: dict[int, str | None] = {}
    if not missing or kind in (BulkKind.RETIRE, BulkKind.ASSIGN):
        reasons = {triple.pk: AGAINST[kind](work, triple) for triple in triples}
    can = [triple for triple in triples if reasons.get(triple.pk) is None]
    groups: dict[str, list[Triple]] = defaultdict(list)
    for triple in triples:
        if reason := reasons.get(triple.pk):
            groups[reason].append(triple)
    return Preview(
        kind=kind,
        selected=len(triples),
        digest=digest_of_step(kind, values, triples),
        can=can,
        cannot=sorted((Group(*row) for row in groups.items()), key=lambda group: -group.number),
        reviews=_shares(work.gained, work),
        lose=_shares(work.lost, work),
        queued=work.queued,
        waits=_authors_waited_for(work, reasons) if kind is BulkKind.RE_PIN else [],
        warnings=[
            WarningKind(code, CAN_WARN[code], work.warned[code], values.get("answers", {}).get(code, ""))
            for code in CAN_WARN
            if work.warned[code]
        ],
        discarded=sum(triple.pk in work.begun for triple in can) if kind is BulkKind.RETIRE else 0,
        missing=missing,
    )


def _shares(counts: Mapping[int, int], work: Work) -> list[Share]:
    rows = [Share(work.people[key], number) for key, number in counts.items()]
    return sorted(rows, key=lambda share: (-share.number, share.person.name, share.person.pk))


def _authors_waited_for(work: Work, reasons: Mapping[int, str | None]) -> list[Share]:
    """The authors of stale triples that stay stale, but for the lead, who sees it here."""
    stale = [triple for triple in work.triples if triple.is_stale and reasons[triple.pk]]
    counts = Counter(triple.author_id for triple in stale if triple.author_id != work.lead.pk)
    return _shares(counts, work)
