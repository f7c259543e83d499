"""Killing the worker while it runs systems again makes no run, no ranking and no score twice."""

import pytest
from django.db.models import Count
from django.utils import timezone

from apps.evaluation.enums import RUN_AGAIN
from apps.evaluation.models import Evaluation, Score
from apps.goldsets.enums import VersionState
from apps.goldsets.selectors.questions import questions_of
from apps.jobs.actions.jobs import retry_job
from apps.jobs.models import Job, JobChunk
from apps.retrieval.models import Ranking, Run
from tests.evaluation.test_run_again import release_on_newer, run_on, scored_system
from tests.factories import lead_of
from tests.goldsets.factories import make_bench, make_version
from tests.jobs.workers import wait_until
from tests.triples.factories import TEXTS

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SYSTEMS, BLOCKS, KILLS = 4, 1_500, 5


def test_a_job_that_runs_systems_again_does_nothing_twice_after_kills(workers):
    version = make_version(VersionState.RELEASED, make_bench(triples=2), test_share=0.0)
    for number in range(SYSTEMS):
        scored_system(version, f"BM25 {number}", k1=1 + number / 10)
    many = {f"b{number:04}": f"Passage {number} of the handbook, on {number % 97}." for number in range(BLOCKS)}
    later = release_on_newer(version, TEXTS | many)
    job = Job.objects.get(kind=RUN_AGAIN)

    for _ in range(KILLS):
        before = JobChunk.objects.filter(job=job).count()
        worker = workers.start()
        wait_until(lambda before=before: has_moved_on(job, before), "work")
        workers.kill(worker)
    workers.start()
    wait_until(lambda: press_retry_if_failed(job) == "done", "the end of the job")
    workers.stop()

    job.refresh_from_db()
    assert job.attempt > KILLS, "the kills hit nobody"
    runs = Run.objects.filter(snapshot=later.snapshot)
    assert sorted(runs.values_list("system__name", "state")) == [(f"BM25 {n}", "complete") for n in range(SYSTEMS)]
    questions = len(questions_of(later))
    assert {row["n"] for row in Ranking.objects.filter(run__in=runs).values("run").annotate(n=Count("pk"))} == {
        questions
    }
    evaluations = Evaluation.objects.filter(version=later, run__in=runs)
    assert evaluations.count() == evaluations.exclude(scored_at=None).count() == 2 * SYSTEMS
    once = Score.objects.filter(evaluation__in=evaluations).values("evaluation", "measure").annotate(n=Count("pk"))
    assert {row["n"] for row in once} == {1}
    for run in runs:  # an undisturbed run of the same system gives the same bits
        assert run_on(later, run.system).digest == run.digest


def has_moved_on(job, before):
    assert press_retry_if_failed(job) != "done", "the kill came too late"
    return JobChunk.objects.filter(job=job).count() > before


def press_retry_if_failed(job):
    """What a lead does after three attempts."""
    row = Job.objects.select_related("project").get(pk=job.pk)
    if row.state == "failed":
        retry_job(job_id=row.pk, actor=lead_of(row.project), at=timezone.now())
    return row.state
