"""Killing the worker in the middle of a freeze or an import leaves nothing half done."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from apps.corpus.actions import corpora, imports
from apps.corpus.execution import search_index
from apps.corpus.models import Block, Snapshot, SnapshotBlock
from apps.corpus.selectors import search
from apps.jobs.models import Job, JobChunk
from tests.corpus.factories import make_corpus, make_snapshot
from tests.factories import lead_of, make_project
from tests.jobs.workers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

BLOCKS = 20_000
LEASE = {"KARAT_JOB_LEASE": "8"}
"""While it reads or writes so much, a worker on a busy machine may not say for two seconds that it lives."""


def test_a_large_corpus_is_frozen_whole_and_once_after_kills(workers):
    workers.environment |= LEASE
    texts = {f"b{number:05}": f"Sentence number {number} about keys. " * 20 for number in range(BLOCKS)}
    corpus = make_corpus(texts=texts)
    asked = corpora.request_freeze(corpus_id=corpus.pk, actor=lead_of(corpus.project), at=timezone.now())

    for attempt in (1, 2):
        worker = workers.start()
        wait_until(lambda attempt=attempt: is_reading(asked.job, attempt), "the reading")
        workers.kill(worker)
        assert not Snapshot.objects.exists()
        assert not SnapshotBlock.objects.exists()
    workers.start()
    wait_until(lambda: Job.objects.get(pk=asked.job.pk).is_ended, "the end of the job")
    workers.stop()

    job, snapshot = Job.objects.get(pk=asked.job.pk), Snapshot.objects.get()
    control = make_snapshot(corpus=make_corpus(corpus.project, texts))
    assert (job.state, job.attempt, job.result["snapshot_id"]) == ("done", 3, snapshot.pk)
    assert (snapshot.digest, snapshot.entries.count()) == (control.digest, BLOCKS)
    assert JobChunk.objects.filter(job=job).count() == BLOCKS // search_index.PART
    assert [entry.block.outside_id for entry in search.search_blocks(snapshot, "19999")] == ["b19999"]


def test_a_large_file_is_imported_whole_and_once_after_kills(workers, settings):
    workers.environment |= LEASE
    settings.MEDIA_ROOT = workers.data_dir / "files"
    project = make_project()
    row = '{"block_id": "b%05d", "document_id": "d", "text": "Sentence number %d about keys."}'
    file = SimpleUploadedFile("blocks.jsonl", "\n".join(row % (n, n) for n in range(BLOCKS * 2)).encode())
    options = {"format": "jsonl", "ids": "file", "corpus": "+", "name": "Handbook", "mode": "replace"}
    lead, at = lead_of(project), timezone.now()
    item = imports.start_import(project=project, kind="corpus", file=file, options=options, actor=lead, at=at)
    job = imports.confirm_import(import_id=item.pk, actor=lead, at=at).job

    for attempt in (1, 2):
        worker = workers.start()
        wait_until(lambda attempt=attempt: is_at(job, attempt), "the import")
        workers.kill(worker)
        assert not Block.objects.exists()
    workers.start()
    wait_until(lambda: Job.objects.get(pk=job.pk).is_ended, "the end of the job")
    workers.stop()

    job.refresh_from_db()
    assert (job.state, job.attempt, job.result) == (
        "done",
        3,
        {"new": BLOCKS * 2, "changed": 0, "unchanged": 0, "gone": 0},
    )
    assert Block.objects.filter(current__block__isnull=False).count() == BLOCKS * 2


def is_reading(job, attempt):
    row = Job.objects.get(pk=job.pk)
    assert row.state != "done", "the kill came too late"
    return (row.state, row.attempt) == ("running", attempt) and JobChunk.objects.filter(job=job).count() >= attempt


def is_at(job, attempt):
    """Neither later would become true any more: it would be waited for in vain, without saying why."""
    row = Job.objects.get(pk=job.pk)
    assert row.attempt <= attempt, f"attempt {attempt} was over before anybody looked: {row.state}, {row.attempt}"
    assert not row.is_ended, f"the kill came too late: {row.state} in attempt {row.attempt}"
    return row.attempt == attempt
