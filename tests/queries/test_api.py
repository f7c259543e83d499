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


def set_source(client, project, **values):
    client.force_login(lead_of(project))
    return client.post(reverse("queries-api:source", args=[project.slug]), values, content_type="application/json")


def test_the_source_of_many_queries_is_set_at_once(client):
    project = make_project()
    source, queries = make_source(project), [make_query(project) for _ in range(3)]
    names = [query.outside_id for query in queries[:2]]

    assert set_source(client, project, source=source.slug, query_ids=names).json() == {"changed": 2}
    assert set_source(client, project, source=None, query_ids=names[:1]).json() == {"changed": 1}

    found = get(client, project, source="~").json()["results"]
    assert [query["query_id"] for query in found] == [names[0], queries[2].outside_id]


def test_setting_a_source_names_what_is_not_here_and_changes_nothing(client):
    project = make_project()
    query, source = make_query(project), make_source(project)

    unknown = set_source(client, project, source=source.slug, query_ids=[query.outside_id, "ghost"])
    nowhere = set_source(client, project, source="nowhere", query_ids=[query.outside_id])

    assert (unknown.status_code, nowhere.status_code) == (400, 400)
    assert "ghost is no query of this project." in unknown.text
    query.refresh_from_db()
    assert query.source is None
