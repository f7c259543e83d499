"""Queries listed, added, edited, retired and changed together over the API."""

import pytest
from django.urls import reverse

from apps.audit.models import Event
from apps.queries.actions.queries import Question, ask_questions, lock_queries, retire_query
from apps.queries.api.views import COLUMNS, NewQueryInput
from apps.queries.forms import NewQueryForm
from apps.queries.models import Query
from tests.factories import AT, lead_of, make_project
from tests.queries.factories import make_query, make_source

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(client):
    project = make_project()
    client.force_login(lead_of(project))
    return project


def send(client, project, name, body=None, *ids, **headers):
    address = reverse(f"queries-api:{name}", args=[project.slug, *ids])
    return client.post(address, {} if body is None else body, content_type="application/json", **headers)


def test_a_query_is_added_with_all_its_fields(client, project):
    source = make_source(project)
    body = {
        "query_id": "Q061",
        "text": "  how are keys rotated  ",
        "intent": "Wants the interval.",
        "description": "For the audit.",
        "label": "Keys",
        "source": source.slug,
        "difficulty": "hard",
        "query_type": "how-to",
        "domain": "security",
        "group": "keys",
        "tags": ["b", "a", "b"],
    }

    answer = send(client, project, "list", body)

    wanted = body | {"text": "how are keys rotated", "tags": ["b", "a"]}
    assert answer.status_code == 201
    assert {name: answer.json()[name] for name in wanted} == wanted
    read = client.get(reverse("queries-api:query", args=[project.slug, answer.json()["id"]]))
    assert read.json() == answer.json()
    assert Event.objects.get(action="query.created").actor == lead_of(project)


def test_an_id_and_words_are_enough(client, project):
    made = send(client, project, "list", {"query_id": "Q1", "text": "what is it"}).json()

    assert (made["source"], made["difficulty"], made["tags"], made["group"]) == (None, "", [], "")


def test_an_id_is_given_once(client, project):
    query = make_query(project)
    ask_questions(project=project, questions=[Question("T-0001", "Asked?", lead_of(project))], at=AT)

    taken = send(client, project, "list", {"query_id": query.outside_id, "text": "again"})
    asked = send(client, project, "list", {"query_id": "T-0001", "text": "again"})

    assert (taken.status_code, taken.json()["code"]) == (409, "query_exists")
    assert (asked.status_code, asked.json()["code"]) == (409, "query_exists")
    assert Query.objects.filter(project=project).count() == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("query_id", "has spaces"),
        ("query_id", ""),
        ("query_id", "x" * 201),
        ("text", " "),
        ("text", "x" * 4_001),
        ("source", "nowhere"),
        ("source", 7),
        ("difficulty", "impossible"),
        ("query_type", "x" * 41),
        ("tags", ["one, two"]),
        ("tags", "one"),
        ("tags", [{"a": 1}]),
        ("tags", ["x" * 600, "y" * 600]),
        ("group", None),
    ],
)
def test_a_field_that_is_wrong_is_named_and_adds_nothing(client, project, field, value):
    answer = send(client, project, "list", {"query_id": "Q1", "text": "what is it", field: value})

    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == [field]
    assert not Query.objects.filter(project=project).exists()


def test_a_body_has_the_limits_of_the_form():
    own = NewQueryInput().fields
    forms = {**NewQueryForm.base_fields}
    limits = {name: forms[COLUMNS.get(name, name)].max_length for name in own if name not in {"source", "difficulty"}}
    for together in ("tags", "facets"):
        limits.pop(together)

    assert {name: own[name].max_length for name in limits} == limits
    assert {COLUMNS.get(name, name) for name in own} == set(forms)


def test_one_field_is_edited_and_the_others_stay(client, project):
    source = make_source(project)
    query = make_query(project, source=source, domain="access", tags=["a"])

    answer = send(client, project, "edit", {"domain": "", "group": "doors"}, query.pk)

    assert answer.status_code == 200
    facts = answer.json()
    assert (facts["domain"], facts["group"], facts["source"], facts["tags"]) == ("", "doors", source.slug, ["a"])
    assert send(client, project, "edit", {"source": None}, query.pk).json()["source"] is None


def test_the_same_edit_again_changes_nothing(client, project):
    query = make_query(project)

    answers = [send(client, project, "edit", {"label": "Keys"}, query.pk).json() for _ in range(2)]

    assert answers[0] == answers[1]
    assert Event.objects.filter(action="query.edited").count() == 1


def test_the_words_of_a_used_query_stay(client, project):
    query = make_query(project)
    lock_queries([query.pk], at=AT)

    words = send(client, project, "edit", {"text": "other words"}, query.pk)
    label = send(client, project, "edit", {"label": "Keys"}, query.pk)

    assert (words.status_code, words.json()["code"]) == (409, "query_fixed")
    assert (label.status_code, label.json()["text"]) == (200, query.text)


@pytest.mark.parametrize("body", [{"query_id": "Q9"}, {"txt": "misspelt"}, {"text": ""}, {"tags": [""]}])
def test_an_edit_of_what_cannot_be_edited_is_named(client, project, body):
    query = make_query(project)

    answer = send(client, project, "edit", body, query.pk)

    assert answer.status_code == 400
    assert set(answer.json()["errors"]) == set(body)


def test_a_query_is_retired_once_and_for_a_reason(client, project):
    query = make_query(project)

    without = send(client, project, "retire", {"reason": " "}, query.pk)
    retired = send(client, project, "retire", {"reason": "asked twice"}, query.pk)
    again = send(client, project, "retire", {"reason": "asked twice"}, query.pk)

    assert (without.status_code, list(without.json()["errors"])) == (400, ["reason"])
    assert (retired.status_code, retired.json()["retired_reason"]) == (200, "asked twice")
    assert (again.status_code, again.json()["code"]) == (409, "query_not_retirable")
    assert send(client, project, "edit", {"label": "Keys"}, query.pk).status_code == 409


def test_many_queries_change_alike(client, project):
    source = make_source(project)
    queries = [make_query(project, domain="access", tags=["old", "kept"]) for _ in range(3)]
    retire_query(query_id=queries[2].pk, reason="gone", actor=lead_of(project), at=AT)
    body = {
        "query_ids": [query.outside_id for query in queries],
        "source": source.slug,
        "domain": "",
        "difficulty": "easy",
        "group": "doors",
        "add_tags": ["new"],
        "remove_tags": ["old"],
    }

    assert send(client, project, "change", body).json() == {"changed": 2}
    assert send(client, project, "change", body).json() == {"changed": 0}

    for query in queries[:2]:
        query.refresh_from_db()
        assert (query.source, query.domain, query.difficulty, query.group_key) == (source, "", "easy", "doors")
        assert query.tags == ["kept", "new"]
    queries[2].refresh_from_db()
    assert queries[2].domain == "access"


def test_a_source_that_is_not_there_is_named_with_where_the_sources_are(client, project):
    answer = send(client, project, "list", {"query_id": "Q1", "text": "what is it", "source": "nowhere"})

    (sentence,) = answer.json()["errors"]["source"]
    assert sentence == "No source of this project has the slug “nowhere”. queries/sources/ lists them, and adds one."


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({}, "body"),
        ({"add_tags": []}, "body"),
        ({"source": "nowhere"}, "source"),
        ({"difficulty": "impossible"}, "difficulty"),
        ({"add_tags": ["a, b"]}, "add_tags"),
        ({"text": "all the same"}, "text"),
        ({"query_ids": []}, "query_ids"),
        ({"domain": "access", "query_ids": ["ghost"]}, "query_ids"),
    ],
)
def test_a_change_of_many_that_is_wrong_changes_none(client, project, body, wrong):
    query = make_query(project)

    answer = send(client, project, "change", {"query_ids": [query.outside_id], **body})

    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == [wrong]
    assert not Event.objects.filter(action="query.edited").exists()


def test_nothing_of_another_project_is_found_or_named(client, project):
    query, source = make_query(), make_source()
    own = make_query(project)

    for owner in (project, query.project):
        assert client.get(reverse("queries-api:query", args=[owner.slug, query.pk])).status_code == 404
    assert send(client, project, "edit", {"label": "Mine"}, query.pk).status_code == 404
    assert send(client, project, "retire", {"reason": "mine"}, query.pk).status_code == 404
    foreign = [
        send(client, project, "edit", {"source": source.slug}, own.pk),
        send(client, project, "list", {"query_id": "Q-1", "text": "x", "source": source.slug}),
        send(client, project, "change", {"query_ids": [own.outside_id], "source": source.slug}),
        send(client, project, "change", {"query_ids": [own.outside_id, query.outside_id], "domain": "mine"}),
    ]
    assert {answer.status_code for answer in foreign} == {400}
    query.refresh_from_db(), own.refresh_from_db()
    assert (query.label, query.retired_at, own.source, own.domain) == ("", None, None, "")


def test_what_an_asked_question_of_a_qa_is_cannot_be_reached(client, project):
    [asked] = ask_questions(project=project, questions=[Question("T-0001", "Asked?", lead_of(project))], at=AT)

    assert send(client, project, "edit", {"label": "Mine"}, asked.pk).status_code == 404
    assert send(client, project, "retire", {"reason": "mine"}, asked.pk).status_code == 404
    change = send(client, project, "change", {"query_ids": ["T-0001"], "domain": "mine"})
    assert change.status_code == 400
    assert "Asked?" not in change.text


def get(client, project, **params):
    return client.get(reverse("queries-api:list", args=[project.slug]), params)


def test_queries_come_page_by_page(client, project):
    made = [make_query(project).outside_id for _ in range(3)]

    first = get(client, project, limit=2).json()
    second = get(client, project, limit=2, after=first["next"]).json()

    assert [query["query_id"] for query in first["results"] + second["results"]] == made
    assert second["next"] is None


def test_queries_are_filtered_by_source(client, project):
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
def test_a_parameter_that_is_not_offered_is_refused(client, project, params):
    answer = get(client, project, **params)

    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"


def test_the_source_of_many_queries_is_set_at_once(client, project):
    source, queries = make_source(project), [make_query(project) for _ in range(3)]
    names = [query.outside_id for query in queries[:2]]

    assert send(client, project, "source", {"source": source.slug, "query_ids": names}).json() == {"changed": 2}
    assert send(client, project, "source", {"source": None, "query_ids": names[:1]}).json() == {"changed": 1}

    found = get(client, project, source="~").json()["results"]
    assert [query["query_id"] for query in found] == [names[0], queries[2].outside_id]


def test_setting_a_source_names_what_is_not_here_and_changes_nothing(client, project):
    query, source = make_query(project), make_source(project)

    unknown = send(client, project, "source", {"source": source.slug, "query_ids": [query.outside_id, "ghost"]})
    nowhere = send(client, project, "source", {"source": "nowhere", "query_ids": [query.outside_id]})

    assert (unknown.status_code, nowhere.status_code) == (400, 400)
    assert "ghost is no query of this project." in unknown.text
    query.refresh_from_db()
    assert query.source is None
