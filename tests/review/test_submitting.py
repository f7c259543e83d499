"""Sending a revision to review, for the first time or again."""

import pytest
from django.db import IntegrityError, transaction

from apps.accounts.enums import Role
from apps.review.actions import (
    SubmitRefused,
    submit_triple,
)
from apps.review.enums import Choice
from apps.review.models import ReviewSeat
from apps.triples.enums import State
from apps.triples.models import ExpectedBlock, Revision
from tests.factories import AT, lead_of, make_member
from tests.review.factories import (
    make_in_review,
    reload,
    reviewers_of,
)
from tests.triples.factories import make_draft, make_team

C, F = Choice.CONFIRM, Choice.FLAG


@pytest.fixture
def project(db):
    return make_team()


def test_submit_opens_a_round_with_two_seats(project):
    triple = make_in_review(project)

    seats = list(triple.current.seats.order_by("number"))
    assert (triple.state, triple.round, triple.current.round) == (State.IN_REVIEW, 1, 1)
    assert [seat.number for seat in seats] == [1, 2]
    assert triple.current.submitted_at == AT


def test_submit_refuses_while_a_check_stops_it(project):
    triple = make_draft(project, answer="At most 9 hours.")

    with pytest.raises(SubmitRefused, match="One check stops it: a figure differs from the evidence"):
        submit_triple(project=project, triple_id=triple.pk, author=triple.author, at=AT)

    assert reload(triple).state == State.DRAFT


def test_submit_refuses_anybody_but_the_author(project):
    triple = make_draft(project)

    with pytest.raises(SubmitRefused, match="Only who is writing"):
        submit_triple(project=project, triple_id=triple.pk, author=lead_of(project), at=AT)


def test_submit_refuses_when_only_one_other_reviewer_exists(db):
    project = make_team(reviewers=1)
    author = make_member(project, Role.ANNOTATOR, Role.REVIEWER, name="Both")
    triple = make_draft(project, author=author)

    with pytest.raises(SubmitRefused, match="the project has one"):
        submit_triple(project=project, triple_id=triple.pk, author=author, at=AT)

    assert (reload(triple).state, ReviewSeat.objects.count()) == (State.DRAFT, 0)


def test_the_author_never_gets_a_seat(db):
    project = make_team(reviewers=2)
    author = make_member(project, Role.ANNOTATOR, Role.REVIEWER, name="Both")

    triple = make_in_review(project, author=author)

    assert author not in reviewers_of(triple)


def test_seats_go_to_those_with_the_least_load(db):
    project = make_team(reviewers=4)

    triples = [make_in_review(project) for _ in range(6)]

    load = {person: 0 for triple in triples for person in reviewers_of(triple)}
    for triple in triples:
        for person in reviewers_of(triple):
            load[person] += 1
    assert sorted(load.values()) == [3, 3, 3, 3]


def test_warnings_are_kept_with_the_revision(project):
    make_in_review(project, question="How long may an emergency session last?")

    triple = make_in_review(project, question="How long may the emergency session last?")

    assert [warning["code"] for warning in triple.current.warnings] == ["duplicate"]


def test_a_submitted_revision_and_its_blocks_never_change(project):
    triple = make_in_review(project)
    block = triple.current.expected_blocks.get()

    for change in (
        lambda: Revision.objects.filter(pk=triple.current_id).update(answer="Other"),
        lambda: Revision.objects.filter(pk=triple.current_id).delete(),
        lambda: ExpectedBlock.objects.filter(pk=block.pk).update(spans=[]),
        lambda: ExpectedBlock.objects.filter(pk=block.pk).delete(),
        lambda: ExpectedBlock.objects.create(revision=triple.current, version=block.version, order=2),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            change()


def test_the_database_refuses_a_seat_for_the_author(project):
    triple = make_in_review(project)
    seat = triple.current.seats.first()

    with pytest.raises(IntegrityError, match="nobody reviews what they wrote"), transaction.atomic():
        ReviewSeat.objects.create(revision=triple.current, number=seat.number, reviewer=triple.author, opened_at=AT)
