"""Reviewers who pull at once, each over a connection of their own."""

import pytest

from apps.accounts.enums import Role
from apps.review.actions.seating import pull_seat
from apps.review.models import ReviewSeat
from tests.factories import AT, make_member
from tests.races import at_once
from tests.review.factories import make_in_review
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project():
    return make_team()


def test_many_who_pull_at_once_never_fill_more_than_two_seats_of_a_round(project):
    reviewers = [make_member(project, Role.REVIEWER) for _ in range(6)]
    project.policies |= {"review_assignment": "pull"}
    project.save(update_fields=["policies"])
    triples = [make_in_review(project) for _ in range(3)]

    seats = at_once(*[lambda person=person: pull_seat(project=project, reviewer=person, at=AT) for person in reviewers])

    assert sorted(seat.revision.triple_id for seat in seats) == sorted([triple.pk for triple in triples] * 2)
    assert ReviewSeat.objects.filter(released_at=None).count() == 6


def test_two_tabs_of_one_person_pull_one_seat(project):
    project.policies |= {"review_assignment": "pull"}
    project.save(update_fields=["policies"])
    for _ in range(2):
        make_in_review(project)
    person = make_member(project, Role.REVIEWER)

    at_once(*[lambda: pull_seat(project=project, reviewer=person, at=AT)] * 3)

    assert ReviewSeat.objects.filter(reviewer=person).count() == 1
