"""Submitting triples and disputes over the API: seen by the same people, ended by the same rules."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.review.enums import VerdictChoice
from tests.factories import lead_of, make_member
from tests.review.factories import answer, make_disputed, make_draft, make_in_review, reload, reviewers_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def ask(client, project):
    """Asks somebody's endpoint of review about a triple, with a body or without one."""

    def ask(person, name, triple, body=None):
        client.force_login(person)
        address = reverse(f"review-api:{name}", args=[project.slug, triple.pk])
        return client.get(address) if body is None else client.post(address, body, content_type="application/json")

    return ask


def test_a_draft_is_submitted_by_its_author_alone(project, ask):
    triple = make_draft(project)

    refused = ask(lead_of(project), "submit", triple, {})
    sent = ask(triple.author, "submit", triple, {})

    assert refused.status_code == 409
    assert (sent.status_code, sent.json()["state"], sent.json()["round"]) == (200, "in_review", 1)


def test_the_first_verdict_is_in_no_round_that_anybody_else_reads(project, ask):
    triple = make_in_review(project)
    first, second = reviewers_of(triple)
    others = (second, triple.author, lead_of(project), make_member(project, Role.ANNOTATOR))
    before = [ask(person, "rounds", triple).content for person in others]

    answer(triple, first, VerdictChoice.FLAG, reasons=["overstated"], note="Nobody may read this yet.")

    assert [ask(person, "rounds", triple).content for person in others] == before
    (own,) = ask(first, "rounds", triple).json()["rounds"]
    assert [verdict["choice"] for verdict in own["verdicts"]] == ["flag"]


def test_messages_are_written_and_read_by_those_with_a_part(project, ask):
    triple = make_disputed(project)
    confirmer, flagger = reviewers_of(triple)
    bystander = make_member(project, Role.ANNOTATOR)

    posted = ask(triple.author, "message", triple, {"text": "Read section 2."})
    refused = ask(confirmer, "message", triple, {"text": "Me too."})

    assert (posted.status_code, refused.status_code) == (201, 409)
    for person, texts in ((flagger, ["Read section 2."]), (confirmer, ["Read section 2."]), (bystander, [])):
        last = ask(person, "rounds", triple).json()["rounds"][-1]
        assert [message["text"] for message in last["messages"]] == texts


@pytest.mark.parametrize(
    ("who", "name", "body", "state"),
    [
        ("flagger", "withdraw-flag", {"policy": "synonym"}, "accepted"),
        ("author", "drop", {"reason": "It asks two things."}, "dropped"),
        ("lead", "adjudicate", {"decision": "accept", "reason": "The passage says so."}, "accepted"),
    ],
)
def test_a_dispute_is_ended_by_whom_the_rules_name(project, ask, who, name, body, state):
    triple = make_disputed(project)
    people = {"flagger": reviewers_of(triple)[1], "author": triple.author, "lead": lead_of(project)}
    stranger = make_member(project, Role.ANNOTATOR, Role.REVIEWER)

    assert ask(stranger, name, triple, body).status_code in (403, 409)
    ended = ask(people[who], name, triple, body)

    assert (ended.status_code, ended.json()["state"]) == (200, state)
    assert reload(triple).state == state
    assert ask(people[who], name, triple, body).status_code == 409


def test_a_disputed_triple_is_revised_once_and_one_that_is_not_stale_is_not_pinned_anew(project, ask):
    triple = make_disputed(project)

    opened = ask(triple.author, "begin", triple, {})
    again = ask(triple.author, "begin", triple, {})

    assert (opened.status_code, opened.json()["revision"]) == (200, 2)
    assert again.json() == opened.json()
    assert ask(triple.author, "re-pin", triple, {}).json()["code"] == "not_repinnable"
