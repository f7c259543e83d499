"""The same checks of a query at every door: on the page, from a file, over the API; and what becomes of remarks."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import InputErrors
from apps.queries.actions import queries as queries_actions
from apps.queries.models import Query
from apps.queries.selectors import QueryFilters, narrowed, queries_in
from tests.corpus.factories import make_snapshot
from tests.factories import AT, lead_of, make_member, make_project
from tests.queries.factories import import_csv, make_query

pytestmark = pytest.mark.django_db
RULE = "Keys of the hut are rotated every ninety days by two people."
COPIED = "are keys of the hut are rotated every ninety days"
DOUBLED = "The query Q1 has the same words."


@pytest.fixture
def project(client):
    project = make_project()
    make_query(project, outside_id="Q1", text="who opens the archive")
    client.force_login(lead_of(project))
    return project


def sets(project, **effects):
    project.policies |= {f"query_{check}": effect for check, effect in effects.items()}
    project.save()


def remarks_of(project) -> dict[str, dict[str, str]]:
    return {query.outside_id: query.remarks for query in queries_in(project) if query.remarks}


def add(client, project, text, outside_id="Q2", **fields):
    return client.post(reverse("queries:new", args=[project.slug]), {"outside_id": outside_id, "text": text} | fields)


def test_the_page_asks_before_it_saves_what_a_check_warns_of_and_saves_it_on_a_second_press(client, project):
    asked = add(client, project, "Who opens the archive")

    assert DOUBLED in asked.text
    assert "Save it as it is" in asked.text
    assert Query.objects.count() == 1
    add(client, project, "Who opens the archive", seen=[remark.key for remark in asked.context["doubts"]])
    assert Query.objects.get(outside_id="Q2").text == "Who opens the archive"
    assert remarks_of(project) == {}


def test_what_was_seen_of_other_words_does_not_let_these_pass(client, project):
    asked = add(client, project, "who opens the archive")

    again = add(client, project, "what is it", seen=[remark.key for remark in asked.context["doubts"]])

    assert "only words that say nothing" in again.text
    assert not Query.objects.filter(outside_id="Q2").exists()


def test_new_words_of_a_query_are_checked_and_old_ones_are_not_asked_about_again(client, project):
    make_query(project, outside_id="Q2", text="who opens the archive")
    query = Query.objects.get(outside_id="Q2")
    address = reverse("queries:edit", args=[project.slug, query.pk])

    kept = client.post(address, {"text": query.text, "intent": "Wants a name."})

    assert kept.status_code == 302
    assert remarks_of(project) == {"Q2": {"duplicate": DOUBLED}}
    assert DOUBLED in client.get(reverse("queries:query", args=[project.slug, query.pk])).text
    blocked = client.post(address, {"text": query.text, "intent": "Ask anna@hut.example"})
    assert "It may contain personal data: e-mail." in blocked.text
    assert client.post(address, {"text": "how are doors shut"}).status_code == 302
    assert remarks_of(project) == {}


def test_personal_data_is_kept_out_by_every_door(client, project):
    page = add(client, project, "reset the key of anna@hut.example")
    api = client.post(
        reverse("queries-api:list", args=[project.slug]),
        {"query_id": "Q2", "text": "reset the key of anna@hut.example"},
        content_type="application/json",
    )
    with pytest.raises(InputErrors) as file:
        import_csv(project, "query_id,text\nQ2,hut hours\nQ3,reset the key of anna@hut.example\n")

    sentence = "It may contain personal data: e-mail. Change it, or let a lead change this check in the settings."
    assert page.status_code == 400
    assert sentence in page.text
    assert (api.status_code, api.json()["code"], api.json()["detail"]) == (409, "query_blocked", sentence)
    (error,) = file.value.errors
    assert (error.file, error.line, error.field) == ("queries.csv", 3, "text")
    assert (error.value, error.message) == ("reset the key of [e-mail]", f"i{sentence[1:-1]}")
    assert Query.objects.count() == 1


def test_what_the_api_and_a_file_bring_in_is_listed_until_a_lead_settles_it(client, project):
    make_snapshot(project, {"B1": RULE})
    answer = client.post(
        reverse("queries-api:list", args=[project.slug]),
        {"query_id": "Q2", "text": "who opens the archive"},
        content_type="application/json",
    )
    plan = import_csv(project, f"query_id,text\nQ3,{COPIED}\nQ4,what is it\nQ5,WHAT IS IT\nQ6,hut hours\n")

    assert answer.json()["remarks"] == {"duplicate": DOUBLED}
    assert [(warning.line, warning.value) for warning in plan.errors.warnings] == [
        (2, COPIED),
        (3, "what is it"),
        (4, "WHAT IS IT"),
        (4, "WHAT IS IT"),
    ]
    assert {name: list(found) for name, found in remarks_of(project).items()} == {
        "Q2": ["duplicate"],
        "Q3": ["copied"],
        "Q4": ["stop_words"],
        "Q5": ["duplicate", "stop_words"],
    }
    found = narrowed(queries_in(project), QueryFilters(remarks="stop_words"))
    assert [query.outside_id for query in found] == ["Q4", "Q5"]
    listed = client.get(reverse("queries:list", args=[project.slug]), {"remarks": "any"})
    assert [query.outside_id for query in listed.context["page"]] == ["Q2", "Q3", "Q4", "Q5"]
    assert "The query Q4 has the same words." in listed.text

    client.post(reverse("queries:settle", args=[project.slug]), {"query": [found[0].pk]})
    client.post(
        reverse("queries-api:settle", args=[project.slug]), {"query_ids": ["Q2", "Q5"]}, content_type="application/json"
    )

    assert list(remarks_of(project)) == ["Q3"]
    event = Event.objects.filter(action="query.remarks_settled").earliest("pk")
    assert (event.before, event.after) == ({"remarks": ["stop_words"]}, {"remarks": []})


def test_a_check_that_only_lists_asks_nobody(client, project):
    sets(project, duplicate="list")

    assert add(client, project, "who opens the archive").status_code == 302
    assert not import_csv(project, "query_id,text\nQ3,who opens the archive\n").errors.warnings
    assert list(remarks_of(project)) == ["Q2", "Q3"]


def test_a_check_may_keep_out_what_others_are_warned_of(project):
    sets(project, duplicate="block", personal="warn")

    with pytest.raises(queries_actions.QueryRefused, match="has the same words"):
        make_query(project, text="who opens the archive")
    with pytest.raises(InputErrors, match="the query Q2 has the same words"):
        import_csv(project, "query_id,text\nQ2,hut hours\nQ3,Hut hours\n")
    make_query(project, outside_id="Q4", text="call +49 30 1234567")
    assert remarks_of(project) == {"Q4": {"personal": "It may contain personal data: phone."}}


def test_a_file_is_compared_with_live_queries_of_the_project_and_never_with_itself(project):
    gone = make_query(project, outside_id="Q2", text="who shuts the doors")
    queries_actions.retire_query(query_id=gone.pk, reason="Doubled", actor=lead_of(project), at=AT)
    make_query(outside_id="Q9", text="hut hours")

    plan = import_csv(project, "query_id,text\nQ1,who opens the archives\nQ3,who shuts the doors\nQ4,hut hours\n")

    assert plan.errors.warnings == []
    assert remarks_of(project) == {}


def test_the_languages_of_a_project_are_those_of_its_queries_and_of_the_file(project):
    english = "".join(f"Q{n},how often is the number {n} of the hut changed\n" for n in range(10, 30))
    sets(project, duplicate="list")

    plan = import_csv(project, f"query_id,text\n{english}Q2,wie oft werden die Schlüssel gewechselt\n")

    (warning,) = plan.errors.warnings
    assert warning.message == "it seems to be in another language (German) than the queries here (English)"


def test_a_variant_is_looked_through_for_personal_data_alone(project):
    rows = "query_id,text,metadata.variant_of,metadata.variant\n"
    import_csv(project, f"{rows}Q2,who opens the archive,Q1,typos\nQ3,what is it,Q1,keywords\n")
    make_query(project, outside_id="Q4", text="who opens the archives")

    assert list(remarks_of(project)) == ["Q4"]
    with pytest.raises(InputErrors, match="personal data"):
        import_csv(project, f"{rows}Q5,who opens 10.0.0.1,Q1,typos\n")


def test_a_file_reads_passages_once_and_says_which_it_did_not_read(project, monkeypatch, django_assert_num_queries):
    make_snapshot(project, {"B1": RULE, "B2": RULE.upper(), "B3": "Visitors sign in."})
    monkeypatch.setattr("apps.queries.selectors.MOST_WORDS", 12)
    long = "".join(f"Q{n},{COPIED} {n}\n" for n in range(10, 20))

    plan = import_csv(project, f"query_id,text\n{long}")

    assert plan.notes == ["Copied words were looked for in the first 1 of 3 passages."]
    assert all("passage B1" in told["copied"] for told in remarks_of(project).values())
    short = import_csv(project, "query_id,text\nQ3,hut hours\n")
    assert short.notes == []


def test_only_leads_settle(client, project):
    client.force_login(make_member(project, Role.ANNOTATOR))

    assert client.post(reverse("queries:settle", args=[project.slug]), {"query": [1]}).status_code == 403
