"""Reviewers who pull or answer at once, each over a connection of their own, on PostgreSQL and on SQLite."""

import itertools

import pytest

from apps.accounts.enums import Role
from apps.common.errors import Refusal
from apps.review.actions.candidate_blocks import withdraw_candidate
from apps.review.actions.seating import pull_seat
from apps.review.enums import CandidateChoice
from apps.review.models import CandidateAnswer, ReviewSeat
from apps.triples.selectors.triples import expected_blocks
from tests.factories import AT, make_member
from tests.races import at_once
from tests.review.candidates import CONFIRM, fresh, make_open, propose, say
from tests.review.factories import make_in_review, reload
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db(transaction=True)
TIMES = 3
ENDS = {0: "rejected", 1: "disputed", 2: "confirmed"}


@pytest.fixture
def project():
    return make_team()


def test_both_reviewers_at_once_come_to_one_end(project):
    for first, second in itertools.product(CandidateChoice, CandidateChoice):
        for _ in range(TIMES):
            candidate, (one, two) = make_open(project)

            at_once(
                lambda candidate=candidate, one=one, first=first: say(candidate, one, first),
                lambda candidate=candidate, two=two, second=second: say(candidate, two, second),
            )

            confirmed = [first, second].count(CONFIRM)
            assert fresh(candidate).state == ENDS[confirmed]
            assert len(expected_blocks(reload(candidate.triple).revision)) == (2 if confirmed == 2 else 1)
            assert CandidateAnswer.objects.filter(candidate=candidate).count() == 2


def test_of_three_at_once_two_answers_count(project):
    for _ in range(TIMES):
        candidate, (one, two) = make_open(project)
        third = make_member(project, Role.REVIEWER)

        said = at_once(*(lambda candidate=candidate, who=who: say(candidate, who) for who in (one, two, third)))

        assert sum(isinstance(result, Refusal) for result in said) == 1
        assert fresh(candidate).state == "confirmed"


def test_two_passages_confirmed_at_once_are_both_added(project):
    first, (one, two) = make_open(project)
    second = propose(first.triple, first.proposed_by, "rotation")
    say(first, one)
    say(second, one)

    at_once(lambda: say(first, two), lambda: say(second, two))

    assert len(expected_blocks(reload(first.triple).revision)) == 3


def test_what_is_withdrawn_while_the_last_answer_comes_is_one_or_the_other(project):
    for _ in range(TIMES):
        candidate, (one, two) = make_open(project)
        say(candidate, one)

        back, _ = at_once(
            lambda candidate=candidate: withdraw_candidate(
                project=project, pk=candidate.pk, person=candidate.proposed_by, at=AT
            ),
            lambda candidate=candidate, two=two: say(candidate, two),
        )

        assert fresh(candidate).state == ("confirmed" if isinstance(back, Refusal) else "withdrawn")


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
