import pytest
from celery import Task

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.database.functions import from_now
from apps.jobs.actions.jobs import JobRefused, cancel_job, enqueue, retry_job
from apps.jobs.models import Job
from apps.jobs.selectors.job_kinds import UnknownKind
from tests.factories import AT, lead_of, make_member
from tests.jobs.factories import make_job
from tests.jobs.kinds import effects
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


def running(job: Job) -> Job:
    Job.objects.filter(pk=job.pk).update(state="running", attempt=1, lease_expires_at=from_now(60))
    return Job.objects.get(pk=job.pk)


def test_a_job_takes_the_title_of_its_kind_unless_it_has_one_and_its_kind_must_be_registered():
    plain = make_job()
    named = enqueue(kind="test.once", params={}, project=None, actor=None, at=AT, title="Pool of May")

    assert (plain.title, named.title) == ("One effect", "Pool of May")
    with pytest.raises(UnknownKind):
        enqueue(kind="test.unheard", params={}, project=None, actor=None, at=AT)


def test_enqueue_writes_its_event(project):
    job = make_job(project=project, actor=lead_of(project))

    event = Event.objects.get(action="job.queued")
    assert (event.project, event.actor, event.object_id) == (project, lead_of(project), str(job.pk))
    assert event.after == {"state": "queued", "kind": "test.once"}


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_away_does_not_fail_the_request(monkeypatch):
    def broken(*args, **kwargs):
        raise OSError("connection refused")

    monkeypatch.setattr(Task, "apply_async", broken)

    job = make_job()

    assert Job.objects.get(pk=job.pk).state == "queued"


@pytest.mark.django_db(transaction=True)
def test_the_message_carries_only_the_id(monkeypatch):
    sent = []
    monkeypatch.setattr(Task, "apply_async", lambda self, args, **options: sent.append(args))

    job = make_job("test.once", secret="not for the broker")

    assert sent == [(job.pk,)]


def test_a_waiting_job_is_cancelled_at_once(project):
    job = make_job(project=project)

    cancelled = cancel_job(job_id=job.pk, actor=lead_of(project), at=AT)

    assert (cancelled.state, cancelled.finished_at) == ("cancelled", AT)
    assert run_jobs() == []
    assert effects(job.pk) == []


def test_a_running_job_is_requested_to_stop_once(project):
    job = running(make_job(project=project))

    asked = cancel_job(job_id=job.pk, actor=lead_of(project), at=AT)

    assert (asked.state, asked.cancel_requested_at, asked.is_cancelling) == ("running", AT, True)
    assert Event.objects.filter(action="job.cancel_requested").count() == 1
    with pytest.raises(JobRefused, match="already stopping"):
        cancel_job(job_id=job.pk, actor=lead_of(project), at=AT)


def test_whoever_started_a_job_may_cancel_it_and_others_may_not(project):
    annotator = make_member(project, Role.ANNOTATOR)
    other = make_member(project, Role.ANNOTATOR)
    job = make_job(project=project, actor=annotator)

    with pytest.raises(JobRefused, match="Only a lead or the person who started"):
        cancel_job(job_id=job.pk, actor=other, at=AT)
    assert cancel_job(job_id=job.pk, actor=annotator, at=AT).state == "cancelled"


def test_a_job_that_is_done_is_neither_cancelled_nor_run_again(project):
    job = make_job(project=project)
    run_jobs()

    with pytest.raises(JobRefused, match="This job has already ended: it is done"):
        cancel_job(job_id=job.pk, actor=lead_of(project), at=AT)
    with pytest.raises(JobRefused, match="this one is done"):
        retry_job(job_id=job.pk, actor=lead_of(project), at=AT)


def test_a_failed_job_is_run_again_by_a_lead_with_three_more_attempts_and_keeps_its_parts(project):
    job = make_job("test.chunks", project=project, parts=2, raises_at=1)
    Job.objects.filter(pk=job.pk).update(max_attempts=1)
    (failed,) = run_jobs()
    with pytest.raises(JobRefused, match="Only a lead can retry"):
        retry_job(job_id=job.pk, actor=make_member(project, Role.ANNOTATOR), at=AT)

    again = retry_job(job_id=job.pk, actor=lead_of(project), at=AT)

    assert failed.state == "failed"
    assert (again.state, again.attempt, again.max_attempts, again.error) == ("queued", 1, 4, "")
    (done,) = run_jobs()
    assert (done.state, done.attempt) == ("done", 2)
    assert effects(job.pk) == ["part 0", "part 1", "end"]
