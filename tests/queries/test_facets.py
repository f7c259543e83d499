"""Subtopics of queries: typed on the page, sent to the API, imported; fixed by the first judgement that names them."""

import json

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from apps.queries.core.naming import Facet, parse_facets
from apps.queries.models import Query
from tests.factories import lead_of, make_project
from tests.judging.factories import give, make_round, people_of
from tests.queries.factories import import_csv
from tests.queries.test_formats import read
from tests.queries.test_query_api import send
from tests.queries.test_table_import import read as table_of
from tests.queries.test_table_import import titles

ACCESS = [{"id": "1", "words": "When accounts are closed"}, {"id": "who", "words": "Who closes them; and why"}]
WEB_TRACK = """<webtrack2012>
<topic number="201" type="faceted">
  <query>raspberry pi</query>
  <description> What is a raspberry pi? </description>
  <subtopic number="1" type="inf">
    What is a raspberry pi?
  </subtopic>
  <subtopic number="2" type="nav">Go to the homepage of it.</subtopic>
</topic>
</webtrack2012>
"""


@pytest.mark.parametrize(
    "written",
    ["1=When accounts are closed; who=Who closes them; and why", ACCESS, json.dumps(ACCESS)],
)
def test_subtopics_are_ids_with_words_or_a_list(written):
    assert parse_facets(written) == [Facet(**one) for one in ACCESS]


def test_lines_without_ids_are_numbered_and_only_on_a_page():
    assert parse_facets("When\n\nWho", are_lines=True) == [Facet("1", "When"), Facet("2", "Who")]
    with pytest.raises(ValueError, match="“When” has no id"):
        parse_facets("When")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("0=none", "not 0, which means no subtopic"),
        ("a b=none", "cannot be the id"),
        ("1=a; 1=b", "two subtopics have the id 1"),
        ("1=", "subtopic 1 needs words"),
        ("; ".join(f"{number}=a" for number in range(1, 14)), "at most 12 subtopics, and these are 13"),
        ("[1", "is no JSON"),
        ([{"id": "1"}], "a list of objects with id and words"),
        ([["1", "a"]], "a list of objects with id and words"),
    ],
)
def test_what_cannot_be_a_list_of_subtopics_is_named(written, said):
    with pytest.raises(ValueError, match=said):
        parse_facets(written)


def test_topics_of_the_web_track_bring_their_subtopics():
    (row,), errors = read(WEB_TRACK, format="trec")

    assert not errors
    assert (row.query_id, row.text, row.description) == ("201", "raspberry pi", "What is a raspberry pi?")
    assert row.facets == (Facet("1", "What is a raspberry pi?"), Facet("2", "Go to the homepage of it."))
    assert row.metadata == {"type": "faceted", "subtopic type": "1 inf; 2 nav;"}


def test_a_number_that_comes_twice_is_a_mistake():
    _, errors = read(WEB_TRACK.replace('number="2"', 'number="1"'), format="trec")

    assert [error.field for error in errors] == ["facets"]


@pytest.mark.django_db
def test_a_lead_types_and_imports_subtopics_until_somebody_judges_by_them(client):
    round_ = make_round(queries=1, overlap=0.0)
    project, query = round_.project, Query.objects.get()
    client.force_login(lead_of(project))
    page = reverse("queries:edit", args=[project.slug, query.pk])

    client.post(page, {"text": query.text, "intent": query.intent, "facets": "When\nWho"})
    query.refresh_from_db()
    assert query.facets == [{"id": "1", "words": "When"}, {"id": "2", "words": "Who"}]
    assert "at most 12" in client.get(page).content.decode()
    wrong = client.post(page, {"text": query.text, "facets": "a = x\nb"})
    assert (wrong.status_code, "“b” has no id" in wrong.content.decode()) == (400, True)

    plan = import_csv(project, f'query_id,text,facets\n{query.outside_id},{query.text},"1=When; b=Who may"\n')
    assert plan.counts["changed"] == 1
    query.refresh_from_db()
    assert [facet["id"] for facet in query.facets] == ["1", "b"]

    give(round_.seats.order_by("pk").first(), people_of(round_)[0], 2, facets=["b"])
    edited = send(client, project, "edit", {"facets": ACCESS}, query.pk)
    assert (edited.status_code, edited.json()["code"]) == (409, "query_fixed")
    assert "passages were judged by them" in edited.json()["detail"]
    assert (
        "Passages are judged by them since"
        in client.get(reverse("queries:query", args=[project.slug, query.pk])).content.decode()
    )
    with pytest.raises(IntegrityError), transaction.atomic():
        Query.objects.filter(pk=query.pk).update(facets=[])


@pytest.mark.django_db
def test_the_api_takes_and_gives_subtopics(client):
    project = make_project()
    client.force_login(lead_of(project))

    made = send(client, project, "list", {"query_id": "Q1", "text": "leaving", "facets": ACCESS}).json()
    wrong = send(client, project, "list", {"query_id": "Q2", "text": "coming", "facets": [{"id": "0", "words": "x"}]})

    assert (made["facets"], made["facets_locked_at"]) == (ACCESS, None)
    assert wrong.status_code == 400
    assert "not 0" in json.dumps(wrong.json())


@pytest.mark.django_db
def test_a_table_with_subtopics_that_cannot_be_read_is_not_imported():
    table = table_of(make_project(), "Search;Subtopics\nleaving;1=When, 2=Who\ncoming;When\n")

    assert titles(table, "stop") == ["1 row has subtopics that cannot be read. Mend it, or do not read that column."]
