"""Reminders over the API: for several triples at once, and the same whoever has answered."""

import pytest
from django.urls import reverse

from apps.jobs.models import Notification
from tests.factories import lead_of
from tests.review.factories import answer, make_accepted, make_in_review, reviewers_of
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db


@pytest.fixture
def remind(client, project):
    def remind(person, *triples):
        client.force_login(person)
        body = {"triples": [getattr(triple, "pk", triple) for triple in triples]}
        return client.post(reverse("review-api:remind", args=[project.slug]), body, content_type="application/json")

    return remind


def reminded():
    return Notification.objects.filter(kind="review.reminder")


def test_those_who_have_not_answered_are_reminded_and_the_rest_is_named(project, remind):
    triple, done = make_in_review(project), make_accepted(project)
    answer(triple, reviewers_of(triple)[0])

    told = remind(lead_of(project), triple, done)

    assert told.json() == {
        "reminded": [{"id": triple.pk, "number": triple.label}],
        "left": [{"id": done.pk, "number": done.label, "reason": told.json()["left"][0]["reason"]}],
    }
    assert "no round is open" in told.json()["left"][0]["reason"]
    assert [row.person for row in reminded()] == [reviewers_of(triple)[1]]


def test_the_answer_does_not_tell_who_has_answered(project, remind):
    triple = make_in_review(project)
    before = remind(lead_of(project), triple).content

    for reviewer in reviewers_of(triple)[:1]:
        answer(triple, reviewer)

    assert remind(lead_of(project), triple).content == before


def test_where_no_round_is_open_nobody_is_reminded(project, remind):
    assert remind(lead_of(project), make_accepted(project)).json()["code"] == "nobody_to_remind"


@pytest.mark.parametrize("triples", [[], ["T-0001"], [0], [2**70], [1] * 201])
def test_a_wrong_list_is_refused(project, remind, triples):
    assert remind(lead_of(project), *triples).status_code == 400


def test_one_of_another_project_stops_them_all(project, remind):
    triple, other = make_in_review(project), make_in_review(make_team())

    told = remind(lead_of(project), triple, other)

    assert told.status_code == 400
    assert f"{other.pk} is no triple of this project" in str(told.json())
    assert not reminded().exists()
