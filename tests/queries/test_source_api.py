"""Sources and their permissions over the API."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.audit.models import Event
from apps.queries.models import Permission, Query, Source
from tests.factories import lead_of, make_project
from tests.queries.factories import make_permission, make_query, make_source

pytestmark = pytest.mark.django_db
TERMS = {"owner": "Data office", "scope": "public", "evidence": "Contract 7", "licence": "CC-BY-4.0"}


@pytest.fixture
def project(client):
    project = make_project()
    client.force_login(lead_of(project))
    return project


def address_of(project, name, *ids):
    return reverse(f"queries-api:{name}", args=[project.slug, *ids])


def send(client, project, name, body=None, *ids, **headers):
    sent = {} if body is None else body
    return client.post(address_of(project, name, *ids), sent, content_type="application/json", **headers)


def read(client, project, name="sources", *ids, **params):
    return client.get(address_of(project, name, *ids), params)


def test_a_source_is_added_and_read(client, project):
    answer = send(client, project, "sources", {"name": "Search log 2026", "kind": "query_log", "target_share": 0.4})

    made = answer.json()
    assert answer.status_code == 201
    assert made == {
        "id": made["id"],
        "slug": "search-log-2026",
        "name": "Search log 2026",
        "kind": "query_log",
        "target_share": 0.4,
        "live_queries": 0,
        "valid_permission": None,
        "permissions": [],
    }
    assert read(client, project, "source-detail", made["id"]).json() == made


def test_a_slug_can_be_chosen_and_is_given_once(client, project):
    first = send(client, project, "sources", {"name": "Interviews", "kind": "interview", "slug": "talks"})
    again = send(client, project, "sources", {"name": "Talks", "kind": "interview"})
    unnamed = send(client, project, "sources", {"name": "???", "kind": "interview"})

    assert first.json()["slug"] == "talks"
    assert (again.status_code, again.json()["code"]) == (409, "source_exists")
    assert (unnamed.status_code, unnamed.json()["code"]) == (409, "source_unnamed")


def test_sources_come_page_by_page_with_what_counts_of_each(client, project):
    sources = [make_source(project) for _ in range(3)]
    make_query(project, source=sources[0])
    permission = make_permission(sources[0])

    first = read(client, project, limit=2).json()
    second = read(client, project, limit=2, after=first["next"]).json()

    rows = first["results"] + second["results"]
    assert [row["slug"] for row in rows] == [source.slug for source in sources]
    assert [(row["live_queries"], row["valid_permission"]) for row in rows] == [
        (1, permission.pk),
        (0, None),
        (0, None),
    ]
    assert second["next"] is None


def test_a_list_of_many_sources_takes_as_many_statements_as_one_of_few(client, project):
    def statements():
        with CaptureQueriesContext(connection) as captured:
            read(client, project)
        return len(captured)

    make_permission(make_source(project))
    few = statements()
    for _ in range(5):
        make_permission(make_source(project))

    assert statements() == few


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "x" * 121),
        ("kind", "gossip"),
        ("target_share", 1.5),
        ("target_share", -0.1),
        ("target_share", "NaN"),
        ("target_share", "Infinity"),
        ("target_share", 0.12345),
        ("slug", "no slug"),
    ],
)
def test_a_field_of_a_source_that_is_wrong_is_named(client, project, field, value):
    answer = send(client, project, "sources", {"name": "Log", "kind": "query_log", field: value})

    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == [field]
    assert not Source.objects.filter(project=project).exists()


def test_a_source_is_edited_field_by_field(client, project):
    source = make_source(project, target_share=0.4)

    named = send(client, project, "source-edit", {"name": "Another name"}, source.pk)
    cleared = send(client, project, "source-edit", {"target_share": None, "kind": "interview"}, source.pk)
    unknown = send(client, project, "source-edit", {"slug": "other"}, source.pk)

    assert (named.json()["name"], named.json()["target_share"]) == ("Another name", 0.4)
    assert named.json()["slug"] == source.slug
    assert (cleared.json()["name"], cleared.json()["target_share"]) == ("Another name", None)
    assert (unknown.status_code, list(unknown.json()["errors"])) == (400, ["slug"])


def test_a_permission_is_recorded_and_counts(client, project):
    source = make_source(project)
    ends = (timezone.now() + timedelta(days=30)).replace(microsecond=0)

    answer = send(client, project, "grant", {**TERMS, "expires_at": ends.isoformat()}, source.pk)

    assert answer.status_code == 201
    (permission,) = answer.json()["permissions"]
    assert answer.json()["valid_permission"] == permission["id"]
    assert {name: permission[name] for name in TERMS} == TERMS
    assert (permission["revoked_at"], permission["revoked_by"]) == (None, None)
    assert Permission.objects.get().expires_at == ends


def test_terms_that_count_already_are_recorded_once(client, project):
    source = make_source(project)

    for _ in range(2):
        send(client, project, "grant", TERMS, source.pk)
    send(client, project, "grant", {**TERMS, "scope": "internal"}, source.pk)
    send(client, project, "grant", TERMS, source.pk)

    assert list(Permission.objects.order_by("pk").values_list("scope", flat=True)) == ["public", "internal", "public"]
    assert Event.objects.filter(action="permission.granted").count() == 3


@pytest.mark.parametrize(
    ("field", "value"),
    [("owner", ""), ("scope", "everybody"), ("licence", "x" * 81), ("expires_at", "tomorrow"), ("evidence", None)],
)
def test_a_term_that_is_wrong_is_named(client, project, field, value):
    answer = send(client, project, "grant", {**TERMS, field: value}, make_source(project).pk)

    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == [field]
    assert not Permission.objects.exists()


def test_a_permission_is_revoked_once_and_what_rests_on_it_retires(client, project):
    source = make_source(project)
    query, other = make_query(project, source=source), make_query(project)
    permission = make_permission(source)

    without = send(client, project, "revoke", {}, permission.pk)
    revoked = send(client, project, "revoke", {"reason": "withdrawn by the owner"}, permission.pk)
    again = send(client, project, "revoke", {"reason": "again"}, permission.pk)

    assert (without.status_code, list(without.json()["errors"])) == (400, ["reason"])
    assert (revoked.status_code, revoked.json()["retired"]) == (200, 1)
    assert revoked.json()["sentence"] == "The permission is revoked. 1 query: is retired."
    facts = revoked.json()["source"]
    assert (facts["valid_permission"], facts["live_queries"]) == (None, 0)
    assert facts["permissions"][0]["revocation_reason"] == "withdrawn by the owner"
    assert facts["permissions"][0]["revoked_by"] == lead_of(project).name
    assert (again.status_code, again.json()["code"]) == (409, "permission_not_revocable")
    assert list(Query.objects.filter(retired_at=None, project=project)) == [other]
    query.refresh_from_db()
    assert query.retired_reason == "permission of Data office revoked"
    assert Event.objects.filter(action__in=["permission.revoked", "query.retired"]).count() == 2


def test_with_another_valid_permission_nothing_retires(client, project):
    source = make_source(project)
    make_query(project, source=source)
    first, second = make_permission(source), make_permission(source, scope="public")

    answer = send(client, project, "revoke", {"reason": "narrower now"}, second.pk)

    assert answer.json()["retired"] == 0
    assert "has another valid one, so nothing is retired" in answer.json()["sentence"]
    assert answer.json()["source"]["valid_permission"] == first.pk


def test_nothing_of_another_project_is_found(client, project):
    source = make_source()
    permission = make_permission(source)

    answers = [
        read(client, project, "source-detail", source.pk),
        send(client, project, "source-edit", {"name": "Mine"}, source.pk),
        send(client, project, "grant", TERMS, source.pk),
        send(client, project, "revoke", {"reason": "mine"}, permission.pk),
    ]

    assert {answer.status_code for answer in answers} == {404}
    assert read(client, project).json() == {"results": [], "next": None}
    permission.refresh_from_db()
    assert permission.revoked_at is None
