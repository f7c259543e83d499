"""The navigation: Home and three groups, of which each role sees what it can use."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from tests.factories import make_member
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db

SEEN = {
    Role.LEAD: {
        "Content": ["Documents", "Queries", "Q&A", "Write Q&A", "Permissions"],
        "Judging": ["Rounds", "Review", "Agreement", "Annotators", "Quality", "Guideline"],
        "Results": ["Versions", "Runs", "Scores", "Gates", "Ledger", "Reports"],
    },
    Role.ANNOTATOR: {
        "Content": ["Documents", "Queries", "Q&A", "Write Q&A"],
        "Judging": ["Rounds", "Review", "Agreement", "Quality", "Guideline"],
        "Results": ["Versions", "Runs", "Scores", "Gates", "Ledger"],
    },
    Role.REVIEWER: {
        "Content": ["Documents", "Queries", "Q&A"],
        "Judging": ["Review", "Agreement", "Quality", "Guideline"],
        "Results": ["Versions", "Runs", "Scores", "Gates", "Ledger"],
    },
    Role.VIEWER: {
        "Content": ["Documents", "Queries", "Permissions"],
        "Judging": ["Agreement", "Guideline"],
        "Results": ["Versions", "Runs", "Scores", "Gates", "Ledger", "Reports"],
    },
}


def opened(client, name, project, *arguments):
    return client.get(reverse(name, args=[project.slug, *arguments]))


@pytest.mark.parametrize("role", Role.values)
def test_each_role_sees_what_it_can_use(client, role):
    project = make_team()
    client.force_login(make_member(project, role))

    home, *groups = opened(client, "dashboard:home", project).context["shell"]["nav"]

    assert home.word == "Home"
    assert {group.word: [page.word for page in group.pages] for group in groups} == SEEN[role]


def test_a_group_opens_the_first_page_that_the_person_can_use(client):
    project = make_team()
    client.force_login(make_member(project, Role.REVIEWER))

    groups = opened(client, "dashboard:home", project).context["shell"]["nav"]

    assert {group.word: group.url for group in groups}["Judging"] == reverse("review:queue", args=[project.slug])


@pytest.mark.parametrize(
    ("name", "group", "page"),
    [
        ("corpus:list", "Content", "Documents"),
        ("queries:balance", "Content", "Queries"),
        ("queries:sources", "Content", "Permissions"),
        ("triples:candidates", "Content", "Q&amp;A"),
        ("judging:new-round", "Judging", "Rounds"),
        ("agreement:improve", "Judging", "Agreement"),
        ("calibration:rates", "Judging", "Quality"),
        ("retrieval:upload", "Results", "Runs"),
        ("evaluation:trend", "Results", "Scores"),
        ("gates:gates", "Results", "Gates"),
        ("reports:stability-reports", "Results", "Reports"),
    ],
)
def test_a_page_shows_its_place(client, name, group, page):
    project = make_team()
    client.force_login(make_member(project, Role.LEAD))

    content = opened(client, name, project).content.decode()

    assert f' aria-current="true">{group}</a>' in content
    assert f' aria-current="page">{page}</a>' in content


def test_an_import_is_at_the_page_of_what_it_imports(client):
    project = make_team()
    client.force_login(make_member(project, Role.LEAD))

    content = opened(client, "corpus:import-new", project, "judgements").content.decode()

    assert ' aria-current="page">Rounds</a>' in content
