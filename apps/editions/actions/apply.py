"""Deciding on changed passages, taking a new edition of a corpus, and running its systems again."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import Max

from apps.accounts.models import User
from apps.common.database.batched_reads import answer_to
from apps.common.errors import InputErrors
from apps.corpus.enums import ImportState
from apps.corpus.execution import import_reading
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshot_before
from apps.editions.enums import Choice
from apps.editions.execution.apply import (
    TAKE,
    TAKE_IMPORT,
    EditionRefused,
    Taken,
    TakeOrder,
    corpus_of,
    import_edition_refusal,
    take,
    take_import,
)
from apps.editions.models import Decision
from apps.editions.selectors.applied import to_run_question
from apps.jobs.actions.jobs import enqueue
from apps.jobs.models import Job
from apps.retrieval.actions.runs import request_run
from apps.retrieval.models import Run

BATCH = 1_000


@transaction.atomic
def decide(*, choices: Mapping[tuple[int, str], Choice], actor: User, at: datetime) -> None:
    """Keep what happens to the grades of passages, each by its old block version and the digest of its new text.

    A later decision replaces an earlier one.
    """
    values = {"decided_by": actor, "decided_at": at}
    Decision.objects.bulk_create(
        [
            Decision(version_id=version, text_digest=digest, choice=choice, **values)
            for (version, digest), choice in choices.items()
        ],
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["version", "text_digest"],
        update_fields=["choice", *values],
    )


@transaction.atomic
def run_again(*, snapshot_id: int, actor: User, at: datetime) -> list[Run]:
    """Queue a run on this snapshot for each system that Karat ran on the one before it, as deep as there.

    Systems outside Karat are left out: their index has to have the new texts first. Raises EditionRefused.
    """
    snapshot = Snapshot.objects.select_related("corpus__project").select_for_update(of=("self",)).get(pk=snapshot_id)
    before = snapshot_before(snapshot)
    systems = answer_to(before, to_run_question(before, snapshot)).here if before is not None else []
    if before is None or not systems:
        raise EditionRefused("No system is left to run again on this snapshot.", code="nothing_to_run")
    runs = []
    for system in systems:
        depth = Run.objects.filter(snapshot=before, system=system).aggregate(most=Max("depth"))["most"]
        project = snapshot.corpus.project
        runs.append(
            request_run(project=project, system_id=system.pk, snapshot_id=snapshot.pk, depth=depth, actor=actor, at=at)
        )
    return runs


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
    EditionRefused.raise_for(import_edition_refusal(item), code="edition_refused")
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
