"""Importing triples, the whole file or none of it, and undoing that while nobody has worked on a draft of it.

A triple is never deleted, and where it came from stays on record; the same entry can be imported again. What a machine
wrote is a candidate: a person adopts it, and becomes its author, or rejects it.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q

from apps.accounts.actions.people import create_placeholder
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of, roles_of
from apps.audit.actions import record, record_all
from apps.common.database.bulk import chunks, reserve_ids
from apps.common.errors import Forbidden, InputErrors, Refusal
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile as File
from apps.common.text.wording import plural
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.execution.import_reading import ImportRefused
from apps.corpus.models import Corpus, Import
from apps.triples import rules
from apps.triples.enums import State, Step
from apps.triples.execution.staleness import candidate_adopted
from apps.triples.formats import EntryRecord
from apps.triples.formats.entry import ALL, Entry
from apps.triples.models import ExpectedBlock, ImportedEntry, Rejection, Revision, Triple
from apps.triples.rules import WRITERS
from apps.triples.selectors.entry_comparison import (
    CANDIDATE,
    NEW,
    OWN_ID,
    UNCHANGED,
    EntryChange,
    EntryComparison,
    ForAll,
)
from apps.triples.selectors.imported import FIRST_SAVED, begun_of, made_by, rests_on_accepted, taken_of, untouched_of
from apps.triples.selectors.triples import locked_triple
from apps.triples.workflow import move, move_all

AT_ONCE = 500


def undo_refusal(item: Import) -> str | None:
    """Why the drafts of an applied import, and what was taken as accepted of them, cannot be withdrawn."""
    touched = (
        made_by(item)
        .filter(state=State.DRAFT, round=0)
        .aggregate(
            adopted=Count("pk", filter=Q(adopted_by__isnull=False)),
            edited=Count("pk", filter=~Q(edit_version=FIRST_SAVED)),
        )
    )
    refusal = rules.undo_refusal(begun=begun_of(item).count(), **touched)
    taken = taken_of(item)
    return refusal or next((reason for rests in rests_on_accepted if (reason := rests(taken))), None)


def withdraw_made(item: Import, *, actor: User, at: datetime) -> None:
    """Withdraw what an import made, drafts and what was taken as accepted, and reject its candidates.

    Raises ImportRefused.
    """
    if Role.LEAD not in roles_of(actor, item.project):
        raise Forbidden(rules.NEEDS_LEAD, code="needs_lead")
    keys = _lock_made(item)
    ImportRefused.raise_for(undo_refusal(item), code="import_not_undone")
    _withdraw(item, keys, actor, at)


def withdraw_untouched(item: Import, *, actor: User, at: datetime) -> int:
    """Withdraw what nobody has touched of an import; returns how many stay. Raises ImportRefused for none."""
    made = _lock_made(item)
    keys = list(untouched_of(item).order_by("pk").values_list("pk", flat=True))
    if not keys:
        raise ImportRefused(rules.NONE_UNTOUCHED, code="import_not_undone")
    _withdraw(item, keys, actor, at)
    return len(made) - len(keys)


def _lock_made(item: Import) -> list[int]:
    """The keys of what an import made, locked: who writes in one or submits it meanwhile is seen only then."""
    Project.objects.select_for_update(no_key=True).get(pk=item.project_id)
    return list(made_by(item).select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True))


def _withdraw(item: Import, keys: list[int], actor: User, at: datetime) -> None:
    reason = f"The import of {item.upload.filename} was undone."
    for part in chunks(keys, AT_ONCE):
        drafts = list(Triple.objects.filter(pk__in=part).select_related("project").order_by("pk"))
        rejected = partial(Rejection, reason=reason, rejected_by=actor, rejected_at=at)
        Rejection.objects.bulk_create(rejected(triple=draft) for draft in drafts if draft.is_candidate)
        taken = [draft for draft in drafts if draft.state == State.ACCEPTED]
        move_all([draft for draft in drafts if draft not in taken], Step.WITHDRAW, actor=actor, at=at, reason=reason)
        move_all(taken, Step.UNDO, actor=actor, at=at, reason=reason)


@transaction.atomic
def import_triples(
    *,
    project: Project,
    rows: Iterable[EntryRecord],
    file: File,
    errors: ErrorList,
    corpus: Corpus | None = None,
    machine: str = "",
    for_all: ForAll = ForAll(),  # noqa: B008 - a value that nobody changes
    actor: User,
    at: datetime,
) -> ImportPlan:
    """Import a file's entries as drafts, those that a machine wrote as candidates.

    The author of a draft is who the entry or `for_all` names, else `actor`. A name of nobody here stays on record as a
    person outside of the project, see `create_placeholder`; then `actor` writes on.

    Raises InputErrors, and then nothing is changed. An entry that exists already is left as it is; a file in which
    every entry exists changes nothing and records nothing.
    """
    Project.objects.select_for_update().get(pk=project.pk)
    comparison = EntryComparison(
        project=project, file=file, errors=errors, corpus=corpus, machine=machine, for_all=for_all
    )
    plan = take_entries(comparison, rows, actor=actor, at=at)
    if errors:
        raise InputErrors(list(errors), capped=errors.unlisted > 0)
    if not plan.changes_nothing:
        after = {"file": file.name, **plan.counts}
        record(project=project, actor=actor, action="triples.imported", obj=project, after=after, at=at)
    return plan


LONGEST_REASON = 2_000


class CandidateRefused(Refusal):
    """The candidate can be neither adopted nor rejected."""


@transaction.atomic
def adopt_candidate(*, project: Project, triple_id: int, person: User, at: datetime) -> Triple:
    """Make the person the author of the draft. Its importer has no part in it from then on."""
    triple = _locked_candidate(project, triple_id, person)
    triple.revisions.filter(submitted_at=None).update(author=person)
    move(triple, Step.ADOPT, actor=person, at=at, author=person, adopted_by=person)
    candidate_adopted(triple, by=person, at=at)
    return triple


@transaction.atomic
def reject_candidate(*, project: Project, triple_id: int, person: User, reason: str, at: datetime) -> Triple:
    """Withdraw the candidate, with the reason on the record. The same entry is not imported again."""
    triple = _locked_candidate(project, triple_id, person)
    reason = reason.strip()
    if not reason:
        raise CandidateRefused("A rejection needs a reason.", code="reason_missing")
    if len(reason) > LONGEST_REASON:
        raise CandidateRefused(f"A reason has at most {LONGEST_REASON:,} characters.", code="reason_too_long")
    Rejection.objects.create(triple=triple, reason=reason, rejected_by=person, rejected_at=at)
    return move(triple, Step.WITHDRAW, actor=person, at=at, reason=reason)


def _locked_candidate(project: Project, triple_id: int, person: User) -> Triple:
    triple = locked_triple(project, triple_id)
    if reason := rules.candidate_refusal(roles_of(person, project), triple):
        error = Forbidden if reason == rules.NEEDS_WRITER else CandidateRefused
        raise error(reason, code="not_a_candidate")
    return triple


WORDS = [NEW, CANDIDATE, UNCHANGED]
Progress = Callable[[int], None]


def plan_entries(
    comparison: EntryComparison,
    rows: Iterable[EntryRecord],
    progress: Progress = lambda done: None,
    write: Callable[[list[EntryChange]], None] = lambda changes: None,
) -> ImportPlan:
    """The plan of importing these entries. `write` gets those to add, some at a time, as long as there is no fault."""
    plan, reviewed = ImportPlan(WORDS), 0
    for chunk in comparison.changes(rows):
        for change in chunk:
            entry = change.row.entry
            plan.add(change.word, entry.id or f"line {change.row.record.line}", entry.question, entry.expected_answer)
        reviewed += sum(change.word == NEW and bool(change.row.entry.reviewed_by) for change in chunk)
        if not comparison.errors:
            write([change for change in chunk if change.word != UNCHANGED])
        progress(plan.rows)
    if reviewed:
        plan.notes.append(
            f"Reviewed elsewhere, as the file says: {plural(reviewed, 'Q&A')}. After the import a lead can take them as"
            " accepted."
        )
    comparison.errors.sort()
    plan.take_errors(comparison.errors)
    return plan


def take_entries(comparison: EntryComparison, rows: Iterable[EntryRecord], *, actor: User, at: datetime) -> ImportPlan:
    """Write the drafts, in the caller's transaction, which has locked the project.

    Faults are only counted: the caller rolls back.
    """
    return plan_entries(comparison, rows, write=_Writer(comparison, actor, at).write)


class _Writer:
    """Writes drafts with their origin, a few hundred in a fixed number of statements."""

    def __init__(self, comparison: EntryComparison, actor: User, at: datetime) -> None:
        self.comparison = comparison
        self.actor = actor
        self.at = at
        self.writers = set(members_of(comparison.project, *WRITERS).order_by().values_list("pk", flat=True))
        self.outside: dict[str, User] = {}
        last = Triple.objects.filter(project=comparison.project).aggregate(last=Max("number"))["last"]
        self.keeps_numbers = last is None
        self.last = last or 0

    def write(self, changes: list[EntryChange]) -> None:
        if not changes:
            return
        keys = zip(reserve_ids(Triple, len(changes)), reserve_ids(Revision, len(changes)), changes, strict=True)
        triples, revisions, blocks, origins = [], [], [], []
        for triple_id, revision_id, change in keys:
            author = self._author(change)
            triples.append(self._triple(triple_id, revision_id, change, author))
            revisions.append(self._revision(triple_id, revision_id, change, author))
            origins.append(self._origin(triple_id, change))
            blocks += [
                ExpectedBlock(
                    revision_id=revision_id,
                    version_id=choice.version_id,
                    order=order,
                    spans=[list(span) for span in choice.spans],
                )
                for order, choice in enumerate(change.blocks)
            ]
        Triple.objects.bulk_create(triples)
        Revision.objects.bulk_create(revisions)
        ExpectedBlock.objects.bulk_create(blocks)
        ImportedEntry.objects.bulk_create(origins)
        started: list[Any] = [(triple, None, {"state": State.DRAFT.value}) for triple in triples]
        record_all(
            project=self.comparison.project, actor=self.actor, action="triple.start", changes=started, at=self.at
        )

    def _number(self, entry: Entry) -> int:
        """The number that the entry's id names, in a project that had no triple yet; else the next one."""
        own = OWN_ID.match(entry.id)
        if self.keeps_numbers and own and int(own[1]) > self.last:
            self.last = int(own[1])
        else:
            self.last += 1
        return self.last

    def _author(self, change: EntryChange) -> User:
        """Who wrote the entry: a member, else a placeholder for the name; where nobody is named, who imports it."""
        if isinstance(change.author, User):
            return change.author
        name = change.author
        if name and name not in self.outside:
            self.outside[name] = create_placeholder(
                project=self.comparison.project, name=name, actor=self.actor, at=self.at
            )
        return self.outside[name] if name else self.actor

    def _triple(self, triple_id: int, revision_id: int, change: EntryChange, author: User) -> Triple:
        entry = change.row.entry
        return Triple(
            pk=triple_id,
            project=self.comparison.project,
            number=self._number(entry),
            author=author,
            snapshot=change.snapshot,
            query_id=change.query_id,
            source_id=change.source_id,
            domain=change.domain,
            difficulty=change.difficulty,
            is_machine_written=change.word == CANDIDATE,
            current_id=revision_id,
            edit_version=1,
            created_at=self.at,
            changed_at=self.at,
        )

    def _revision(self, triple_id: int, revision_id: int, change: EntryChange, author: User) -> Revision:
        """Its author writes on where they can; otherwise who imported it does."""
        entry = change.row.entry
        return Revision(
            pk=revision_id,
            triple_id=triple_id,
            number=1,
            author=author if author.pk in self.writers else self.actor,
            snapshot=change.snapshot,
            question=entry.question,
            answer=entry.expected_answer,
            needs_all_blocks=entry.match == ALL,
            note=entry.note,
            created_at=self.at,
            saved_at=self.at,
        )

    def _origin(self, triple_id: int, change: EntryChange) -> ImportedEntry:
        entry = change.row.entry
        return ImportedEntry(
            triple_id=triple_id,
            file=self.comparison.file.name[:255],
            line=change.row.record.line,
            machine=entry.machine or self.comparison.machine,
            claims=claims_of(entry),
            digest=change.digest,
            imported_by=self.actor,
            imported_at=self.at,
        )


def claims_of(entry: Entry) -> dict[str, Any]:
    """The entry's claims beyond its wording, as they are stored: other people's, not checked here."""
    stated: dict[str, Any] = {
        "id": entry.id,
        "added_by": entry.added_by,
        "added_at": entry.added_at,
        "reviewed_by": list(entry.reviewed_by),
        "resolution": entry.resolution,
        "adopted_by": entry.adopted_by,
    }
    claims = {name: value for name, value in stated.items() if value}
    if entry.split is not None:
        claims["split"] = entry.split
    return claims
