"""Passages that may be right as well, over the API: what each person may see of them, and a blind answer."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.enums import Role
from apps.review.enums import CandidateState
from apps.review.models import CandidateAnswer
from apps.triples.selectors.triples import expected_blocks
from tests.factories import lead_of, make_member
from tests.review.candidates import CONFIRM, REJECT, fresh, make_candidate_block, make_open, say
from tests.review.factories import reload
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db
ONLY_FOR_SOME = ("own_answer", "answers", "proposed_by", "evaluation")


@pytest.fixture
def project():
    return make_team(reviewers=3)


@pytest.fixture
def candidate(project):
    return make_open(project)[0]


def base(project):
    return f"/api/v1/projects/{project.slug}/review/candidates/"


def listed(client, person, project, **query):
    client.force_login(person)
    return client.get(base(project), query).json()["candidates"]


def send(client, person, candidate, **body):
    client.force_login(person)
    body = {"choice": "confirm", "idempotency_key": f"k-{person.pk}"} | body
    url = f"{base(candidate.triple.project)}{candidate.pk}/answer/"
    return client.post(url, body, content_type="application/json")


def reviewers(project):
    return [membership.user for membership in project.memberships.filter(role=Role.REVIEWER).order_by("pk")]


def test_a_reviewer_is_shown_the_passage_and_not_where_it_was_found(client, project, candidate):
    (shown,) = listed(client, reviewers(project)[0], project)

    assert (shown["number"], shown["state"], shown["may_answer"]) == ("T-0001", "open", True)
    assert (shown["block"]["block_id"], shown["block"]["text"]) == ("backups", candidate.version.text)
    assert [shown[name] for name in ONLY_FOR_SOME] == [None] * 4


def test_who_proposed_it_sees_where_it_was_found_and_may_not_answer(client, project, candidate):
    (shown,) = listed(client, candidate.proposed_by, project)

    assert (shown["evaluation"], shown["proposed_by"], shown["may_answer"]) == (7, candidate.proposed_by_id, False)


def test_nobody_learns_from_the_list_that_one_has_answered(client, project, candidate):
    one, two, _ = reviewers(project)
    people = [two, lead_of(project), candidate.triple.author]
    before = [listed(client, person, project) for person in people]

    assert send(client, one, candidate).status_code == 201

    assert [listed(client, person, project) for person in people] == before
    assert listed(client, one, project)[0]["own_answer"]["choice"] == "confirm"


def test_two_confirmations_add_the_passage_and_open_the_answers(client, project, candidate):
    one, two, _ = reviewers(project)

    first, second = send(client, one, candidate), send(client, two, candidate, note="It says so.")

    assert set(first.json()) == set(second.json()) == {"candidate_id", "choice", "note", "given_at"}
    assert len(expected_blocks(reload(candidate.triple).revision)) == 2
    (shown,) = listed(client, lead_of(project), project)
    assert (shown["state"], shown["added_revision"], shown["evaluation"]) == ("confirmed", 2, 7)
    assert [(answer["choice"], answer["note"]) for answer in shown["answers"]] == [
        ("confirm", ""),
        ("confirm", "It says so."),
    ]


@pytest.mark.parametrize(
    ("body", "status"), [({"choice": "perhaps"}, 400), ({"idempotency_key": ""}, 400), ({"note": "x" * 5_000}, 400)]
)
def test_a_wrong_answer_is_refused(client, project, candidate, body, status):
    assert send(client, reviewers(project)[0], candidate, **body).status_code == status
    assert not CandidateAnswer.objects.exists()


def test_a_withdrawn_one_is_gone_and_takes_no_answer(client, project):
    decider = make_member(project, Role.LEAD, name="Decider")
    candidate = make_candidate_block(project, CandidateState.WITHDRAWN, decider)
    reviewer = reviewers(project)[0]

    assert listed(client, reviewer, project) == []
    assert send(client, reviewer, candidate).status_code == 404


def test_the_list_is_filtered_by_state_and_triple(client, project, candidate):
    other, (one, two) = make_open(project)
    say(other, one, CONFIRM)
    say(other, two, REJECT)
    lead = lead_of(project)

    assert [shown["id"] for shown in listed(client, lead, project, state="disputed")] == [other.pk]
    assert [shown["id"] for shown in listed(client, lead, project, triple=candidate.triple_id)] == [candidate.pk]
    assert fresh(other).state == CandidateState.DISPUTED
    client.force_login(lead)
    assert client.get(base(project), {"state": "withdrawn"}).status_code == 400
    assert client.get(base(project), {"triple": "T-0001"}).status_code == 400


@pytest.mark.parametrize("count", [1, 3])
def test_the_number_of_queries_does_not_depend_on_the_rows(client, project, count):
    for _ in range(count):
        make_open(project)
    client.force_login(lead_of(project))
    client.get(base(project))

    with CaptureQueriesContext(connection) as queries:
        assert len(client.get(base(project)).json()["candidates"]) == count

    assert len(queries) == 7


# Deciding and withdrawing


def act(client, person, candidate, step, **body):
    client.force_login(person)
    url = f"{base(candidate.triple.project)}{candidate.pk}/{step}/"
    return client.post(url, body, content_type="application/json")


@pytest.mark.parametrize(("decision", "state", "blocks"), [("add", "confirmed", 2), ("reject", "rejected", 1)])
def test_a_lead_without_a_part_decides_where_two_answers_differ(client, project, candidate, decision, state, blocks):
    one, two, _ = reviewers(project)
    decider = make_member(project, Role.LEAD, name="Decider")
    body = {"decision": decision, "reason": "Read both."}
    assert act(client, decider, candidate, "decide", **body).json()["code"] == "not_decidable"
    say(candidate, one, CONFIRM)
    say(candidate, two, REJECT)

    assert act(client, lead_of(project), candidate, "decide", **body).json()["code"] == "not_decidable"
    decided = act(client, decider, candidate, "decide", **body)

    assert (decided.status_code, decided.json()["state"], decided.json()["reason"]) == (200, state, "Read both.")
    assert len(expected_blocks(reload(candidate.triple).revision)) == blocks
    assert act(client, decider, candidate, "decide", **body).status_code == 409


@pytest.mark.parametrize(
    "body", [{"decision": "add"}, {"decision": "add", "reason": " "}, {"decision": "x", "reason": "y"}]
)
def test_a_decision_says_what_and_why(client, project, candidate, body):
    one, two, _ = reviewers(project)
    say(candidate, one, CONFIRM)
    say(candidate, two, REJECT)

    assert act(client, make_member(project, Role.LEAD), candidate, "decide", **body).status_code == 400
    assert fresh(candidate).state == CandidateState.DISPUTED


def test_who_proposed_it_withdraws_it_and_nobody_else_learns_who_that_is(client, project, candidate):
    one = reviewers(project)[0]

    refused = act(client, one, candidate, "withdraw")
    withdrawn = act(client, candidate.proposed_by, candidate, "withdraw")

    assert (refused.status_code, withdrawn.status_code) == (409, 204)
    assert candidate.proposed_by.name not in refused.json()["detail"]
    assert fresh(candidate).state == CandidateState.WITHDRAWN
    assert act(client, candidate.proposed_by, candidate, "withdraw").status_code == 404
