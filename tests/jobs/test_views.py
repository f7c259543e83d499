import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.common.database.functions import from_now
from apps.jobs.models import Job
from tests.factories import lead_of, make_member, make_project
from tests.jobs.factories import make_job
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead(client, project):
    client.force_login(lead_of(project))
    return client


def url(name: str, job: Job) -> str:
    return reverse(f"jobs:{name}", args=[job.project.slug, job.pk])


def running(job: Job) -> Job:
    Job.objects.filter(pk=job.pk).update(
        state="running",
        attempt=1,
        lease_expires_at=from_now(60),
        started_at=from_now(-40),
        progress_at=from_now(0),
        done=412_000,
        total=824_000,
        progress_text="block 412,000",
    )
    return Job.objects.get(pk=job.pk)


@pytest.mark.parametrize("rows", [1, 3])
def test_the_list_runs_as_many_queries_for_one_job_as_for_three(lead, project, rows, django_assert_num_queries):
    for _ in range(rows):
        make_job(project=project, actor=lead_of(project))

    with django_assert_num_queries(5):
        page = lead.get(reverse("jobs:list", args=[project.slug]))

    assert page.content.decode().count("One effect") == rows


def test_the_list_of_a_new_project_says_so_and_later_shows_one_state(lead, project):
    assert "No jobs yet" in lead.get(reverse("jobs:list", args=[project.slug])).content.decode()
    make_job("test.fails", project=project)
    run_jobs()
    make_job(project=project)

    page = lead.get(reverse("jobs:list", args=[project.slug]), {"state": "failed"}).content.decode()

    assert "Fails for good" in page
    assert "One effect" not in page


def test_the_list_goes_on_with_older_jobs(lead, project):
    jobs = [make_job(project=project) for _ in range(51)]

    first = lead.get(reverse("jobs:list", args=[project.slug]))
    second = lead.get(reverse("jobs:list", args=[project.slug]), {"before": first.context["older"]})

    assert [job.pk for job in first.context["jobs"]] == [job.pk for job in reversed(jobs[1:])]
    assert [job.pk for job in second.context["jobs"]] == [jobs[0].pk]
    assert second.context["older"] is None


@pytest.mark.parametrize("before", ["x", "-1", "9" * 40, "1__gt"])
def test_a_strange_place_to_go_on_from_breaks_nothing(lead, project, before):
    make_job(project=project)

    assert lead.get(reverse("jobs:list", args=[project.slug]), {"before": before}).status_code == 200


def test_a_running_job_polls_each_second(lead, project):
    job = running(make_job(project=project))

    answer = lead.get(url("progress", job))

    fragment = answer.content.decode()
    assert answer.status_code == 200
    assert 'hx-trigger="every 1s"' in fragment
    assert "412,000 of 824,000, 40 s left" in fragment
    assert 'value="50"' in fragment
    assert "block 412,000" in fragment


def test_an_ended_job_stops_the_polling_and_reloads_a_page_that_requested_it(lead, project):
    job = make_job(project=project)
    run_jobs()

    answer = lead.get(url("progress", job))

    assert answer.status_code == 286
    assert "hx-get" not in answer.content.decode()
    assert "HX-Refresh" not in answer
    assert lead.get(url("progress", job), {"refresh": "1"})["HX-Refresh"] == "true"


def test_polling_keeps_its_query_parameters(lead, project):
    job = running(make_job(project=project))

    fragment = lead.get(url("progress", job), {"refresh": "1", "bare": "1"}).content.decode()

    assert f"{url('progress', job)}?refresh=1&amp;bare=1" in fragment


def test_technical_names_are_folded_away(lead, project):
    waiting = make_job(project=project)

    page = lead.get(url("job", waiting)).content.decode()

    told, _, folded = page.partition("<summary>For operators</summary>")
    assert "waiting for a worker" in told
    assert waiting.kind not in told
    assert "<code>" + waiting.kind in folded
    assert "none yet, 3 at most" in folded


def test_a_failed_job_shows_its_reason_and_a_lead_the_way_to_run_it_again(lead, project):
    job = make_job("test.fails", project=project)
    run_jobs()

    page = lead.get(url("job", job)).content.decode()

    assert "The file holds nothing." in page
    assert "Retry" in page
    assert 'aria-disabled="true"' not in page
    lead.force_login(make_member(project, Role.ANNOTATOR))
    page = lead.get(url("job", job)).content.decode()
    assert 'aria-disabled="true"' in page
    assert "Only a lead can retry a job." in page


def test_a_lead_cancels_and_runs_again(lead, project):
    job = make_job(project=project)

    assert lead.post(url("cancel", job)).url == url("job", job)
    assert Job.objects.get(pk=job.pk).state == "cancelled"

    assert lead.post(url("retry", job)).url == url("job", job)
    assert Job.objects.get(pk=job.pk).state == "queued"


def test_cancelling_an_ended_job_is_refused_in_words_and_over_the_api_with_a_problem(lead, project):
    job = make_job(project=project)
    run_jobs()

    page, answer = lead.post(url("cancel", job)), lead.post(reverse("jobs-api:job-cancel", args=[project.slug, job.pk]))

    assert page.status_code == answer.status_code == 409
    assert "This job has already ended" in page.content.decode()
    assert answer.json()["code"] == "job_not_cancellable"


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("get", "jobs:job"),
        ("get", "jobs:progress"),
        ("post", "jobs:cancel"),
        ("post", "jobs:retry"),
        ("get", "jobs-api:job"),
    ],
)
def test_a_stranger_and_another_projects_lead_find_nothing(client, project, method, name):
    job = make_job(project=project)
    other = make_project()
    client.force_login(lead_of(other))

    for slug in (project.slug, other.slug):
        assert getattr(client, method)(reverse(name, args=[slug, job.pk])).status_code == 404
    assert Job.objects.get(pk=job.pk).state == "queued"


@pytest.mark.parametrize("name", ["cancel", "retry"])
def test_a_job_is_not_touched_by_reading(lead, project, name):
    assert lead.get(url(name, make_job(project=project))).status_code == 405


def test_names_and_reasons_are_escaped(lead, project):
    job = make_job("test.fails", project=project)
    Job.objects.filter(pk=job.pk).update(title="<script>alert(1)</script>")
    run_jobs()
    Job.objects.filter(pk=job.pk).update(error="<img src=x onerror=alert(1)>")

    for path in (url("job", job), url("progress", job), reverse("jobs:list", args=[project.slug])):
        page = lead.get(path).content.decode()
        assert "<script>alert" not in page
        assert "<img" not in page


def test_a_machine_follows_and_cancels_a_job(lead, project):
    job = running(make_job(project=project))

    seen = lead.get(reverse("jobs-api:job", args=[project.slug, job.pk])).json()
    asked = lead.post(reverse("jobs-api:job-cancel", args=[project.slug, job.pk]))

    facts = {"id": job.pk, "state": "running", "done": 412_000, "total": 824_000, "seconds_left": 40}
    assert {name: seen[name] for name in facts} == facts
    assert asked.status_code == 200
    assert asked.json()["cancel_requested_at"] is not None


def test_a_done_job_says_once_how_long_it_took(lead, project):
    job = make_job(project=project)
    run_jobs()
    Job.objects.filter(pk=job.pk).update(started_at=from_now(-17), finished_at=from_now(0))

    assert lead.get(url("job", job)).content.decode().count("took 17 s") == 1
