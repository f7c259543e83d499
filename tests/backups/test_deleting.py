"""A project that is deleted: who may, what goes, what stays, and what stands beside it."""

import re
from collections.abc import Iterator
from copy import deepcopy

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from apps.accounts.models import Membership, Project, ProjectDeletion, User
from apps.accounts.rules import PeopleRefused
from apps.audit.execution import signed_checkpoints
from apps.audit.execution.sealing import seal_all
from apps.audit.execution.verification import verify_chain
from apps.audit.models import Chain, Event
from apps.backups.actions.projects import delete_project
from apps.backups.enums import DELETE_PROJECT
from apps.backups.execution import jobs
from apps.backups.execution.jobs import finish_deletions
from apps.backups.selectors.project_rows import PROJECTS, count_rows, project_tables
from apps.common.errors import Refusal
from apps.gates.models import Badge
from apps.jobs.enums import JobState
from apps.jobs.execution.context import JobFailed
from apps.jobs.models import Job, Upload
from tests import database
from tests.factories import make_user
from tests.running_jobs import run_jobs
from tests.test_shape import declared_guards
from tests.world import World, build_world

pytestmark = pytest.mark.django_db
ALWAYS_KEPT = {guard.table for guard in declared_guards() if guard.event == "DELETE" and guard.and_truncation}
TABLES = [each.table for each in project_tables() if each.table != PROJECTS]


@pytest.fixture(scope="module")
def two_demos(django_db_setup, django_db_blocker, database_cache) -> Iterator[World]:
    with django_db_blocker.unblock(), database.world("two-demos", build_world, database_cache) as world:
        run_jobs()  # those of either project that wait
        seal_all()
        yield world


@pytest.fixture
def world(two_demos, db) -> World:
    return deepcopy(two_demos)


@pytest.fixture
def lead(world) -> User:
    return world.people["lead"]


def delete(project: Project, actor: User | None) -> ProjectDeletion:
    return delete_project(project=project, typed=project.name, actor=actor, at=timezone.now())


def counts(project_id: int) -> dict[str, int]:
    return {table: count_rows(project_id, table) for table in TABLES}


@pytest.mark.slow
def test_everything_of_the_project_goes_and_nothing_of_another(world, lead):
    beside = counts(world.other.pk)
    files = [upload.place for upload in Upload.objects.filter(project=world.project)]
    stored = Upload.objects.filter(project=world.other).exclude(state="discarded")
    kept = [upload.place for upload in stored]
    there = counts(world.project.pk)
    assert sum(rows > 0 for rows in there.values()) > 60

    deletion = delete(world.project, lead)
    [job] = [job for job in run_jobs() if job.kind == DELETE_PROJECT]

    assert job.state == JobState.DONE, job.error
    assert not any(counts(world.project.pk).values())
    assert not Project.objects.filter(pk=world.project.pk).exists()
    assert counts(world.other.pk) == beside
    assert files
    assert not any(path.exists() for path in files)
    assert all(path.exists() for path in kept)
    connection.check_constraints()
    deletion.refresh_from_db()
    assert deletion.finished_at is not None


def test_that_it_was_deleted_by_whom_and_with_which_head_stays_on_record(world, lead, settings, tmp_path):
    settings.AUDIT_HEADS, note = tmp_path, tmp_path / f"project-{world.project.pk}.json"
    signed_checkpoints.note(note.stem, signed_checkpoints.ChainHead(0, ""))
    chain = Chain.objects.get(project=world.project)
    delete(world.project, lead)
    run_jobs()
    seal_all()

    deletion = ProjectDeletion.objects.get()
    assert deletion.links >= chain.length
    event = Event.objects.get(action="project.deleted")
    assert (event.actor, event.project) == (lead, None)
    assert event.after["head"] == deletion.head
    assert event.after["counts"]["grades"] > 0
    assert verify_chain(None).holds
    assert verify_chain(world.other).holds
    assert not note.exists()


def test_from_the_moment_of_the_request_nobody_finds_it(world, lead, client):
    badge = Badge.objects.filter(gold_set__project=world.project, revoked_at=None).first()
    home = f"/p/{world.project.slug}/"
    client.force_login(lead)
    assert client.get(home).status_code == 200

    delete(world.project, lead)

    assert client.get(home).status_code == 404
    assert world.project.name not in client.get("/projects/").content.decode()
    assert badge is None or client.get(f"/badges/{badge.token}.svg").status_code == 404
    assert not Membership.objects.live().filter(project=world.project).exists()
    assert not Job.objects.open().filter(project=world.project).exists()


def test_a_lead_or_an_operator_deletes_it_once_by_its_name_and_nobody_else(world, lead):
    with pytest.raises(PeopleRefused):
        delete(world.project, world.people["annotator"])
    with pytest.raises(Refusal, match=f"type its name, {world.project.name}"):
        delete_project(project=world.project, typed="my project", actor=lead, at=timezone.now())
    assert not ProjectDeletion.objects.exists()

    delete(world.project, make_user(is_operator=True))

    with pytest.raises(Refusal, match="being deleted already"):
        delete(world.project, None)


def test_a_job_that_was_killed_goes_on_where_it_stopped(world, lead, monkeypatch):
    """At each of its parts in turn, for as long as there are parts."""
    monkeypatch.setattr(jobs, "AT_ONCE", 100_000)
    deletion = delete(world.project, lead)
    change = jobs._change

    def stops_after(allowed: int):
        def part(*arguments):
            nonlocal allowed
            if not allowed:
                raise RuntimeError("killed")
            allowed -= 1
            return change(*arguments)

        return part

    for allowed in (0, 3, 17, 40, 80):
        monkeypatch.setattr(jobs, "_change", stops_after(allowed))
        run_jobs()
        finish_deletions(timezone.now())
    monkeypatch.setattr(jobs, "_change", change)
    run_jobs()

    deletion.refresh_from_db()
    assert deletion.finished_at is not None
    assert Event.objects.filter(action="project.deleted").count() == 1


def test_an_attempt_that_failed_is_on_the_page_of_the_server_until_one_succeeds(world, lead, client, monkeypatch):
    def page() -> str:
        return " ".join(client.get("/server/").content.decode().split())

    client.force_login(make_user(is_operator=True))
    delete(world.project, lead)
    assert "No project is left half deleted." in page()
    change = jobs._change

    def fails(*arguments):
        raise JobFailed("The disk is full")

    monkeypatch.setattr(jobs, "_change", fails)
    run_jobs()
    told = f"Deleting {world.project.name} failed: The disk is full. It is closed to everybody, and a worker tries"
    assert told in page()
    assert "a project could not be deleted" in page()
    finish_deletions(timezone.now())
    assert told in page()

    monkeypatch.setattr(jobs, "_change", change)
    run_jobs()
    assert "No project is left half deleted." in page()


def test_no_client_deletes_rows_of_a_project_whose_deletion_nobody_asked_for(world, lead):
    delete(world.project, lead)
    kept = [each for each in project_tables() if each.table in ALWAYS_KEPT and count_rows(world.other.pk, each.table)]
    refused = "|".join(re.escape(guard.message) for guard in declared_guards())
    assert len(kept) > 20

    for each in kept:
        with connection.cursor() as cursor, pytest.raises(IntegrityError, match=refused), transaction.atomic():
            cursor.execute(f'DELETE FROM "{each.table}" WHERE {each.condition}', [world.other.pk])


def test_that_a_project_was_deleted_cannot_be_denied(world, lead):
    deletion = delete(world.project, lead)
    for statement in (
        "DELETE FROM accounts_projectdeletion",
        "UPDATE accounts_projectdeletion SET name = 'Another'",
        "UPDATE accounts_projectdeletion SET requested_by_id = NULL",
    ):
        with connection.cursor() as cursor, pytest.raises(IntegrityError), transaction.atomic():
            cursor.execute(statement)
    run_jobs()
    deletion.refresh_from_db()
    with connection.cursor() as cursor, pytest.raises(IntegrityError), transaction.atomic():
        cursor.execute("UPDATE accounts_projectdeletion SET finished_at = NULL")
