"""What authors and leads do to a triple outside of its reviews. Submitting and all that follows is in apps.review."""

from datetime import datetime

from django.db import transaction
from django.db.models import Max

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.errors import Forbidden, Refusal
from apps.corpus.models import BlockVersion, Snapshot, SnapshotBlock
from apps.queries.models import Query, Source
from apps.triples import rules
from apps.triples.drafting import EMPTY, BlockChoice, Wording
from apps.triples.enums import RetireReason, State, Step
from apps.triples.evidence import moved
from apps.triples.models import ExpectedBlock, Revision, Triple
from apps.triples.selectors import changed_blocks, expected_blocks, locked_triple, open_revision
from apps.triples.workflow import move


class DraftRefused(Refusal):
    """The draft cannot be saved, withdrawn or reopened."""


class EditConflict(Refusal):
    """Somebody, or the same person in another tab, saved in between."""


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
) -> Triple:
    """A new draft: from a block (a wording that holds one), from a query (its words and metadata), or from nothing."""
    if query is not None:
        wording = _from_query(wording, query)
    Project.objects.select_for_update().get(pk=project.pk)
    last = Triple.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0
    triple = Triple.objects.create(
        project=project,
        number=last + 1,
        author=author,
        snapshot=snapshot,
        query=query,
        parent=parent,
        is_machine_written=is_machine_written,
        created_at=at,
        changed_at=at,
    )
    revision = _next_revision(triple, author, snapshot, at)
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
    return Revision.objects.create(
        triple=triple, number=last + 1, author=author, snapshot=snapshot, created_at=at, saved_at=at
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

    `seen_version` is the edit version that the page showed, so that two tabs cannot overwrite each other.
    """
    triple = locked_triple(project, triple_id)
    revision = open_revision(triple)
    if revision is None:
        raise DraftRefused("No revision is open; its wording is fixed.", code="no_open_revision")
    if reason := rules.write_refusal(author, revision):
        raise DraftRefused(reason, code="not_editable")
    if triple.edit_version != seen_version:
        raise EditConflict(
            "This draft was saved elsewhere since you opened it. Your text is still in the fields: copy what you"
            " need, then load the page again.",
            code="edit_conflict",
        )
    revision.snapshot = snapshot
    if triple.state == State.DRAFT:
        triple.snapshot = snapshot
    _write(triple, revision, wording, at)
    return triple


def _write(triple: Triple, revision: Revision, wording: Wording, at: datetime) -> None:
    _refuse_foreign(triple, revision, wording)
    revision.question, revision.answer = wording.question.strip(), wording.answer.strip()
    revision.needs_all_blocks, revision.note, revision.saved_at = wording.needs_all_blocks, wording.note, at
    revision.save(update_fields=["snapshot", "question", "answer", "needs_all_blocks", "note", "saved_at"])
    revision.expected_blocks.all().delete()
    ExpectedBlock.objects.bulk_create(
        ExpectedBlock(
            revision=revision, version_id=block.version_id, order=order, spans=[list(span) for span in block.spans]
        )
        for order, block in enumerate(wording.blocks)
    )
    triple.domain, triple.difficulty, triple.source_id = wording.domain, wording.difficulty, wording.source_id
    triple.edit_version += 1
    if triple.state == State.DRAFT:
        triple.changed_at = at  # elsewhere it says how long the state has waited, whoever is writing
    triple.save(update_fields=["snapshot", "domain", "difficulty", "source", "edit_version", "changed_at"])


def _refuse_foreign(triple: Triple, revision: Revision, wording: Wording) -> None:
    if revision.snapshot.corpus.project_id != triple.project_id:
        raise DraftRefused("The snapshot belongs to another project.", code="foreign_snapshot")
    asked = {block.version_id for block in wording.blocks}
    held = SnapshotBlock.objects.filter(snapshot=revision.snapshot_id, version__in=asked).count()
    if held != len(wording.blocks):
        raise DraftRefused("A chosen block is not in the snapshot.", code="foreign_block")
    if wording.source_id and not Source.objects.filter(pk=wording.source_id, project=triple.project_id).exists():
        raise DraftRefused("The source belongs to another project.", code="foreign_source")


def copy_wording(triple: Triple, revision: Revision) -> Wording:
    """The wording of a stored revision, to start the next one from."""
    return Wording(
        question=revision.question,
        answer=revision.answer,
        blocks=tuple(
            BlockChoice(block.version_id, tuple((start, end) for start, end in block.spans))
            for block in expected_blocks(revision)
        ),
        needs_all_blocks=revision.needs_all_blocks,
        note=revision.note,
        domain=triple.domain,
        difficulty=triple.difficulty,
        source_id=triple.source_id,
    )


def repinned(snapshot: Snapshot, revision: Revision) -> tuple[BlockChoice, ...]:
    """The expected blocks of `revision` in `snapshot`: their text there, and the evidence that it still says.

    A block that is gone is left out; evidence that the new text does not say is left out.
    """
    old = expected_blocks(revision)
    new = {
        entry.block_id: entry.version
        for entry in SnapshotBlock.objects.filter(
            snapshot=snapshot, block__in=[block.version.block_id for block in old]
        ).select_related("version")
    }
    return tuple(
        BlockChoice(version.pk, _spans_in(version, block))
        for block in old
        if (version := new.get(block.version.block_id)) is not None
    )


def _spans_in(version: BlockVersion, block: ExpectedBlock) -> tuple[tuple[int, int], ...]:
    if version.text == block.version.text:
        return tuple((start, end) for start, end in block.spans)
    return tuple(moved(block.version.text, block.spans, version.text))


def add_revision(triple: Triple, author: User, snapshot: Snapshot, at: datetime) -> Revision:
    """Open the next revision of a locked triple: worded like the current one, pinned to `snapshot`.

    The state stays, and so does `current`, until the revision is submitted.
    """
    current = triple.revision
    wording = copy_wording(triple, current)._replace(blocks=repinned(snapshot, current))
    revision = _next_revision(triple, author, snapshot, at)
    _write(triple, revision, wording, at)
    return revision


def discard_open_revision(triple: Triple) -> None:
    """Drop what was being written on a locked triple, because the triple went another way."""
    for revision in triple.revisions.filter(submitted_at=None).exclude(pk=triple.revision.pk):
        revision.expected_blocks.all().delete()
        revision.delete()


@transaction.atomic
def withdraw_draft(*, project: Project, triple_id: int, author: User, at: datetime) -> Triple:
    triple = locked_triple(project, triple_id)
    if reason := rules.withdraw_refusal(author, triple):
        raise DraftRefused(reason, code="not_withdrawable")
    return move(triple, Step.WITHDRAW, actor=author, at=at)


@transaction.atomic
def reopen_as_draft(*, project: Project, triple_id: int, author: User, snapshot: Snapshot, at: datetime) -> Triple:
    """A dropped triple starts again as a draft: a new revision, worded like the last, on `snapshot`."""
    triple = locked_triple(project, triple_id)
    if reason := rules.reopen_refusal(author, triple):
        raise DraftRefused(reason, code="not_reopenable")
    revision = add_revision(triple, author, snapshot, at)
    return move(triple, Step.REOPEN, actor=author, at=at, current=revision, snapshot=snapshot)


@transaction.atomic
def retire_triple(
    *, project: Project, triple_id: int, lead: User, roles: frozenset[str], reason: RetireReason, at: datetime
) -> Triple:
    triple = locked_triple(project, triple_id)
    if refusal := rules.retire_refusal(roles, triple):
        error = Forbidden if refusal == rules.NEEDS_LEAD else RetireRefused
        raise error(refusal, code="not_retirable")
    return move(triple, Step.RETIRE, actor=lead, at=at, reason=reason.label, retire_reason=reason)


@transaction.atomic
def mark_stale(*, project: Project, triple_id: int, at: datetime) -> Triple:
    """Mark an accepted triple whose block changed. One that is marked already, or left the state, stays as it is."""
    triple = locked_triple(project, triple_id)
    if triple.state != State.ACCEPTED or triple.is_stale:
        return triple
    return move(triple, Step.MARK_STALE, actor=None, at=at)


def refresh_staleness(*, project: Project, snapshot: Snapshot, at: datetime) -> list[Triple]:
    """Mark every accepted triple whose expected text is another, or gone, in `snapshot`; returns the newly marked."""
    found = sorted({triple for triple, _ in changed_blocks(project, snapshot)})
    fresh = Triple.objects.filter(pk__in=found, is_stale=False).values_list("pk", flat=True)
    return [mark_stale(project=project, triple_id=pk, at=at) for pk in sorted(fresh)]
