"""An archived project is read and not changed, by page, API or command, and comes back."""

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from apps.accounts.actions.projects import archive_project, bring_back_project
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.accounts.rules import PeopleRefused, ProjectArchived
from apps.audit.models import Event
from apps.judging.enums import SeatState
from apps.judging.models import Seat
from apps.queries.models import Query
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import make_round, people_of
from tests.queries.factories import make_query

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(client):
    project = make_query().project
    client.force_login(lead_of(project))
    return project


def archive(project, actor=None):
    return archive_project(project_id=project.pk, actor=actor or lead_of(project), at=AT)


def url(project, name, **more):
    return reverse(name, kwargs={"slug": project.slug, **more})


def test_pages_are_read_and_refuse_changes_with_a_sentence(client, project):
    archive(project)

    for name in ("dashboard:home", "queries:list", "dashboard:settings", "judging:index"):
        assert client.get(url(project, name)).status_code == 200, name
    answer = client.post(url(project, "people:invite"), {"roles": ["viewer"]})

    assert answer.status_code == 409
    assert "is archived: it can be read, and nothing in it changes" in answer.content.decode()


def test_the_api_refuses_the_same(client, project):
    archive(project)
    queries = f"/api/v1/projects/{project.slug}/queries/"

    assert client.get(queries).status_code == 200
    answer = client.post(f"/api/v1/projects/{project.slug}/runs/", {}, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (409, "archived")


def test_commands_refuse_it_too(project, tmp_path):
    archive(project)
    path = tmp_path / "queries.csv"
    path.write_text("query_id,text\nQ9,what about it\n")

    with pytest.raises(CommandError, match="is archived"):
        call_command("import_queries", str(path), "--project", project.slug, "--format", "csv")
    assert not Query.objects.filter(outside_id="Q9").exists()


def test_a_lead_brings_it_back_with_a_button(client, project):
    client.post(url(project, "dashboard:archive"))
    assert "This project is archived" in client.get(url(project, "dashboard:home")).content.decode()

    client.post(url(project, "dashboard:bring-back"))

    assert Project.objects.get(pk=project.pk).archived_at is None
    assert client.post(url(project, "people:invite"), {"roles": ["viewer"]}).status_code == 200
    actions = Event.objects.filter(project=project, action__in=["project.archived", "project.brought_back"])
    assert actions.count() == 2


def test_it_is_listed_under_archived_and_no_longer_opened_at_the_start(client, project):
    other = make_project(lead=lead_of(project))
    archive(project)

    page = client.get(reverse("dashboard:projects")).content.decode()

    assert page.index(other.name) < page.index("Archived: 1") < page.index(f"<b>{project.name}</b>")
    assert client.get("/").url == url(other, "dashboard:home")


def test_only_leads_and_operators_archive_and_only_once(project):
    with pytest.raises(PeopleRefused):
        archive(project, make_member(project, Role.ANNOTATOR))
    archive(project)
    with pytest.raises(ProjectArchived):
        archive(project)


def test_only_those_who_archive_bring_back(client, project):
    archive(project)
    for role in (Role.ANNOTATOR, Role.REVIEWER, Role.VIEWER):
        person = make_member(project, role)
        client.force_login(person)

        assert client.post(url(project, "dashboard:bring-back")).status_code == 403
        with pytest.raises(PeopleRefused):
            bring_back_project(project_id=project.pk, actor=person, at=AT)
    assert Project.objects.get(pk=project.pk).archived_at == AT


def test_nobody_is_given_pairs_of_an_archived_project(client, project):
    round_ = make_round(project)
    archive(project)
    client.force_login(people_of(round_)[0])

    pages = [client.get(url(project, f"judging:{name}", pk=round_.pk)) for name in ("judge", "pairs")]
    answer = client.get(url(project, "judging-api:pairs", pk=round_.pk))

    assert [(page.status_code, "is archived" in page.content.decode()) for page in pages] == [(409, True)] * 2
    assert (answer.status_code, answer.json()["code"]) == (409, "archived")
    assert not Seat.objects.exclude(state=SeatState.OPEN).exists()


def test_bringing_back_what_is_not_archived_changes_nothing(project):
    bring_back_project(project_id=project.pk, actor=lead_of(project), at=AT)

    assert not Event.objects.filter(action="project.brought_back").exists()


def test_own_notifications_and_tokens_stay_ones_own(client, project):
    archive(project)

    assert client.post(url(project, "notifications:read-all")).status_code == 302
