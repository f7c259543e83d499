"""The split over the API: claims are proposed, edited, and become drafts of their own."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.factories import lead_of, make_member
from tests.review.factories import make_disputed, make_in_review, reload
from tests.review.test_claims import ANSWER, EVIDENCE, QUESTION, evidence_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def triple(project):
    return make_disputed(project, question=QUESTION, answer=ANSWER, evidence=EVIDENCE)


@pytest.fixture
def ask(client, project):
    """Asks somebody's endpoint of splits, with a body or without one."""

    def ask(person, triple, body=None):
        client.force_login(person)
        address = reverse("review-api:split", args=[project.slug, triple.pk])
        return client.get(address) if body is None else client.post(address, body, content_type="application/json")

    return ask


def claim(question="How long does it last?", block="access", quote="A session lasts at most eight hours."):
    return {"question": question, "answer": "Eight hours.", "blocks": [{"block_id": block, "quotes": [quote]}]}


def test_the_proposal_can_be_sent_back_as_it_is(triple, ask):
    proposed = ask(triple.author, triple)

    assert proposed.json()["claims"] == [
        {
            "question": "How long does access last?",
            "answer": "At most eight hours in a session.",
            "blocks": [{"block_id": "access", "quotes": ["A session lasts at most eight hours."]}],
        },
        {
            "question": "How does it end?",
            "answer": "It closes by itself.",
            "blocks": [{"block_id": "access", "quotes": ["It closes by itself at the end of the incident"]}],
        },
    ]
    split = ask(triple.author, triple, proposed.json())

    assert split.status_code == 201
    one, two = triple.children.order_by("number")
    assert [draft["id"] for draft in split.json()["drafts"]] == [one.pk, two.pk]
    assert (split.json()["triple"]["state"], reload(triple).state) == ("split", State.SPLIT)
    assert (one.state, one.author, two.state) == (State.DRAFT, triple.author, State.DRAFT)
    assert evidence_of(one) == ("access", ["A session lasts at most eight hours."])


def test_a_claim_may_rest_on_another_passage_of_the_snapshot(triple, ask):
    words = "Every datastore is copied twice a day."
    body = {"claims": [claim(), claim("How often is it copied?", "backups", words)]}

    ask(triple.author, triple, body)

    assert evidence_of(triple.children.order_by("number").last()) == ("backups", [words])


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ([claim()], "at least 2"),
        ([claim()] * 7, "no more than 6"),
        ([claim(), claim(question="")], "blank"),
        ([claim(), {"question": "What?", "answer": "So.", "blocks": []}], "blocks"),
        ([claim(), claim(block="nowhere")], "Claim 2: nowhere is no passage of the snapshot of T-0001."),
        ([claim(), claim(quote="Twelve hours.")], "Claim 2: “Twelve hours.” is not in access."),
        ("two", "list"),
    ],
)
def test_claims_that_cannot_be_are_named(triple, ask, claims, said):
    answer = ask(triple.author, triple, {"claims": claims})

    assert answer.status_code == 400
    assert said in str(answer.json())
    assert Triple.objects.count() == 1


def test_only_the_author_splits_and_only_a_disputed_triple(project, triple, ask):
    body = {"claims": [claim(), claim()]}
    waiting = make_in_review(project)

    assert ask(lead_of(project), triple).json()["code"] == "not_splittable"
    assert ask(lead_of(project), triple, body).json()["code"] == "not_splittable"
    assert ask(waiting.author, waiting, body).status_code == 409
    assert ask(make_member(project, Role.REVIEWER), triple, body).status_code == 403
    assert ask(triple.author, triple, body).status_code == 201
    assert ask(triple.author, triple, body).status_code == 409
