"""Importing triples: the whole file, or none of it."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.errors import InputErrors
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile as File
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.models import Corpus
from apps.triples.execution.ingest import take_entries
from apps.triples.formats import EntryRecord
from apps.triples.selectors.entry_comparison import EntryComparison


@transaction.atomic
def import_triples(
    *,
    project: Project,
    rows: Iterable[EntryRecord],
    file: File,
    errors: ErrorList,
    corpus: Corpus | None = None,
    machine: str = "",
    actor: User,
    at: datetime,
) -> ImportPlan:
    """Import a file's entries as drafts of `actor`, those that a machine wrote as candidates.

    Raises InputErrors, and then nothing is changed. An entry that exists already is left as it is; a file in which
    every entry exists changes nothing and records nothing.
    """
    Project.objects.select_for_update().get(pk=project.pk)
    comparison = EntryComparison(project=project, file=file, errors=errors, corpus=corpus, machine=machine)
    plan = take_entries(comparison, rows, actor=actor, at=at)
    if errors:
        raise InputErrors(list(errors), capped=errors.unlisted > 0)
    if not plan.changes_nothing:
        after = {"file": file.name, **plan.counts}
        record(project=project, actor=actor, action="triples.imported", obj=project, after=after, at=at)
    return plan
