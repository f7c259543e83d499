"""The rounds of a triple as one person may see them, differences of its revisions, and what of a review is sealed."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import has_role
from apps.audit.selectors.events import sealed_kind
from apps.common.digests import utc_text
from apps.common.text.worddiff import Piece, word_diff
from apps.jobs.selectors.jobs import hidden_by_id
from apps.jobs.selectors.notification_lines import ToldTogether, told_together
from apps.retrieval.selectors.blinding import Hidden
from apps.review.core.visibility import RoundPhase, Sight, sees_answers_to_warnings, sight
from apps.review.enums import NOTICES, Category, Reason, ResolutionKind, VerdictChoice
from apps.review.models import AnyVerdict, DisputeMessage, Resolution, Verdict
from apps.review.selectors.candidate_blocks import asked_of, to_decide
from apps.review.selectors.participation import Participation, Record, phase_of, record_of
from apps.triples.core.evidence import quoted
from apps.triples.enums import State
from apps.triples.models import ExpectedBlock, Revision, Triple
from apps.triples.selectors.staleness import MAX_COMPARED
from apps.triples.selectors.triples import blocks_of


def register() -> None:
    """Register for sealing what is append-only and therefore its own record, and what is told together."""
    for kind, (words, page) in NOTICES.items():
        told_together.add(ToldTogether(kind, words, page))
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
    under_review = triple.current_id if triple.state == State.IN_REVIEW else None
    messages: dict[int, list[DisputeMessage]] = defaultdict(list)
    for message in triple.messages.select_related("author").order_by("posted_at", "pk"):
        messages[message.round].append(message)
    sees_answers = partial(sees_answers_to_warnings, participation.part, blinded=participation.blinded)
    views = []
    for revision in record.submitted:
        by_seat = verdicts[revision.pk]
        end = ends.get(revision.pk)
        taken = end is not None and end.kind == ResolutionKind.ELSEWHERE and revision.pk != under_review
        phase = phase_of(revision, len(by_seat), taken=taken)
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
                resolution=end if seen.other_verdicts else None,
                messages=messages[revision.round] if seen.thread else [],
                warnings=revision.warnings if sees_answers(phase) else [],
            )
        )
    return views


Blocks = Mapping[int, list[ExpectedBlock]]


class TextChange(NamedTuple):
    """One part of what is reviewed: its label, the old and the new text, and their word difference."""

    label: str
    old: str
    new: str
    pieces: list[Piece]
    is_block: bool = False
    is_as_written: bool = False

    @property
    def is_changed(self) -> bool:
        return self.old != self.new

    @property
    def old_pieces(self) -> list[Piece]:
        return [piece for piece in self.pieces if piece.kind != "ins"]

    @property
    def new_pieces(self) -> list[Piece]:
        return [piece for piece in self.pieces if piece.kind != "del"]


class RevisionDifference(NamedTuple):
    """Question and answer come first, changed or not; `others` are the other changes."""

    before: Revision
    after: Revision
    changes: list[TextChange]

    @property
    def is_any(self) -> bool:
        return any(change.is_changed for change in self.changes)

    @property
    def others(self) -> list[TextChange]:
        return [change for change in self.changes[2:] if change.is_changed]

    @property
    def shown(self) -> list[TextChange]:
        return [*self.changes[:2], *self.others]


def _change(label: str, old: str, new: str) -> TextChange:
    if old != new and len(old) + len(new) > MAX_COMPARED:
        return TextChange(label, old, new, [Piece("del", old), Piece("ins", new)])
    return TextChange(label, old, new, word_diff(old, new))


def _evidence(blocks: list[ExpectedBlock]) -> str:
    return "\n".join(quoted(block.version.text, [(start, end) for start, end in block.spans]) for block in blocks)


def _name(block: ExpectedBlock) -> str:
    """ "Security handbook / 3.6 Break-glass access (SEC-3.6)"."""
    version = block.version
    title = f"{version.title} ({version.block.outside_id})" if version.title else version.block.outside_id
    return f"{version.block.document} / {title}"


def _needed(revision: Revision, blocks: list[ExpectedBlock]) -> str:
    if len(blocks) < 2:
        return "One passage"
    return "All of the passages are needed" if revision.needs_all_blocks else "Any one of the passages is enough"


def _new_texts(before: list[ExpectedBlock], after: list[ExpectedBlock]) -> Iterator[TextChange]:
    """The blocks that both revisions expect and whose text changed in a newer snapshot."""
    old = {block.version.block_id: block.version for block in before}
    for block in after:
        was = old.get(block.version.block_id)
        if was is not None and was.text_digest != block.version.text_digest:
            label = f"Text of {block.version.name}"
            yield _change(label, was.text, block.version.text)._replace(
                is_block=True, is_as_written=block.version.is_as_written
            )


def difference(before: Revision, after: Revision, blocks: Blocks | None = None) -> RevisionDifference:
    """Every part of two revisions side by side; blocks whose text changed in a newer snapshot come last.

    A caller passes the expected blocks of every revision, by its key, where it has read them.
    """
    if blocks is None:
        blocks = blocks_of([before, after])
    old, new = blocks[before.pk], blocks[after.pk]
    changes = [
        _change("Question", before.question, after.question),
        _change("Answer", before.answer, after.answer),
        _change("Evidence", _evidence(old), _evidence(new)),
        _change("Passages", "\n".join(map(_name, old)), "\n".join(map(_name, new))),
        _change("Needed", _needed(before, old), _needed(after, new)),
        _change("Note", before.note, after.note),
        *_new_texts(old, new),
    ]
    return RevisionDifference(before, after, changes)


def last_difference(revision: Revision) -> RevisionDifference | None:
    """The difference to the submitted revision before, or None for a first one."""
    if revision.number == 1:
        return None
    before = (
        Revision.objects.filter(triple=revision.triple_id, number__lt=revision.number, round__lt=revision.round)
        .exclude(submitted_at=None)
        .select_related("author")
        .order_by("-number")
        .first()
    )
    return difference(before, revision) if before else None
