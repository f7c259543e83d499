"""Seats that open, verdicts, and the end of a round."""

import pytest
from django.urls import reverse

from apps.jobs.models import Notification
from apps.review.actions.submitting import submit_triple
from apps.review.enums import VerdictChoice
from tests.factories import AT
from tests.review.factories import answer, make_in_review, reviewers_of
from tests.review.notices.hearing import told
from tests.triples.factories import make_draft

pytestmark = pytest.mark.django_db


def test_two_reviewers_hear_of_their_seats_and_nobody_else(project, ann):
    triple = make_draft(project, author=ann)
    submit_triple(project=project, triple_id=triple.pk, author=ann, at=AT)
    one, two = reviewers_of(triple)

    rows = list(Notification.objects.values_list("person", "sentence", "path"))

    screen = reverse("review:screen", args=(project.slug, triple.pk))
    assert sorted(rows) == sorted((who.pk, f"{triple.label} is ready for your review.", screen) for who in (one, two))


@pytest.mark.parametrize("choice", list(VerdictChoice))
def test_neither_the_first_verdict_nor_a_change_of_it_notifies_anybody(project, ann, choice):
    triple = make_in_review(project, author=ann)
    first, _ = reviewers_of(triple)

    assert told(triple, lambda: answer(triple, first, choice)) == {}
    assert told(triple, lambda: answer(triple, first, VerdictChoice.FLAG)) == {}


def test_answering_marks_ones_own_seat_as_dealt_with_and_not_the_others(project, ann):
    triple = make_in_review(project, author=ann)
    first, second = reviewers_of(triple)

    answer(triple, first)

    assert list(Notification.objects.filter(read_at=None).values_list("person", flat=True)) == [second.pk]


CLOSED = {
    (VerdictChoice.CONFIRM, VerdictChoice.CONFIRM): {"author": ["T is accepted: both confirmed it."]},
    (VerdictChoice.FLAG, VerdictChoice.FLAG): {
        "author": ["T is dropped: both reviewers flagged it. Their reasons are on its page."]
    },
    (VerdictChoice.CONFIRM, VerdictChoice.FLAG): {
        "author": ["[second] flagged T, [first] confirmed it. Answer the flag, revise, split or drop it."],
        "second": ["You flagged T, [first] confirmed it. Resolve it with [author]."],
        "first": ["You confirmed T, [second] flagged it. You can read their messages."],
    },
    (VerdictChoice.FLAG, VerdictChoice.CONFIRM): {
        "author": ["[first] flagged T, [second] confirmed it. Answer the flag, revise, split or drop it."],
        "first": ["You flagged T, [second] confirmed it. Resolve it with [author]."],
        "second": ["You confirmed T, [first] flagged it. You can read their messages."],
    },
}


@pytest.mark.parametrize("choices", list(CLOSED), ids=lambda pair: " and ".join(pair))
@pytest.mark.parametrize("last", [0, 1])
def test_the_end_of_a_round_notifies_those_it_concerns(project, ann, choices, last):
    """Whoever answers last: the sentences are the same."""
    triple = make_in_review(project, author=ann)
    people = reviewers_of(triple)
    answer(triple, people[1 - last], choices[1 - last])

    assert told(triple, lambda: answer(triple, people[last], choices[last])) == CLOSED[choices]
