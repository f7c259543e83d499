import pytest
from django.urls import reverse

from tests.factories import lead_of, make_project
from tests.queries.factories import make_query, make_source

pytestmark = pytest.mark.django_db


def get(client, project, **params):
    client.force_login(lead_of(project))
    return client.get(reverse("queries-api:list", args=[project.slug]), params)


def test_queries_come_page_by_page(client):
    project = make_project()
    made = [make_query(project).outside_id for _ in range(3)]

    first = get(client, project, limit=2).json()
    second = get(client, project, limit=2, after=first["next"]).json()

    assert [query["query_id"] for query in first["results"] + second["results"]] == made
    assert second["next"] is None


def test_queries_are_filtered_by_source(client):
    project = make_project()
    source = make_source(project)
    wanted = make_query(project, source=source)
    make_query(project)

    found = get(client, project, source=source.slug).json()["results"]

    assert [(query["query_id"], query["source"]) for query in found] == [(wanted.outside_id, source.slug)]


@pytest.mark.parametrize(
    "params",
    [
        {"project__slug": "x"},
        {"source__permissions__owner": "x"},
        {"order_by": "created_by__password"},
        {"state": "secret"},
        {"difficulty": "x"},
        {"after": "abc"},
        {"after": "9" * 30},
        {"limit": "0"},
        {"limit": "1001"},
        {"limit": "-1"},
    ],
)
def test_a_parameter_that_is_not_offered_is_refused(client, params):
    answer = get(client, make_project(), **params)

    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"


def test_a_query_of_another_project_does_not_exist(client):
    query, project = make_query(), make_project()
    client.force_login(lead_of(project))

    assert client.get(reverse("queries-api:query", args=[project.slug, query.pk])).status_code == 404
    assert client.get(reverse("queries-api:query", args=[query.project.slug, query.pk])).status_code == 404
