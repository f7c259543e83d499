"""A project with any number of triples, written in bulk. To be imported when Django has been set up."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.corpus.models import BlockVersion, Snapshot
from apps.jobs.models import Notification
from apps.review.models import Resolution, ReviewSeat, Verdict
from apps.triples.models import ExpectedBlock, Revision, Triple
from tests.factories import AT, make_member
from tests.triples.factories import make_team, version_of

AT_ONCE = 1_000
# Out of twenty triples: what state they are in.
STATES = ("accepted",) * 12 + ("in_review",) * 2 + ("disputed", "dropped", "draft", "stale", "candidate", "split")
STORED = {"stale": "accepted", "candidate": "draft"}
ENDS = {"accepted": "consensus", "dropped": "dropped", "split": "split"}
FLAGGED = ("disputed", "split", "dropped")

Reviewed = list[tuple[Triple, Revision]]


class Cast(NamedTuple):
    """Who there is. The chief holds every role and writes each tenth triple; the author writes the others."""

    chief: User
    author: User
    other: User
    mate: User

    def writer_of(self, number: int) -> User:
        return self.chief if number % 10 == 0 else self.author

    def reviewers_of(self, triple: Triple) -> tuple[User, User]:
        return self.other, self.mate if triple.author_id == self.chief.pk else self.chief


def fill(triples: int) -> tuple[Project, User]:
    """A project with so many triples, and somebody who holds every role and a seat in each open round."""
    project = make_team(reviewers=1)
    cast = _cast(project)
    snapshot = project.corpora.get().snapshots.get()
    rows = _triples(project, cast, snapshot, range(1, triples + 1))
    revisions = _revisions(rows, snapshot, version_of(snapshot, "access"))
    _join(rows, revisions)
    reviewed = [pair for pair in zip(rows, revisions, strict=True) if pair[0].round]
    _verdicts(_seats(reviewed, cast), reviewed)
    _resolutions(reviewed)
    _notify(project, cast.chief, rows)
    return project, cast.chief


def _cast(project: Project) -> Cast:
    chief = make_member(project, Role.ANNOTATOR, Role.REVIEWER, Role.LEAD, name="Chief")
    return Cast(
        chief=chief,
        author=make_member(project, Role.ANNOTATOR, name="Author"),
        other=project.memberships.filter(role=Role.REVIEWER).exclude(user=chief).first().user,
        mate=make_member(project, Role.REVIEWER, name="Mate"),
    )


def _triples(project: Project, cast: Cast, snapshot: Snapshot, numbers: Sequence[int]) -> list[Triple]:
    return Triple.objects.bulk_create(
        [_triple(project, cast, snapshot, number, STATES[number % len(STATES)]) for number in numbers],
        batch_size=AT_ONCE,
    )


def _triple(project: Project, cast: Cast, snapshot: Snapshot, number: int, stands: str) -> Triple:
    at = _time_of(number)
    is_accepted = stands in ("accepted", "stale")
    return Triple(
        project=project,
        number=number,
        state=STORED.get(stands, stands),
        is_stale=stands == "stale",
        is_machine_written=stands == "candidate",
        round=0 if stands in ("draft", "candidate") else 1,
        was_disputed=stands in ("disputed", "split"),
        author=cast.writer_of(number),
        snapshot=snapshot,
        resolution="consensus" if is_accepted else "",
        resolved_at=at if is_accepted else None,
        created_at=at,
        changed_at=at,
    )


def _time_of(number: int) -> datetime:
    return AT + timedelta(minutes=number)


def _revisions(rows: Sequence[Triple], snapshot: Snapshot, version: BlockVersion) -> list[Revision]:
    """One of each triple, with the block that it expects."""
    revisions = Revision.objects.bulk_create(
        [
            Revision(
                triple=row,
                number=1,
                author_id=row.author_id,
                snapshot=snapshot,
                question=f"How long may emergency access number {row.number} last?",
                answer="At most eight hours.",
                round=row.round,
                created_at=row.created_at,
                saved_at=row.created_at,
            )
            for row in rows
        ],
        batch_size=AT_ONCE,
    )
    blocks = [ExpectedBlock(revision=revision, version=version, spans=[[0, 36]]) for revision in revisions]
    ExpectedBlock.objects.bulk_create(blocks, batch_size=AT_ONCE)
    return revisions


def _join(rows: Sequence[Triple], revisions: Sequence[Revision]) -> None:
    """Make each revision its triple's current one, submitted where the triple has been."""
    for row, revision in zip(rows, revisions, strict=True):
        row.current = revision
        revision.submitted_at = row.created_at if row.round else None
    Triple.objects.bulk_update(rows, ["current"], batch_size=400)
    submitted = [revision for revision in revisions if revision.submitted_at]
    Revision.objects.bulk_update(submitted, ["submitted_at"], batch_size=400)


def _seats(reviewed: Reviewed, cast: Cast) -> list[ReviewSeat]:
    """Two of each revision that was submitted, answered and closed unless it is still in review."""
    seats = []
    for row, revision in reviewed:
        over = None if row.state == "in_review" else row.created_at
        times: dict[str, Any] = {"opened_at": row.created_at, "answered_at": over, "closed_at": over}
        for place, person in enumerate(cast.reviewers_of(row), 1):
            seats.append(ReviewSeat(revision=revision, number=place, reviewer=person, **times))
    return ReviewSeat.objects.bulk_create(seats, batch_size=AT_ONCE)


def _verdicts(seats: Sequence[ReviewSeat], reviewed: Reviewed) -> None:
    states = {revision.pk: row.state for row, revision in reviewed}
    given = [_verdict(seat, flags=states[seat.revision_id] in FLAGGED) for seat in seats if seat.answered_at]
    Verdict.objects.bulk_create(given, batch_size=AT_ONCE)


def _verdict(seat: ReviewSeat, *, flags: bool) -> Verdict:
    is_flag = flags and (seat.number == 2 or seat.revision_id % 2 == 0)
    return Verdict(
        revision_id=seat.revision_id,
        seat=seat,
        reviewer_id=seat.reviewer_id,
        choice="flag" if is_flag else "confirm",
        reasons=["overstated"] if is_flag else [],
        category="numeric" if is_flag else "",
        idempotency_key=f"k{seat.pk}",
        given_at=seat.answered_at,
    )


def _resolutions(reviewed: Reviewed) -> None:
    ended = [
        Resolution(
            triple=row,
            revision=revision,
            round=1,
            kind=ENDS[row.state],
            reason="Both reviewers flagged it." if row.state == "dropped" else "",
            resolved_at=row.created_at,
        )
        for row, revision in reviewed
        if row.state in ENDS
    ]
    Resolution.objects.bulk_create(ended, batch_size=AT_ONCE)


def _notify(project: Project, person: User, rows: Sequence[Triple]) -> None:
    waiting = [
        Notification(
            person=person,
            project=project,
            kind="seat",
            sentence=f"{row.label} waits for your review.",
            path=f"/p/{project.slug}/review/{row.pk}/",
            key=f"seat-{row.pk}",
            created_at=row.created_at,
        )
        for row in rows
    ]
    Notification.objects.bulk_create(waiting, batch_size=AT_ONCE)
