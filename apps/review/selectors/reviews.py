"""The rounds of a triple as one person may see them, and what of a review is sealed."""

from collections import defaultdict
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import has_role
from apps.audit.selectors.events import sealed_kind
from apps.common.digests import utc_text
from apps.jobs.selectors.jobs import hidden_by_id
from apps.retrieval.selectors.blinding import Hidden
from apps.review.core.visibility import RoundPhase, Sight, sees_answers_to_warnings, sight
from apps.review.enums import Category, Reason, VerdictChoice
from apps.review.models import AnyVerdict, DisputeMessage, Resolution, Verdict
from apps.review.selectors.candidate_blocks import asked_of, to_decide
from apps.review.selectors.participation import Participation, Record, phase_of, record_of
from apps.triples.models import Revision, Triple


def register() -> None:
    """Register for sealing what is append-only and therefore its own record."""
    sealed_kind("verdict", Verdict, project_path="revision__triple__project", payload=verdict_payload)
    sealed_kind("message", DisputeMessage, project_path="triple__project", payload=message_payload)
    sealed_kind("resolution", Resolution, project_path="triple__project", payload=resolution_payload)


def verdict_payload(verdict: Verdict) -> dict[str, Any]:
    return {
        "revision": verdict.revision_id,
        "seat": verdict.seat_id,
        "reviewer": verdict.reviewer_id,
        "supersedes": verdict.supersedes_id,
        **words_payload(verdict),
    }


def words_payload(verdict: AnyVerdict) -> dict[str, Any]:
    """Its text, its idempotency key, and its time."""
    return {
        "choice": verdict.choice,
        "reasons": verdict.reasons,
        "category": verdict.category,
        "note": verdict.note,
        "key": verdict.idempotency_key,
        "given_at": utc_text(verdict.given_at),
    }


def message_payload(message: DisputeMessage) -> dict[str, Any]:
    return {
        "triple": message.triple_id,
        "round": message.round,
        "author": message.author_id,
        "text": message.text,
        "posted_at": utc_text(message.posted_at),
    }


def resolution_payload(resolution: Resolution) -> dict[str, Any]:
    return {
        "triple": resolution.triple_id,
        "revision": resolution.revision_id,
        "round": resolution.round,
        "kind": resolution.kind,
        "category": resolution.category,
        "decided_by": resolution.decided_by_id,
        "reason": resolution.reason,
        "resolved_at": utc_text(resolution.resolved_at),
    }


ASKED_BLINDLY = (
    "You are asked whether a further passage answers a question as well. What systems returned for it is hidden from"
    " you until that is settled."
)
BLINDED = "You review this Q&A once more, blindly. What is known about it is hidden from you until you have answered."


def results_hidden_from(person: User, project: Project) -> list[Hidden]:
    """The queries that ask a question the person is asked about, in any of its wordings.

    That is: whether a further passage is right as well, as reviewer or as the lead who decides; or a past review again.
    """
    blinded = Triple.objects.filter(hidden_by_id(person, "pk"), project=project)
    to_answer = asked_of(person, project).filter(has_role(person, project, Role.REVIEWER))
    to_settle = to_decide(person, project).filter(has_role(person, project, Role.LEAD))
    query = "revisions__asked__query"
    return [
        Hidden(blinded, query, BLINDED),
        Hidden(to_answer, f"triple__{query}", ASKED_BLINDLY),
        Hidden(to_settle, f"triple__{query}", ASKED_BLINDLY),
    ]


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
        return self.choice == VerdictChoice.FLAG

    @property
    def words(self) -> str:
        """ "overstated, numeric precision": what is wrong, and its kind."""
        named = [reason.removeprefix("Answer ") for reason in self.reasons]
        return ", ".join([*named, self.category] if self.category else named).lower()


class RoundView(NamedTuple):
    """One round as one person may see it, without anything they may not see."""

    revision: Revision
    phase: RoundPhase
    sight: Sight
    verdicts: list[VerdictView]
    reviewers: list[User]
    resolution: Resolution | None
    messages: list[DisputeMessage]
    warnings: list[dict[str, str]]

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


def rounds_of(triple: Triple, participation: Participation, record: Record | None = None) -> list[RoundView]:
    """The rounds of a triple, oldest first, each reduced to what `participation` may see of it."""
    record = record or record_of(triple)
    verdicts: dict[int, list[Verdict]] = defaultdict(list)
    for verdict in record.verdicts:
        verdicts[verdict.revision_id].append(verdict)
    seats: dict[int, list[User]] = defaultdict(list)
    for seat in record.seats:
        if seat.released_at is None:
            seats[seat.revision_id].append(seat.reviewer)
    ends = {end.revision_id: end for end in triple.resolutions.select_related("decided_by").order_by("pk")}
    messages: dict[int, list[DisputeMessage]] = defaultdict(list)
    for message in triple.messages.select_related("author").order_by("posted_at", "pk"):
        messages[message.round].append(message)
    sees_answers = partial(sees_answers_to_warnings, participation.part, blinded=participation.blinded)
    views = []
    for revision in record.submitted:
        by_seat = verdicts[revision.pk]
        phase = phase_of(revision, len(by_seat))
        seen = sight(participation.part, phase, blinded=participation.blinded)
        shown = [
            _view(verdict, participation.person)
            for verdict in by_seat
            if seen.other_verdicts or (seen.own_verdict and verdict.reviewer_id == participation.person.pk)
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
                warnings=revision.warnings if sees_answers(phase) else [],
            )
        )
    return views
