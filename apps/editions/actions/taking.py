"""Taking a new edition of a corpus, from an import in its preview or from a snapshot."""

from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from apps.accounts.models import User
from apps.common.errors import InputErrors
from apps.corpus.enums import ImportState
from apps.corpus.execution import import_reading
from apps.corpus.models import Snapshot
from apps.editions.execution.import_editions import corpus_of, import_edition_refusal
from apps.editions.execution.jobs import TAKE, TAKE_IMPORT
from apps.editions.execution.taking import EditionRefused, Taken, TakeOrder, take, take_import
from apps.jobs.actions.jobs import enqueue
from apps.jobs.models import Job

AT_ONCE_ROWS = 2_000
AT_ONCE_BLOCKS = 10_000


class RequestedTake(NamedTuple):
    """The result of a request: what was taken, or the job that takes it. Neither when the file has mistakes now."""

    taken: Taken | None = None
    job: Job | None = None


@transaction.atomic
def take_snapshot(*, snapshot_id: int, order: TakeOrder, actor: User, at: datetime) -> RequestedTake:
    """Take the edition of a snapshot beside the one before it: at once when it is small, else in a job.

    Grades come along, changed and new pairs become a pool and, with `order.with_round`, a round, and drafts move.
    """
    snapshot = Snapshot.objects.select_related("corpus__project").get(pk=snapshot_id)
    if snapshot.block_count <= AT_ONCE_BLOCKS:
        return RequestedTake(taken=take(snapshot_id=snapshot_id, order=order, actor=actor, at=at))
    params = {"snapshot_id": snapshot_id, "order": order.as_json()}
    title = f"Take {snapshot.name}"[:200]
    project = snapshot.corpus.project
    return RequestedTake(job=enqueue(kind=TAKE, params=params, project=project, actor=actor, at=at, title=title))


@transaction.atomic
def take_imported(*, import_id: int, order: TakeOrder, actor: User, at: datetime) -> RequestedTake:
    """Apply an import, freeze the corpus and take the edition: all of it or nothing. A large one in a job.

    When the project has changed so that the file has mistakes now, the import becomes faulty and lists them.
    """
    item = import_reading.locked(import_id)
    if reason := import_edition_refusal(item):
        raise EditionRefused(reason, code="edition_refused")
    corpus = corpus_of(item)
    assert corpus is not None
    if item.plan["rows"] > AT_ONCE_ROWS or corpus.blocks.count() > AT_ONCE_BLOCKS:
        item.state = ImportState.APPLYING
        params = {"import_id": item.pk, "order": order.as_json()}
        title = f"Take {item.upload.filename}"[:200]
        item.job = enqueue(kind=TAKE_IMPORT, params=params, project=item.project, actor=actor, at=at, title=title)
        item.save(update_fields=["state", "job"])
        return RequestedTake(job=item.job)
    try:
        return RequestedTake(taken=take_import(import_id=item.pk, order=order, actor=actor, at=at))
    except InputErrors as errors:
        import_reading.note_faults(import_id=item.pk, errors=errors)
        return RequestedTake()
