"""The page and the command that delete a project."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from apps.accounts.actions.projects import archive_project
from apps.accounts.models import Project, ProjectDeletion
from apps.common.errors import Refusal
from tests.factories import AT, lead_of
from tests.queries.factories import make_query
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(client) -> Project:
    project = make_query().project
    client.force_login(lead_of(project))
    return project


def test_the_page_says_what_goes_what_stays_and_how_to_keep_a_copy(client, project):
    shown = client.get(reverse("dashboard:delete", args=[project.slug])).content.decode()

    assert "<span>queries</span>" in shown
    assert "<span>gold versions</span>" not in shown
    assert f"karat project export {project.slug}" in shown
    assert reverse("goldsets:list", args=[project.slug]) in shown


def test_another_name_deletes_nothing_and_is_answered_beside_the_field(client, project):
    answer = client.post(reverse("dashboard:delete", args=[project.slug]), {"typed": "something"})

    assert answer.status_code == 400
    assert "Nothing was deleted" in answer.content.decode()
    assert not ProjectDeletion.objects.exists()


def test_an_archived_project_can_be_deleted(client, project):
    archive_project(project_id=project.pk, actor=lead_of(project), at=AT)
    answer = client.post(reverse("dashboard:delete", args=[project.slug]), {"typed": f" {project.name} "})

    assert answer.status_code == 302
    run_jobs()
    assert not Project.objects.filter(pk=project.pk).exists()


def test_the_command_says_what_goes_and_asks_for_the_name(project, monkeypatch):
    said = StringIO()
    monkeypatch.setattr("builtins.input", lambda _: project.name)
    call_command("project", "delete", project.slug, stderr=said)

    assert "queries: 1" in said.getvalue()
    assert ProjectDeletion.objects.get().requested_by is None


def test_the_command_refuses_another_name_and_an_unknown_project(project):
    with pytest.raises(Refusal, match="type its name"):
        call_command("project", "delete", project.slug, name="another", stderr=StringIO())
    with pytest.raises(CommandError, match=f"There are: {project.slug}"):
        call_command("project", "delete", "nowhere")
