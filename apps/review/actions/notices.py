"""Notifications of a review, one sentence each. Called in the transaction of the event.

While a round is open, reviewers are notified of their own seats, and nobody of anything else. No function here is
called because one of two verdicts came in. Once both are in, everybody with a part is notified of what the page shows
them from then on. Nobody is notified of their own action, and what they dealt with counts as read.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from django.urls import reverse

from apps.accounts.models import User
from apps.accounts.selectors import roles_of
from apps.common.text.wording import age
from apps.jobs.actions.notifications import notify, read_about
from apps.jobs.models import Notification
from apps.queries.models import Source
from apps.review.enums import CandidateState, Outcome, VerdictChoice
from apps.review.models import BulkStep, CandidateBlock, DisputeMessage, MissNote, ReviewSeat
from apps.review.selectors.participation import live_verdicts, participation_of
from apps.triples.enums import State
from apps.triples.execution.staleness import key_of, page_of
from apps.triples.models import Triple
from apps.triples.selectors.triples import authors_of

REMIND_AGAIN = timedelta(days=1)


def _notify(people: Iterable[User], triple: Triple, kind: str, sentence: str, key: str, at: datetime) -> None:
    """Of a closed round: hidden from people who review the triple blindly once more, for as long as they do."""
    for person in people:
        notify(
            person=person,
            project=triple.project,
            kind=kind,
            sentence=sentence,
            path=page_of(triple),
            key=key_of(triple, key),
            at=at,
            about=triple.pk,
        )


def _notify_reviewer(seat: ReviewSeat, kind: str, sentence: str, key: str, at: datetime) -> Notification | None:
    triple = seat.revision.triple
    return notify(
        person=seat.reviewer,
        project=triple.project,
        kind=kind,
        sentence=sentence,
        path=reverse("review:screen", args=(triple.project.slug, triple.pk)),
        key=key_of(triple, f"seat:{seat.pk}:{key}"),
        at=at,
        # A later round's notice reveals how the one before ended, and a triple hidden for a while is not listed.
        about=triple.pk,
    )


def _writers(triple: Triple) -> set[User]:
    return set(User.objects.filter(pk__in=authors_of(triple)))


def _reviewers(triple: Triple) -> set[User]:
    seats = ReviewSeat.objects.filter(revision=triple.revision, released_at=None).select_related("reviewer")
    return {seat.reviewer for seat in seats}


def _dealt_with(triple: Triple, person: User, at: datetime) -> None:
    read_about(person=person, project=triple.project, prefix=key_of(triple, ""), at=at)


# Seats -------------------------------------------------------------------------------------------------------------


def revoked(source: Source, involved: Mapping[int, int], *, by: User, at: datetime) -> None:
    """Work on what rests on a source has ended, for whoever wrote or was to review so many of its triples."""
    path = reverse("queries:source", args=(source.project.slug, source.pk))
    for person in User.objects.filter(pk__in=involved).exclude(pk=by.pk).order_by("pk"):
        number = involved[person.pk]
        what = (
            "1 Q&A of yours, or for you to review, is"
            if number == 1
            else f"{number:,} Q&As of yours, or for you to review, are"
        )
        notify(
            person=person,
            project=source.project,
            kind="review.revoked",
            sentence=f"{what} retired: the permission of {source.name} was revoked. Nothing is left to do.",
            path=path,
            key=f"revoked:{source.pk}:{at.isoformat()}",
            at=at,
        )


def seat_opened(seat: ReviewSeat, *, by: User | None, at: datetime) -> None:
    """A reviewer has a triple to review. `by`: who submitted it, gave the seat away, or pulled it."""
    if by == seat.reviewer:
        return
    label, first = seat.revision.triple.label, seat.revision.round == 1
    sentence = (
        f"{label} is ready for your review." if first else f"{label} is ready for your review, in a new revision."
    )
    _notify_reviewer(seat, "review.seat", sentence, "opened", at)


def seat_reassigned(seat: ReviewSeat, *, by: User | None, at: datetime) -> None:
    """The seat was given to somebody else, or back to the queue, before its reviewer answered."""
    _seat_gone(seat, "It was assigned to somebody else.", by=by, at=at)


def seat_taken_back(seat: ReviewSeat, *, by: User, at: datetime) -> None:
    """Sending the triple to review was undone before anybody answered."""
    _seat_gone(seat, f"{by} took it back.", by=by, at=at)


def stale_wait(step: BulkStep, at: datetime) -> None:
    """Stale triples that a lead could not pin again need their authors: one notice each, whatever the number."""
    for author in User.objects.filter(pk__in=step.waits).order_by("pk"):
        number = step.waits[str(author.pk)]
        what = "1 stale Q&A of yours needs you" if number == 1 else f"{number:,} stale Q&As of yours need you"
        notify(
            person=author,
            project=step.project,
            kind="triple.stale",
            sentence=f"{what}: {step.begun_by} pinned the others to the new text, and not these.",
            path=reverse("review:stale", args=(step.project.slug,)),
            key=f"bulk:{step.pk}:waits",
            at=at,
        )


def _seat_gone(seat: ReviewSeat, why: str, *, by: User | None, at: datetime) -> None:
    triple = seat.revision.triple
    prefix = key_of(triple, f"seat:{seat.pk}:")
    read_about(person=seat.reviewer, project=triple.project, prefix=prefix, at=at)
    if by == seat.reviewer:
        return
    notify(
        person=seat.reviewer,
        project=triple.project,
        kind="review.seat_gone",
        sentence=f"{triple.label} no longer needs your review. {why}",
        path=reverse("review:queue", args=(triple.project.slug,)),
        key=key_of(triple, f"seat:{seat.pk}:gone"),
        at=at,
    )


def answered(triple: Triple, reviewer: User, at: datetime) -> None:
    """A verdict came in: nobody is notified. Notices to its own reviewer about this triple count as read."""
    _dealt_with(triple, reviewer, at)


def remind(seat: ReviewSeat, at: datetime) -> Notification | None:
    """Remind a reviewer who has not answered, at most once a day. None when there is nobody to remind now."""
    triple = seat.revision.triple
    is_open = triple.state == State.IN_REVIEW and triple.current_id == seat.revision_id and seat.released_at is None
    if not is_open or seat.verdicts.exists():
        return None
    before = Notification.objects.filter(
        person=seat.reviewer, key__startswith=key_of(triple, f"seat:{seat.pk}:reminder:")
    ).order_by("pk")
    times = list(before.values_list("created_at", flat=True))
    if times and times[-1] > at - REMIND_AGAIN:
        return None
    sentence = f"{triple.label} still needs your review."
    return _notify_reviewer(seat, "review.reminder", sentence, f"reminder:{len(times) + 1}", at)


# Rounds ------------------------------------------------------------------------------------------------------------


def round_closed(triple: Triple, outcome: Outcome, at: datetime) -> None:
    """Both verdicts are in. The authors are notified of the outcome; of a dispute both reviewers as well."""
    if outcome is Outcome.DISPUTE:
        _dispute_opened(triple, at)
        return
    key = f"round:{triple.round}:closed"
    if outcome is Outcome.CONSENSUS:
        _notify(_writers(triple), triple, "review.accepted", f"{triple.label} is accepted: both confirmed it.", key, at)
    else:
        sentence = f"{triple.label} is dropped: both reviewers flagged it. Their reasons are on its page."
        _notify(_writers(triple), triple, "review.dropped", sentence, key, at)


def _dispute_opened(triple: Triple, at: datetime) -> None:
    """Nobody has seen it before, not even the reviewer who answered last."""
    by_choice = {verdict.choice: verdict.reviewer for verdict in live_verdicts(triple.revision)}
    confirmer, flagger = by_choice[VerdictChoice.CONFIRM], by_choice[VerdictChoice.FLAG]
    label, kind, key = triple.label, "review.disputed", f"round:{triple.round}:closed"
    answer = f"{flagger} flagged {label}, {confirmer} confirmed it. Answer the flag, revise, split or drop it."
    _notify(_writers(triple), triple, kind, answer, key, at)
    settle = f"You flagged {label}, {confirmer} confirmed it. Resolve it with {triple.author}."
    _notify([flagger], triple, kind, settle, key, at)
    read = f"You confirmed {label}, {flagger} flagged it. You can read their messages."
    _notify([confirmer], triple, kind, read, key, at)


# Disputes ----------------------------------------------------------------------------------------------------------


def message_posted(message: DisputeMessage) -> None:
    """Authors and flagger are notified of each other's messages; the other reviewer may read, without a notice."""
    triple, at = message.triple, message.posted_at
    _dealt_with(triple, message.author, at)
    flaggers = {verdict.reviewer for verdict in live_verdicts(triple.revision) if verdict.choice == VerdictChoice.FLAG}
    people = (_writers(triple) | flaggers) - {message.author}
    sentence = f"{message.author} wrote to you about {triple.label}."
    _notify(people, triple, "review.message", sentence, f"message:{message.pk}", at)


def settled(triple: Triple, sentence: str, *, by: User, at: datetime) -> None:
    """The author or the flagger ended the dispute; `sentence` says how."""
    _dealt_with(triple, by, at)
    people = (_writers(triple) | _reviewers(triple)) - {by}
    _notify(people, triple, "review.settled", sentence, f"round:{triple.round}:settled", at)


def revised(triple: Triple, *, by: User, at: datetime) -> None:
    """A new round begins: its reviewers are notified of their seats, other authors of the revision."""
    sentence = f"{by} sent {triple.label} to review in a new revision."
    _dealt_with(triple, by, at)
    people = _writers(triple) - {by}
    _notify(people, triple, "review.revised", sentence, f"round:{triple.round}:revised", at)


def adjudicated(triple: Triple, *, by: User, round_number: int, at: datetime) -> None:
    """A lead decided round `round_number`. Reviewers of a triple sent back are notified of their new seats instead."""
    word = {
        State.ACCEPTED: "is accepted as it is",
        State.IN_REVIEW: "goes to another review",
        State.DROPPED: "is dropped",
    }[State(triple.state)]
    people = _writers(triple)
    if triple.state != State.IN_REVIEW:
        people |= _reviewers(triple)
    _dealt_with(triple, by, at)
    sentence = f"{by} decided the dispute: {triple.label} {word}."
    _notify(people - {by}, triple, "review.adjudicated", sentence, f"round:{round_number}:adjudicated", at)


# Passages that may be right as well --------------------------------------------------------------------------------


def candidate_closed(candidate: CandidateBlock, *, by: User, at: datetime) -> None:
    """Both answers are in, or a lead decided: the authors and who proposed it are told, the reviewers see it."""
    triple = candidate.triple
    added = candidate.state == CandidateState.CONFIRMED
    word = "is added as a further right passage" if added else "is not added as a right passage"
    sentence = f"{candidate.version.name} {word} of {triple.label}."
    people = (_writers(triple) | {candidate.proposed_by}) - {by}
    _notify(people, triple, "review.candidate_block", sentence, f"candidate:{candidate.pk}:closed", at)


def question_unclear(triple: Triple, note: MissNote, at: datetime) -> None:
    """Somebody who read why a system missed it found the question unclear: its authors are told."""
    sentence = f"{note.made_by} finds the question of {triple.label} unclear."
    people = _writers(triple) - {note.made_by}
    _notify(people, triple, "review.unclear", sentence, f"unclear:{note.pk}", at)


# Waiting too long --------------------------------------------------------------------------------------------------


def escalated(triple: Triple, lead: User, at: datetime) -> Notification | None:
    """Notify a lead without a part, once, that a triple has waited too long. Gives the time, not the person."""
    if participation_of(triple, lead, roles_of(lead, triple.project)).has_part:
        return None
    word = {State.IN_REVIEW: "been in review", State.DISPUTED: "been disputed"}[State(triple.state)]
    return notify(
        person=lead,
        project=triple.project,
        kind="review.escalated",
        sentence=f"{triple.label} has {word} for {age(triple.changed_at, at)}.",
        path=page_of(triple),
        key=key_of(triple, f"round:{triple.round}:escalated:{triple.state}"),
        at=at,
    )
