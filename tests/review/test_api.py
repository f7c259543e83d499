import pytest

from apps.accounts.enums import Role
from apps.review.models import Verdict
from apps.triples.enums import State
from tests.factories import make_member
from tests.review.factories import answer, make_accepted, make_in_review, reload, reviewers_of
from tests.triples.factories import make_draft


def base(project):
    return f"/api/v1/projects/{project.slug}"


def send(client, project, triple, **changes):
    body = {"revision_id": triple.current_id, "choice": "confirm", "idempotency_key": "k1"} | changes
    return client.post(f"{base(project)}/review/{triple.pk}/verdict/", body, content_type="application/json")


def test_the_queue_and_the_next_triple_are_ones_own(client, project):
    triple = make_in_review(project)
    reviewer = reviewers_of(triple)[0]
    client.force_login(reviewer)

    queue = client.get(f"{base(project)}/review/queue/").json()["waiting"]
    following = client.get(f"{base(project)}/review/next/").json()["triple"]

    assert [(row["triple_id"], row["round"]) for row in queue] == [(triple.pk, 1)]
    assert following["number"] == "T-0001"
    assert following["expected_blocks"][0]["evidence"][0]["text"] == "A session lasts at most eight hours."

    answer(triple, reviewer)

    assert client.get(f"{base(project)}/review/queue/").json() == {"waiting": []}
    assert client.get(f"{base(project)}/review/next/").json() == {"triple": None}


def test_a_verdict_sent_twice_has_one_effect_and_the_same_answer(client, project):
    triple = make_in_review(project)
    client.force_login(reviewers_of(triple)[0])

    first, second = send(client, project, triple), send(client, project, triple)

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert Verdict.objects.count() == 1


def test_the_response_to_a_verdict_does_not_reveal_whether_the_round_closed(client, project):
    triples = [make_in_review(project), make_in_review(project)]
    one, two = reviewers_of(triples[0])
    answer(triples[0], one)
    client.force_login(two)

    closed, still_open = (send(client, project, triple, idempotency_key=f"k{triple.pk}") for triple in triples)

    assert set(closed.json()) == set(still_open.json())
    assert reload(triples[0]).state == State.ACCEPTED


def test_the_key_may_be_a_header(client, project):
    triple = make_in_review(project)
    client.force_login(reviewers_of(triple)[0])

    sent = client.post(
        f"{base(project)}/review/{triple.pk}/verdict/",
        {"revision_id": triple.current_id, "choice": "confirm"},
        content_type="application/json",
        headers={"Idempotency-Key": "from-the-header"},
    )

    assert sent.status_code == 201
    assert Verdict.objects.get().idempotency_key == "from-the-header"


def test_refusals_come_as_problems_with_a_code(client, project):
    triple = make_in_review(project)
    client.force_login(reviewers_of(triple)[0])

    refused = send(client, project, triple, choice="flag", reasons=["overstated"])
    stale = send(client, project, triple, revision_id=triple.current_id + 1)
    wrong = send(client, project, triple, choice="perhaps")
    no_object = client.post(f"{base(project)}/review/{triple.pk}/verdict/", [1], content_type="application/json")

    assert (refused.status_code, refused.json()["code"]) == (409, "bad_verdict")
    assert (stale.status_code, stale.json()["code"]) == (409, "other_revision")
    assert (wrong.status_code, no_object.status_code) == (400, 400)


def test_triples_are_listed_page_by_page_without_drafts_of_others(client, project):
    accepted = make_accepted(project)
    make_in_review(project)
    make_draft(project)
    client.force_login(make_member(project, Role.ANNOTATOR))

    first = client.get(f"{base(project)}/triples/", {"limit": 1}).json()
    second = client.get(f"{base(project)}/triples/", {"limit": 1, "after": first["next"]}).json()
    only = client.get(f"{base(project)}/triples/", {"state": "accepted"}).json()

    assert [t["number"] for t in first["triples"] + second["triples"]] == ["T-0001", "T-0002"]
    assert second["next"] is None
    assert [t["id"] for t in only["triples"]] == [accepted.pk]
    assert only["triples"][0]["metadata"]["resolution"] == "consensus"


@pytest.mark.parametrize("query", [{"state": "revisions__verdicts"}, {"limit": 0}, {"limit": "x"}, {"after": -1}])
def test_filters_are_allow_listed(client, project, query):
    client.force_login(make_member(project, Role.ANNOTATOR))

    assert client.get(f"{base(project)}/triples/", query).status_code == 400
