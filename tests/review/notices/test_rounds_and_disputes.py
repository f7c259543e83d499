from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from apps.accounts.models import User
from apps.jobs.models import Notification
from apps.review.actions.disputes import drop_triple, post_message, split_triple
from apps.review.actions.submitting import begin_revision, submit_triple
from apps.review.enums import Decision, VerdictChoice
from apps.triples.actions.triples import save_draft
from apps.triples.models import Triple
from apps.triples.selectors.draft_checks import Wording
from tests.factories import AT, lead_of
from tests.review.factories import (
    answer,
    decide,
    make_claims,
    make_disputed,
    make_in_review,
    reload,
    reviewers_of,
    take_back,
)
from tests.review.notices.hearing import told
from tests.triples.factories import make_draft, make_wording

pytestmark = pytest.mark.django_db


def message(triple: Triple, author: User) -> None:
    post_message(project=triple.project, triple_id=triple.pk, author=author, text="The block says so.", at=AT)


def revise_with(triple: Triple, person: User, answer_now: str = "Eight hours at most.") -> None:
    project, snapshot = triple.project, triple.snapshot
    begin_revision(project=project, triple_id=triple.pk, person=person, snapshot=snapshot, at=AT)
    wording: Wording = make_wording(snapshot, answer=answer_now)
    seen = reload(triple).edit_version
    save_draft(
        project=project,
        triple_id=triple.pk,
        author=person,
        seen_version=seen,
        snapshot=snapshot,
        wording=wording,
        at=AT,
    )
    submit_triple(project=project, triple_id=triple.pk, author=person, at=AT)


def split(triple: Triple) -> None:
    claims = make_claims(triple)
    split_triple(project=triple.project, triple_id=triple.pk, author=triple.author, claims=claims, at=AT)


def drop(triple: Triple) -> None:
    drop_triple(project=triple.project, triple_id=triple.pk, author=triple.author, reason="Not needed.", at=AT)


DISPUTED: dict[str, tuple[Callable[[Triple], Any], dict[str, list[str]]]] = {
    "the author writes": (
        lambda triple: message(triple, triple.author),
        {"second": ["[author] wrote to you about T."]},
    ),
    "the flagger writes": (
        lambda triple: message(triple, reviewers_of(triple)[1]),
        {"author": ["[second] wrote to you about T."]},
    ),
    "the flagger withdraws the flag": (
        lambda triple: take_back(triple, reviewers_of(triple)[1]),
        {
            "author": ["[second] withdrew the flag on T. It is accepted."],
            "first": ["[second] withdrew the flag on T. It is accepted."],
        },
    ),
    "the author revises": (
        lambda triple: revise_with(triple, triple.author),
        {
            "first": ["T is ready for your review, in a new revision."],
            "second": ["T is ready for your review, in a new revision."],
        },
    ),
    "the author splits": (
        split,
        {
            "first": ["[author] split T into 2 claims, each a Q&A of its own."],
            "second": ["[author] split T into 2 claims, each a Q&A of its own."],
        },
    ),
    "the author drops": (
        drop,
        {
            "first": ["[author] dropped T. The reason is on its page."],
            "second": ["[author] dropped T. The reason is on its page."],
        },
    ),
    "a lead accepts": (
        lambda triple: decide(triple, lead_of(triple.project), Decision.ACCEPT),
        {part: ["[lead] decided the dispute: T is accepted as it is."] for part in ("author", "first", "second")},
    ),
    "a lead drops": (
        lambda triple: decide(triple, lead_of(triple.project), Decision.DROP),
        {part: ["[lead] decided the dispute: T is dropped."] for part in ("author", "first", "second")},
    ),
    "a lead returns": (
        lambda triple: decide(triple, lead_of(triple.project), Decision.RETURN),
        {
            "author": ["[lead] decided the dispute: T goes to another review."],
            "first": ["T is ready for your review, in a new revision."],
            "second": ["T is ready for your review, in a new revision."],
        },
    ),
}


@pytest.mark.parametrize("event", list(DISPUTED))
def test_events_in_a_dispute_notify_those_involved(project, ann, event):
    """Never to whoever did it, to the lead without a part, or to a bystander."""
    triple = make_disputed(project, author=ann)
    act, expected = DISPUTED[event]

    assert told(triple, lambda: act(triple)) == expected


def test_acting_in_a_dispute_marks_its_notifications_as_read(project, ann):
    triple = make_disputed(project, author=ann)
    _, flagger = reviewers_of(triple)

    message(triple, ann)
    message(triple, flagger)

    unread = Notification.objects.filter(read_at=None).values_list("person", "kind")
    assert sorted(unread) == sorted([(ann.pk, "review.message"), (reviewers_of(triple)[0].pk, "review.disputed")])


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
