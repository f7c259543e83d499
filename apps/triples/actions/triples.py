"""Actions of authors and leads on a triple outside of its reviews. Submitting and all after it is in apps.review."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, OuterRef, Q, QuerySet

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import roles_of, roles_question
from apps.audit.actions import record
from apps.common.database.batched_reads import BatchedRead, ListOf, first_with, joined
from apps.common.database.bulk import chunks
from apps.common.errors import Forbidden, Refusal
from apps.common.text.wording import plural
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.jobs.actions.jobs import enqueue
from apps.queries.actions.sources import Resting
from apps.queries.models import Query, Source
from apps.triples import rules
from apps.triples.core.checks import as_drafted, stored_answers
from apps.triples.enums import LIVE, RetireReason, State, Step
from apps.triples.execution.staleness import MARK_STALE, mark_changed
from apps.triples.models import CANDIDATE, ExpectedBlock, Revision, Triple
from apps.triples.selectors.draft_checks import EMPTY, BlockChoice, Wording
from apps.triples.selectors.staleness import changed_in_window, compared, possibly_stale, windows
from apps.triples.selectors.triples import (
    draft_of_key,
    expected_blocks,
    locked_triple,
    open_revision,
    open_revisions,
    revoked_refusal,
)
from apps.triples.workflow import move, move_all


def extended_revision(triple: Triple, block: BlockChoice, at: datetime) -> Revision:
    """The next revision of a locked triple: as the current one, with `block` as its last expected block, submitted.

    Question, answer and author stay those of the current revision, since nobody wrote anything anew. The caller opens
    its round and makes the step. A revision that somebody is writing meanwhile comes after it, with the block as well.
    """
    current = triple.revision
    last = triple.revisions.aggregate(last=Max("number"))["last"]
    if (writing := open_revision(triple)) is not None:
        _take_along(writing, block, last + 1)
        triple.edit_version += 1
        triple.save(update_fields=["edit_version"])
        last -= 1
    revision = Revision.objects.create(
        triple=triple,
        number=last + 1,
        author=current.author,
        snapshot=current.snapshot,
        question=current.question,
        answer=current.answer,
        needs_all_blocks=current.needs_all_blocks,
        note=current.note,
        warnings=current.warnings,
        round=triple.round + 1,
        created_at=at,
        saved_at=at,
    )
    kept = [BlockChoice(former.version_id, tuple(former.spans)) for former in expected_blocks(current)]
    ExpectedBlock.objects.bulk_create(
        ExpectedBlock(
            revision=revision, version_id=choice.version_id, order=order, spans=[list(span) for span in choice.spans]
        )
        for order, choice in enumerate([*kept, block])
    )
    revision.submitted_at = at
    revision.save(update_fields=["submitted_at"])
    return revision


def _take_along(writing: Revision, block: BlockChoice, number: int) -> None:
    """Give an open revision a later number, and the block as its last, where its snapshot has the same text."""
    writing.number = number
    writing.save(update_fields=["number"])
    if SnapshotBlock.objects.filter(snapshot=writing.snapshot_id, version=block.version_id).exists():
        spans, order = [list(span) for span in block.spans], writing.expected_blocks.count()
        ExpectedBlock.objects.create(revision=writing, version_id=block.version_id, order=order, spans=spans)


class DraftRefused(Refusal):
    """The draft cannot be saved, withdrawn or reopened."""


class EditConflict(Refusal):
    """Somebody, or the same person in another tab, saved in between."""


class AlreadyStarted(Refusal):
    """The new bench was saved before, and has become `triple`."""

    def __init__(self, triple: Triple) -> None:
        super().__init__(f"This draft has become {triple.label}.", code="already_started")
        self.triple = triple


class RetireRefused(Refusal):
    """The triple cannot be retired."""


@transaction.atomic
def start_draft(
    *,
    project: Project,
    author: User,
    snapshot: Snapshot,
    at: datetime,
    wording: Wording = EMPTY,
    query: Query | None = None,
    parent: Triple | None = None,
    is_machine_written: bool = False,
    idempotency_key: str = "",
) -> Triple:
    """Start a draft: from a block (a wording that has one), from a query (its words and metadata), or from nothing.

    The child of a machine-written parent stays marked so; its author has adopted it by writing it. A key starts one
    draft of its author: raises AlreadyStarted, with that draft, when the key is sent again.
    """
    if query is not None:
        wording = _from_query(wording, query)
    is_adopted = parent is not None and parent.is_machine_written
    Project.objects.select_for_update().get(pk=project.pk)
    if started := draft_of_key(project, author, idempotency_key):
        raise AlreadyStarted(started)
    if query is not None and not Query.objects.filter(pk=query.pk).exists():
        raise DraftRefused(rules.QUERY_GONE, code="query_gone")
    last = Triple.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0
    triple = Triple.objects.create(
        project=project,
        number=last + 1,
        author=author,
        snapshot=snapshot,
        query=query,
        parent=parent,
        is_machine_written=is_machine_written or is_adopted,
        adopted_by=author if is_adopted else None,
        idempotency_key=idempotency_key or None,
        created_at=at,
        changed_at=at,
    )
    revision = _new_revision(triple, 1, author, snapshot, at)
    triple.current = revision
    triple.save(update_fields=["current"])
    _write(triple, revision, wording, at)
    record(project=project, actor=author, action="triple.start", obj=triple, after={"state": triple.state}, at=at)
    return triple


def _from_query(wording: Wording, query: Query) -> Wording:
    return wording._replace(
        question=wording.question or query.text,
        domain=wording.domain or query.domain,
        difficulty=wording.difficulty or query.difficulty,
        source_id=wording.source_id or query.source_id,
    )


def _next_revision(triple: Triple, author: User, snapshot: Snapshot, at: datetime) -> Revision:
    last = triple.revisions.aggregate(last=Max("number"))["last"] or 0
    return _new_revision(triple, last + 1, author, snapshot, at)


def _new_revision(triple: Triple, number: int, author: User, snapshot: Snapshot, at: datetime) -> Revision:
    return Revision.objects.create(
        triple=triple, number=number, author=author, snapshot=snapshot, created_at=at, saved_at=at
    )


@transaction.atomic
def save_draft(
    *,
    project: Project,
    triple_id: int,
    author: User,
    seen_version: int,
    snapshot: Snapshot,
    wording: Wording,
    at: datetime,
) -> Triple:
    """Save the open revision, pinned to `snapshot`.

    `seen_version` is the edit version that the page showed, so that two tabs cannot overwrite each other. A save that
    is sent again, because its response was lost, has its effect once.
    """
    triple = locked_triple(project, triple_id)
    asked: dict[str, BatchedRead[Any]] = {"roles": roles_question(author, project), "blocks": BLOCKS}
    found = first_with(open_revisions(triple), joined(asked))
    if found is None:
        raise DraftRefused("No revision is open, so the wording cannot be changed.", code="no_open_revision")
    revision, stored = found
    if reason := rules.write_refusal(author, revision) or rules.writer_refusal(stored["roles"]):
        raise DraftRefused(reason, code="not_editable")
    if triple.edit_version != seen_version:
        if _is_stored(triple, revision, wording):
            return triple
        raise EditConflict(
            "This draft was saved elsewhere since you opened it. Your text is still in the fields: copy what you"
            " need, then load the page again.",
            code="edit_conflict",
        )
    revision.snapshot = snapshot
    if triple.state == State.DRAFT:
        triple.snapshot = snapshot
    _write(triple, revision, wording, at, blocks=stored["blocks"])
    return triple


def _as_rows(blocks: Iterable[BlockChoice]) -> list[Any]:
    return [[block.version_id, [list(span) for span in block.spans]] for block in blocks]


_EXPECTED = ExpectedBlock.objects.filter(revision=OuterRef("pk")).order_by("order", "pk")
BLOCKS: BatchedRead[list[Any]] = BatchedRead(
    {"rows": ListOf(_EXPECTED.values_list("version_id", "spans"), json=["spans"])}, lambda found: list(found["rows"])
)
"""Asks a revision for its expected blocks, as `_as_rows` has them."""


def _is_stored(triple: Triple, revision: Revision, wording: Wording) -> bool:
    stored, answers = copy_wording(triple, revision), dict(wording.answers)
    sent = wording._replace(question=wording.question.strip(), answer=wording.answer.strip(), answers=stored.answers)
    return stored == sent and as_drafted(dict(stored.answers) | answers) == as_drafted(dict(stored.answers))


def _write(triple: Triple, revision: Revision, wording: Wording, at: datetime, blocks: Sequence[Any] = ()) -> None:
    """`blocks` are what the revision expects so far, as BLOCKS reads it: most saves do not change it."""
    _refuse_foreign(triple, revision, wording)
    revision.question, revision.answer = wording.question.strip(), wording.answer.strip()
    revision.needs_all_blocks, revision.note, revision.saved_at = wording.needs_all_blocks, wording.note, at
    revision.warnings = as_drafted(stored_answers(revision.warnings) | dict(wording.answers))
    revision.save(update_fields=["snapshot", "question", "answer", "needs_all_blocks", "note", "warnings", "saved_at"])
    rows = _as_rows(wording.blocks)
    if rows != list(blocks):
        if blocks:
            revision.expected_blocks.all().delete()
        ExpectedBlock.objects.bulk_create(
            ExpectedBlock(revision=revision, version_id=version, order=order, spans=spans)
            for order, (version, spans) in enumerate(rows)
        )
    triple.domain, triple.difficulty, triple.source_id = wording.domain, wording.difficulty, wording.source_id
    triple.edit_version += 1
    if triple.state == State.DRAFT:
        triple.changed_at = at  # elsewhere it is when the state began, whoever is writing
    triple.save(update_fields=["snapshot", "domain", "difficulty", "source", "edit_version", "changed_at"])


def _refuse_foreign(triple: Triple, revision: Revision, wording: Wording) -> None:
    if revision.snapshot.corpus.project_id != triple.project_id:
        raise DraftRefused("The snapshot belongs to another project.", code="foreign_snapshot")
    wanted = {block.version_id for block in wording.blocks}
    present = SnapshotBlock.objects.filter(snapshot=revision.snapshot_id, version__in=wanted).count()
    if present != len(wording.blocks):
        raise DraftRefused("A chosen passage is not in the snapshot.", code="foreign_block")
    if wording.source_id and not Source.objects.filter(pk=wording.source_id, project=triple.project_id).exists():
        raise DraftRefused("The source belongs to another project.", code="foreign_source")


def copy_wording(triple: Triple, revision: Revision, blocks: tuple[BlockChoice, ...] | None = None) -> Wording:
    """The wording of a stored revision, to start the next one from; with its own expected blocks, or with others."""
    if blocks is None:
        blocks = tuple(
            BlockChoice(block.version_id, tuple((start, end) for start, end in block.spans))
            for block in expected_blocks(revision)
        )
    return Wording(
        question=revision.question,
        answer=revision.answer,
        blocks=blocks,
        needs_all_blocks=revision.needs_all_blocks,
        note=revision.note,
        domain=triple.domain,
        difficulty=triple.difficulty,
        source_id=triple.source_id,
        answers=tuple(stored_answers(revision.warnings).items()),
    )


def repinned(snapshot: Snapshot, revision: Revision) -> tuple[BlockChoice, ...]:
    """The expected blocks of `revision` in `snapshot`: their text there, and the evidence that is still in it.

    Blocks that are gone and evidence that is not in the new text are left out.
    """
    return tuple(
        BlockChoice(block.new.pk, tuple(block.kept)) for block in compared(revision, snapshot) if block.new is not None
    )


def add_revision(triple: Triple, author: User, snapshot: Snapshot, at: datetime) -> Revision:
    """Open the next revision of a locked triple: worded like the current one, pinned to `snapshot`.

    State and `current` do not change until the revision is submitted.
    """
    current = triple.revision
    wording = copy_wording(triple, current, repinned(snapshot, current))
    revision = _next_revision(triple, author, snapshot, at)
    _write(triple, revision, wording, at)
    return revision


def discard_open_revision(triple: Triple) -> None:
    """Discard the open revision of a locked triple, because another action moved the triple."""
    _discard_open_revisions([triple])


def _discard_open_revisions(triples: Sequence[Triple]) -> None:
    current = [triple.current_id for triple in triples if triple.current_id]
    opened = Revision.objects.filter(triple__in=triples, submitted_at=None).exclude(pk__in=current)
    open_ids = list(opened.values_list("pk", flat=True))
    ExpectedBlock.objects.filter(revision__in=open_ids).delete()
    Revision.objects.filter(pk__in=open_ids).delete()


@transaction.atomic
def withdraw_draft(*, project: Project, triple_id: int, author: User, at: datetime) -> Triple:
    """The author gives up a draft; it is kept, with its wording. A candidate is rejected instead."""
    triple = locked_triple(project, triple_id)
    DraftRefused.raise_for(rules.withdraw_refusal(author, roles_of(author, project), triple), code="not_withdrawable")
    return move(triple, Step.WITHDRAW, actor=author, at=at)


@transaction.atomic
def reopen_as_draft(*, project: Project, triple_id: int, author: User, snapshot: Snapshot, at: datetime) -> Triple:
    """A dropped triple starts again as a draft: a new revision, worded like the last, on `snapshot`."""
    triple = locked_triple(project, triple_id)
    DraftRefused.raise_for(rules.reopen_refusal(author, roles_of(author, project), triple), code="not_reopenable")
    DraftRefused.raise_for(revoked_refusal(triple, at=at), code="permission_revoked")
    revision = add_revision(triple, author, snapshot, at)
    return move(triple, Step.REOPEN, actor=author, at=at, current=revision, snapshot=snapshot)


@transaction.atomic
def retire_triple(
    *, project: Project, triple_id: int, lead: User, roles: frozenset[str], reason: RetireReason, at: datetime
) -> Triple:
    """A lead takes an accepted triple out of use, stale or not; its open revision is discarded. Its text is kept."""
    triple = locked_triple(project, triple_id)
    if refusal := rules.retire_refusal(roles, triple):
        error = Forbidden if refusal == rules.NEEDS_LEAD else RetireRefused
        raise error(refusal, code="not_retirable")
    discard_open_revision(triple)
    return move(triple, Step.RETIRE, actor=lead, at=at, reason=reason.label, retire_reason=reason)


@transaction.atomic
def retire_triples(
    *,
    project: Project,
    triple_ids: Collection[int],
    lead: User,
    roles: frozenset[str],
    reason: RetireReason,
    at: datetime,
) -> int:
    """Retire those of the triples that are accepted, stale or not; returns how many. Each gets its own event."""
    if Role.LEAD not in roles:
        raise Forbidden(rules.NEEDS_LEAD, code="not_retirable")
    if len(triple_ids) > rules.MOST_RETIRED:
        raise RetireRefused(rules.too_many_to_retire(len(triple_ids)), code="too_many")
    accepted = Triple.objects.select_for_update(of=("self",)).filter(project=project, state=State.ACCEPTED)
    retired = 0
    for part in chunks(sorted(triple_ids), 500):
        triples = list(accepted.filter(pk__in=part).select_related("project").order_by("pk"))
        _discard_open_revisions(triples)
        move_all(triples, Step.RETIRE, actor=lead, at=at, reason=reason.label, retire_reason=reason)
        retired += len(triples)
    return retired


@transaction.atomic
def describe_triple(
    *, project: Project, triple_id: int, lead: User, roles: frozenset[str], changes: Mapping[str, Any], at: datetime
) -> Triple:
    """A lead gives a triple another `source_id` (None: no source) or `domain`; what is not in `changes` stays.

    Whoever has its editor open is told when they save, so that they do not overwrite it.
    """
    triple = locked_triple(project, triple_id)
    if refusal := rules.describe_refusal(roles, triple):
        error = Forbidden if refusal == rules.NEEDS_LEAD else DraftRefused
        raise error(refusal, code="not_describable")
    source = changes.get("source_id")
    if source and not Source.objects.filter(pk=source, project=project).exists():
        raise DraftRefused("The source belongs to another project.", code="foreign_source")
    before = {name: getattr(triple, name) for name in changes}
    for name, value in changes.items():
        setattr(triple, name, value)
    DraftRefused.raise_for(revoked_refusal(triple, at=at), code="permission_revoked")
    triple.edit_version += 1
    triple.save(update_fields=[*changes, "edit_version"])
    record(project=project, actor=lead, action="triple.describe", obj=triple, before=before, after=dict(changes), at=at)
    return triple


STATE_WORDS = {
    State.ACCEPTED: ("accepted Q&A", "accepted Q&As"),
    State.IN_REVIEW: ("Q&A in review", "Q&As in review"),
    State.DISPUTED: ("disputed Q&A", "disputed Q&As"),
    State.DRAFT: ("draft of a Q&A", "drafts of Q&As"),
}


class TriplesOnPermissions:
    """The triples that rest on a source, by themselves or by their query: work on them ends, and they are retired.

    What a machine wrote and nobody has adopted has no author to leave draft with: it is withdrawn.
    """

    def preview(self, source: Source) -> list[Resting]:
        candidates = resting_on(source).filter(CANDIDATE).count()
        counts = dict(resting_on(source).exclude(CANDIDATE).order_by().values_list("state").annotate(Count("pk")))
        found = [(counts[state], words) for state, words in STATE_WORDS.items() if state in counts]
        rows = [
            Resting(f"{number:,} {words[number != 1]}", "is retired" if number == 1 else "are retired")
            for number, words in found
        ]
        if candidates:
            words = plural(candidates, "candidate")
            rows.append(Resting(words, "is withdrawn" if candidates == 1 else "are withdrawn"))
        return rows

    def act(self, source: Source, *, actor: User, at: datetime) -> list[Resting]:
        """What was retired, in the words of the preview."""
        done = self.preview(source)
        keys = list(resting_on(source).order_by("pk").values_list("pk", flat=True))
        for part in chunks(keys, 500):
            live = Triple.objects.select_for_update(of=("self",)).filter(pk__in=part, state__in=LIVE)
            alike: dict[tuple[str, bool], list[Triple]] = {}
            for triple in live.select_related("project").order_by("pk"):
                alike.setdefault((triple.state, triple.is_candidate), []).append(triple)
            reason = RetireReason.PERMISSION_REVOKED
            for (_, is_candidate), triples in alike.items():
                if is_candidate:
                    move_all(triples, Step.WITHDRAW, actor=actor, at=at, reason=reason.label)
                    continue
                _discard_open_revisions(triples)
                move_all(triples, Step.REVOKE, actor=actor, at=at, reason=reason.label, retire_reason=reason)
        return done


def resting_on(source: Source) -> QuerySet[Triple]:
    """The triples of a source that somebody may still work on, or that are in use."""
    return Triple.objects.filter(Q(source=source) | Q(query__source=source), state__in=LIVE)


def compare_with_snapshot(snapshot: Snapshot, actor: User, at: datetime) -> None:
    """Enqueue the job that marks triples whose text changed in a new snapshot; none when no triple needs it."""
    if possibly_stale(snapshot).exists():
        project = snapshot.corpus.project
        enqueue(kind=MARK_STALE, params={"snapshot_id": snapshot.pk}, project=project, actor=actor, at=at)


def refresh_staleness(*, project: Project, snapshot: Snapshot, at: datetime) -> list[Triple]:
    """Do at once what the job after a freeze does; return the newly marked triples."""
    changed = (changed_in_window(snapshot, window) for window in windows(snapshot))
    return [triple for triples in changed for triple in mark_changed(snapshot, triples, at)]
