"""Importing a file's entries as drafts, in chunks."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from django.db.models import Max

from apps.accounts.models import User
from apps.audit.actions import record_all
from apps.common.database.bulk import reserve_ids
from apps.corpus.core.import_plans import ImportPlan
from apps.triples.enums import State
from apps.triples.formats import EntryRecord
from apps.triples.formats.entry import ALL, Entry
from apps.triples.models import ExpectedBlock, ImportedEntry, Revision, Triple
from apps.triples.selectors.entry_comparison import CANDIDATE, NEW, OWN_ID, UNCHANGED, EntryChange, EntryComparison

WORDS = [NEW, CANDIDATE, UNCHANGED]
Progress = Callable[[int], None]


def plan_entries(
    comparison: EntryComparison,
    rows: Iterable[EntryRecord],
    progress: Progress = lambda done: None,
    write: Callable[[list[EntryChange]], None] = lambda changes: None,
) -> ImportPlan:
    """The plan of importing these entries. `write` gets those to add, some at a time, as long as there is no fault."""
    plan = ImportPlan(WORDS)
    for chunk in comparison.changes(rows):
        for change in chunk:
            entry = change.row.entry
            plan.add(change.word, entry.id or f"line {change.row.record.line}", entry.question, entry.expected_answer)
        if not comparison.errors:
            write([change for change in chunk if change.word != UNCHANGED])
        progress(plan.rows)
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
        last = Triple.objects.filter(project=comparison.project).aggregate(last=Max("number"))["last"]
        self.keeps_numbers = last is None
        self.last = last or 0

    def write(self, changes: list[EntryChange]) -> None:
        if not changes:
            return
        keys = zip(reserve_ids(Triple, len(changes)), reserve_ids(Revision, len(changes)), changes, strict=True)
        triples, revisions, blocks, origins = [], [], [], []
        for triple_id, revision_id, change in keys:
            triples.append(self._triple(triple_id, revision_id, change))
            revisions.append(self._revision(triple_id, revision_id, change))
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

    def _triple(self, triple_id: int, revision_id: int, change: EntryChange) -> Triple:
        entry = change.row.entry
        return Triple(
            pk=triple_id,
            project=self.comparison.project,
            number=self._number(entry),
            author=self.actor,
            snapshot=change.snapshot,
            query_id=change.query_id,
            source_id=change.source_id,
            domain=entry.domain,
            difficulty=entry.difficulty,
            is_machine_written=change.word == CANDIDATE,
            current_id=revision_id,
            edit_version=1,
            created_at=self.at,
            changed_at=self.at,
        )

    def _revision(self, triple_id: int, revision_id: int, change: EntryChange) -> Revision:
        entry = change.row.entry
        return Revision(
            pk=revision_id,
            triple_id=triple_id,
            number=1,
            author=self.actor,
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
