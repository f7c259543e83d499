"""What is stored: measured by a worker, remembered, and cleared where it is made again."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.cache import caches
from django.utils import timezone

from apps.audit.models import Event
from apps.common.errors import Forbidden, Refusal
from apps.dashboard.actions.projects import measure_daily, request_clearing, request_measurement, send_test_mail
from apps.dashboard.core.storage import KINDS, ProjectSize
from apps.dashboard.execution.jobs import measure
from apps.dashboard.selectors import largest_projects, measurements
from apps.jobs.enums import JobState
from apps.jobs.models import Job
from apps.retrieval.core.engines.store import stored_indexes
from apps.retrieval.execution.indexes import folder, open_system
from tests.factories import make_project, make_user
from tests.retrieval.factories import make_queries, make_run, make_snapshot, make_system
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def operator():
    return make_user(is_operator=True)


@pytest.fixture(autouse=True)
def place(settings, tmp_path) -> Path:
    """A data directory with a file in each folder."""
    settings.DATA_DIR = tmp_path
    for name, octets in {"files": 100, "indexes/a": 200, "figures": 300, "backups": 400, "static": 500}.items():
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "one").write_bytes(b"x" * octets)
    (tmp_path / "secret-key").write_bytes(b"x" * 60)
    (tmp_path / "link").symlink_to(tmp_path / "static")
    return tmp_path


def test_each_kind_is_measured_by_its_folder_and_links_are_not_followed(place):
    found = measure(timezone.now())

    length = os.lstat(place / "link").st_size
    assert {kind: size for kind, size in found.sizes.items() if kind != "database"} == {
        "files": 100, "indexes": 200, "figures": 300, "copies": 400, "models": 0, "rest": 560 + length, "backups": 0,
    }  # fmt: skip
    assert found.sizes["database"] > 0
    assert not found.is_beside
    assert set(found.sizes) == set(KINDS)
    assert 0 < found.free <= found.total


def test_projects_are_measured_by_what_is_in_them_and_the_largest_come_first():
    small, large = make_project("Small"), make_project("Large")
    make_queries(large)
    make_run(large, make_snapshot(large))

    sizes = measure(timezone.now()).projects

    assert sizes[small.pk] == ProjectSize()
    assert (sizes[large.pk].passages, sizes[large.pk].queries, sizes[large.pk].runs) == (4, 3, 1)
    assert [row.project.name for row in largest_projects(sizes)] == ["Large", "Small"]
    assert largest_projects({**sizes, 999: ProjectSize(9)})[0].project == large, "one that is gone is left out"


def test_a_worker_measures_once_and_the_figure_is_remembered(operator):
    assert measurements(timezone.now()).last is None
    first = request_measurement(actor=operator, at=timezone.now())
    assert request_measurement(actor=operator, at=timezone.now()) == first == measurements(timezone.now()).now

    run_jobs()

    last = measurements(timezone.now()).last
    assert last is not None
    assert (last.measured.sizes["files"], measurements(timezone.now()).now) == (100, None)
    assert Event.objects.filter(action="job.queued", actor=operator).count() == 1


def test_a_pace_is_told_by_a_measurement_of_a_week_ago(client, operator):
    request_measurement(actor=operator, at=timezone.now())
    [job] = run_jobs()
    last = measurements(timezone.now()).last
    assert last is not None
    assert measurements(timezone.now()).before is None
    free = last.measured.free + 7 * 10**9
    Job.objects.filter(pk=job.pk).update(
        finished_at=last.at - timedelta(days=7), result={**last.measured.as_json(), "free": free}
    )
    request_measurement(actor=operator, at=timezone.now())
    run_jobs()

    client.force_login(operator)
    assert "At the pace of the last 7 days the disk is full in about" in client.get("/server/").content.decode()


def test_it_is_measured_every_day_without_being_asked():
    measure_daily(timezone.now())
    [job] = run_jobs()

    assert (job.state, job.created_by) == (JobState.DONE, None)


def test_figures_are_cleared_and_computed_again_when_needed(operator, settings, place):
    settings.CACHES = {
        **settings.CACHES,
        "default": {**settings.CACHES["default"], "LOCATION": place / "figures"},
    }
    caches["default"].set("one", "a figure")
    request_clearing(kind="figures", actor=operator, at=timezone.now())
    run_jobs()

    assert caches["default"].get("one") is None
    last = measurements(timezone.now()).last
    assert last is not None
    assert last.measured.sizes["figures"] == 300, "what is not a figure stays"


def test_indexes_that_rest_are_cleared_and_those_in_use_stay(operator, project):
    snapshot = make_snapshot(project)
    open_system(make_system(project), snapshot)
    in_a_week = timezone.now() + timedelta(days=8)
    assert measure(timezone.now()).clearable["indexes"] == 0
    assert measure(in_a_week).clearable["indexes"] > 0

    [used] = stored_indexes(folder())
    open_system(make_system(project, "Other", kind="tfidf"), snapshot)
    [resting] = [index for index in stored_indexes(folder()) if index.digest != used.digest]
    os.utime(folder() / f"{resting.digest}.lock", (0, 0))
    request_clearing(kind="indexes", actor=operator, at=timezone.now())
    run_jobs()

    assert [index.digest for index in stored_indexes(folder())] == [used.digest]


@pytest.mark.parametrize("kind", ["database", "files", "copies", "unknown"])
def test_what_is_needed_is_not_cleared(operator, kind):
    with pytest.raises(Refusal, match="is needed"):
        request_clearing(kind=kind, actor=operator, at=timezone.now())

    assert not Job.objects.exists()


def test_only_operators_measure_clear_and_test_the_mail(settings):
    settings.EMAIL_HOST = "mail.example.org"
    mara, now = make_user(), timezone.now()

    for act in (request_measurement, send_test_mail):
        with pytest.raises(Forbidden):
            act(actor=mara, at=now)
    with pytest.raises(Forbidden):
        request_clearing(kind="figures", actor=mara, at=now)
