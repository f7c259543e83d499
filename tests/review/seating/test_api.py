"""Seats and the board over HTTP, by pages and by the API."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.review.enums import VerdictChoice
from apps.review.models import ReviewSeat, Verdict
from tests.factories import lead_of, make_member
from tests.review.factories import answer, make_in_review, reviewers_of
from tests.review.seating.moving import people, pull, set_policy, with_reviewer_lead


def url(name, project, *args):
    return reverse(f"review:{name}", args=[project.slug, *args])


def api(client, project, path, **body):
    call = client.post if body or path.endswith(("pull/", "give-back/")) else client.get
    return call(f"/api/v1/projects/{project.slug}/review/{path}", body or None, content_type="application/json")


def test_the_queue_offers_and_next_pulls_and_skip_gives_back(client, pulled):
    first, second = make_in_review(pulled), make_in_review(pulled)
    one = people(pulled)[0]
    client.force_login(one)

    page = client.get(url("queue", pulled)).content.decode()
    assert "<b>2</b> Q&amp;As need a reviewer" in page
    assert "Take the next one" in page
    assert client.get(url("next", pulled)).url == url("queue", pulled)

    assert client.post(url("pull", pulled)).url == url("screen", pulled, first.pk)
    assert client.get(url("screen", pulled, first.pk)).status_code == 200
    assert client.post(url("skip", pulled, first.pk), follow=True).redirect_chain[-1][0] == url(
        "screen", pulled, second.pk
    )
    assert client.post(url("skip", pulled, second.pk), follow=True).redirect_chain[-1][0] == url("queue", pulled)
    assert ReviewSeat.objects.filter(released_at=None).count() == 0


def test_a_verdict_pulls_the_next_one(client, pulled):
    first, second = make_in_review(pulled), make_in_review(pulled)
    one = people(pulled)[0]
    pull(pulled, one)
    client.force_login(one)

    body = {"revision": first.current_id, "key": "k", "choice": "confirm"}
    sent = client.post(url("verdict", pulled, first.pk), body, follow=True)

    assert sent.redirect_chain[-1][0] == url("screen", pulled, second.pk)
    assert f"{first} confirmed." in sent.content.decode()


def test_where_nothing_is_left_pulling_says_so(client, pulled):
    client.force_login(people(pulled)[0])

    assert "Nothing left to review now." in client.post(url("pull", pulled), follow=True).content.decode()


def test_skipping_a_seat_assigned_by_load_keeps_the_seat(client, project):
    triple = make_in_review(project)
    client.force_login(reviewers_of(triple)[0])

    assert client.post(url("skip", project, triple.pk)).url == url("screen", project, triple.pk)
    assert len(reviewers_of(triple)) == 2


def test_the_guideline_is_shown_with_the_review_without_scripts(client, project):
    triple = make_in_review(project)
    client.force_login(reviewers_of(triple)[0])

    assert "Would somebody ask this?" in client.get(url("screen", project, triple.pk)).content.decode()
    set_policy(project, review_guideline="**Ours** <script>alert(1)</script> [x](javascript:alert(1))")
    page = client.get(url("screen", project, triple.pk)).content.decode()
    assert "<strong>Ours</strong>" in page
    assert "<script>alert" not in page
    assert 'href="javascript:' not in page


def test_the_api_pulls_and_gives_back(client, pulled):
    triple = make_in_review(pulled)
    client.force_login(people(pulled)[0])

    assert api(client, pulled, "pull/").json()["triple"]["number"] == triple.label
    assert api(client, pulled, f"{triple.pk}/give-back/").status_code == 204
    assert api(client, pulled, f"{triple.pk}/give-back/").json()["code"] == "not_given_back"


def test_the_api_reseats(client, project):
    triple = make_in_review(project)
    one = reviewers_of(triple)[0]
    heir = make_member(project, Role.REVIEWER)
    client.force_login(lead_of(project))

    done = api(client, project, f"{triple.pk}/re-seat/", reviewer=one.pk, to=heir.pk, reason="Holiday.")

    assert (done.status_code, done.json()) == (201, {"triple_id": triple.pk, "seat": 1, "reviewer": heir.pk})
    assert api(client, project, f"{triple.pk}/re-seat/", reviewer=10**9, reason="x").status_code == 404
    assert api(client, project, f"{triple.pk}/re-seat/", reviewer=heir.pk).status_code == 400


def test_the_api_board_depends_on_the_person(client, project):
    triple, lead, other = with_reviewer_lead(project)
    client.force_login(lead)
    before = api(client, project, "board/?state=in_review").json()

    answer(triple, other, VerdictChoice.FLAG)

    assert api(client, project, "board/?state=in_review").json() == before
    assert before["rows"][0]["seats"] is None
    client.force_login(lead_of(project))
    seats = api(client, project, "board/").json()["rows"][0]["seats"]
    assert [seat["has_answered"] for seat in seats] == [False, True]
    assert Verdict.objects.count() == 1


@pytest.mark.parametrize("asked", ["?state=gone", "?author=x", "?author__email=a", "?after=x", "?days=2"])
def test_the_api_board_refuses_what_it_does_not_know(client, project, asked):
    client.force_login(lead_of(project))

    assert api(client, project, f"board/{asked}").status_code == 400
