"""Killing the worker in the middle of pooling, or of an intake, loses and doubles nothing."""

import io
import random
import time

import numpy as np
import pytest
from django.utils import timezone

from apps.jobs.actions.jobs import retry_job
from apps.jobs.models import Job, JobChunk
from apps.queries.models import Query
from apps.retrieval.actions.intake import confirm_upload, push_run, upload_run
from apps.retrieval.actions.pools import request_pool
from apps.retrieval.actions.runs import request_run
from apps.retrieval.execution.run_reading import reading_path
from apps.retrieval.models import Pool, PoolEntry, Ranking, Run
from apps.retrieval.selectors.pools import pool_runs
from apps.retrieval.selectors.runs import job_of_upload
from apps.retrieval.selectors.systems import engines_in
from tests.factories import lead_of, make_project
from tests.jobs.workers import wait_until
from tests.retrieval.factories import make_queries, make_snapshot, make_system
from tests.running_jobs import run_jobs

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SEED = 20_261_121
KILLS = 8
SHARED_KILLS = 4
QUERIES, BLOCKS, SYSTEMS = 400, 4_000, 6


@pytest.fixture
def project():
    """A corpus of common words and long queries, so that every part of the work takes its time."""
    project = make_project()
    draw = np.random.default_rng(SEED)
    words = np.array([f"word{number}" for number in range(2_000)])
    share = 1 / np.arange(1, len(words) + 1)
    share /= share.sum()

    def texts(prefix, count, length):
        return {f"{prefix}{n:04}": " ".join(draw.choice(words, length, p=share)) for n in range(count)}

    make_queries(project, texts("Q", QUERIES, 200))
    make_snapshot(project, texts("b", BLOCKS, 50))
    return project


def queue_pool(project, name):
    return request_pool(
        project=project,
        name=name,
        snapshot_id=project.corpora.get().snapshots.get().pk,
        system_ids=[system.pk for system in engines_in(project)],
        depth=20,
        actor=lead_of(project),
        at=timezone.now(),
    )


def contents(pool):
    """Every pair with what found it, runs named by their systems."""
    systems = {run.pk: run.system.name for run in pool_runs(pool)}
    rows = PoolEntry.objects.filter(pool=pool).values_list("query_id", "version_id", "found_by")
    return sorted((query, version, [(systems[run], rank) for run, rank in found]) for query, version, found in rows)


@pytest.mark.long
def test_a_pool_is_whole_and_single_after_eight_kills(workers, project):
    chance = random.Random(SEED)
    for number in range(SYSTEMS):
        make_system(project, f"BM25 {number}", k1=1 + number / 10)
    pool = queue_pool(project, "Killed")

    for _ in range(KILLS):
        before = JobChunk.objects.count()
        worker = workers.start()
        wait_until(lambda before=before: has_moved_on(project, pool, before), "work")
        time.sleep(chance.uniform(0.0, 0.25))
        assert Job.objects.get(pk=pool.job_id).state == "running", "the kill came too late"
        workers.kill(worker)
    workers.start()
    wait_until(lambda: press_retry_if_failed(project, pool) == "done", "the end of the job")
    workers.stop()

    pool.refresh_from_db()
    killed_runs = {run.system.name: run.digest for run in pool_runs(pool)}
    assert Job.objects.get(pk=pool.job_id).attempt > KILLS, "the kills hit nobody"
    assert pool.state == "complete"
    assert set(Run.objects.values_list("state", flat=True)) == {"complete"}
    assert Ranking.objects.count() == SYSTEMS * QUERIES
    assert pool.entry_count == PoolEntry.objects.count()

    control = undisturbed_twin(project)
    assert {run.system.name: run.digest for run in pool_runs(control)} == killed_runs
    assert contents(control) == contents(pool)
    assert {**control.summary, "runs": []} == {**pool.summary, "runs": []}


def has_moved_on(project, pool, before):
    press_retry_if_failed(project, pool)
    return JobChunk.objects.count() > before


def press_retry_if_failed(project, pool):
    """What a lead does after three attempts: look at the reason, press Retry."""
    job = Job.objects.get(pk=pool.job_id)
    if job.state == "failed":
        assert Pool.objects.get(pk=pool.pk).state == "failed"
        retry_job(job_id=job.pk, actor=lead_of(project), at=timezone.now())
    return job.state


def undisturbed_twin(project):
    """The same pool from runs made anew, in one go."""
    runs = [
        request_run(
            project=project,
            system_id=system.pk,
            snapshot_id=project.corpora.get().snapshots.get().pk,
            actor=lead_of(project),
            at=timezone.now(),
        )
        for system in engines_in(project)
    ]
    run_jobs()
    pool = request_pool(
        project=project,
        name="Undisturbed",
        snapshot_id=runs[0].snapshot_id,
        run_ids=[run.pk for run in runs],
        depth=20,
        actor=lead_of(project),
        at=timezone.now(),
    )
    run_jobs()
    pool.refresh_from_db()
    return pool


def test_a_run_among_workers_has_every_slice_once_after_kills(workers, project):
    chance = random.Random(SEED)
    longest = list(Query.objects.filter(project=project).values_list("text", flat=True))
    make_queries(project, {f"R{n:04}": f"{longest[n % QUERIES]} {longest[n // 2]}" for n in range(2 * QUERIES)})
    system = make_system(project)
    run = queue_run(project, system)

    crew = [workers.start() for _ in range(2)]
    for _ in range(SHARED_KILLS):
        before = Ranking.objects.filter(run=run).count()
        wait_until(lambda before=before: has_answered(project, run, before), "an answer")
        workers.kill(crew.pop(chance.randrange(2)))
        crew.append(workers.start())
    wait_until(lambda: retry_run_if_failed(project, run) == "done", "the end of the run")
    wait_until(lambda: not Job.objects.open().exists(), "the end of the helpers")
    workers.stop()

    run.refresh_from_db()
    slices = JobChunk.objects.filter(key__regex=rf"^run:{run.pk}:\d+$")
    assert (run.state, run.query_count) == ("complete", 3 * QUERIES)
    assert Ranking.objects.filter(run=run).count() == 3 * QUERIES
    assert slices.values("job").distinct().count() > 1, "nobody helped"

    control = queue_run(project, system)
    run_jobs()
    control.refresh_from_db()
    assert control.digest == run.digest


def queue_run(project, system):
    return request_run(
        project=project,
        system_id=system.pk,
        snapshot_id=project.corpora.get().snapshots.get().pk,
        actor=lead_of(project),
        at=timezone.now(),
    )


def has_answered(project, run, before):
    assert retry_run_if_failed(project, run) != "done", "the kill came too late"
    return Ranking.objects.filter(run=run).count() > before


def retry_run_if_failed(project, run):
    job = Job.objects.get(pk=run.job_id)
    if job.state == "failed":
        retry_job(job_id=job.pk, actor=lead_of(project), at=timezone.now())
    return job.state


def test_a_large_run_file_is_imported_whole_and_once_after_kills(workers, project, settings):
    settings.MEDIA_ROOT = workers.data_dir / "files"  # where the workers look
    job = push_large_run(project)

    for attempt in (1, 2):
        worker = workers.start()
        wait_until(lambda attempt=attempt: is_reading(job, attempt), "the reading")
        workers.kill(worker)
        assert not Run.objects.exists()
    workers.start()
    wait_until(lambda: Job.objects.get(pk=job.pk).is_ended, "the end of the job")
    workers.stop()

    job.refresh_from_db()
    run = Run.objects.get()
    assert (job.state, job.attempt, job.result["run_id"]) == ("done", 3, run.pk)
    assert (run.state, run.query_count) == ("complete", QUERIES)
    assert Ranking.objects.filter(run=run, length=500).count() == QUERIES


def test_a_large_run_file_is_previewed_and_imported_from_one_reading_after_kills(workers, project, settings):
    settings.MEDIA_ROOT = workers.data_dir / "files"  # where the workers look
    upload = upload_run(file=io.BytesIO(large_run().encode()), **intake_of(project))
    upload.refresh_from_db()
    job = job_of_upload(upload)

    worker = workers.start()
    wait_until(lambda: is_reading(job, 1), "the reading")
    workers.kill(worker)
    assert not reading_path(upload).exists()
    worker = workers.start()
    wait_until(lambda: Job.objects.get(pk=job.pk).state == "done", "the end of the reading")

    upload.place.write_bytes(b"nobody reads this")
    job = confirm_upload(upload=upload, skip_unknown=False, actor=lead_of(project), at=timezone.now())
    wait_until(lambda: Job.objects.get(pk=job.pk).state != "queued", "the import")
    workers.kill(worker)
    workers.start()
    wait_until(lambda: Job.objects.get(pk=job.pk).is_ended, "the end of the import")
    workers.stop()

    run = Run.objects.get()
    assert Job.objects.get(pk=job.pk).result["run_id"] == run.pk
    assert (run.state, run.query_count) == ("complete", QUERIES)
    assert Ranking.objects.filter(run=run, length=500).count() == QUERIES


def push_large_run(project):
    return push_run(trec=large_run(), skip_unknown=False, at_once=False, **intake_of(project))


def large_run():
    pairs = ((query, block) for query in range(QUERIES) for block in range(500))
    return "".join(f"Q{query:04} Q0 b{block:04} {block} {-block} theirs\n" for query, block in pairs)


def intake_of(project):
    """Whose run it is, and on what."""
    return {
        "project": project,
        "snapshot": project.corpora.get().snapshots.get(),
        "details": {"system": "", "tag": "", "note": "", "commit": ""},
        "actor": lead_of(project),
        "at": timezone.now(),
    }


def is_reading(job, attempt):
    row = Job.objects.get(pk=job.pk)
    assert row.state != "done", "the kill came too late"
    return (row.state, row.attempt) == ("running", attempt) and row.done > 0
