from collections.abc import Callable
from typing import Any

import pytest

from apps.accounts.models import User
from apps.jobs.models import Notification
from apps.review.actions.disputes import drop_triple, post_message, split_triple
from apps.review.actions.submitting import begin_revision, submit_triple
from apps.review.enums import Decision
from apps.triples.actions.triples import save_draft
from apps.triples.models import Triple
from apps.triples.selectors.draft_checks import Wording
from tests.factories import AT, lead_of
from tests.review.factories import decide, make_claims, make_disputed, reload, reviewers_of, take_back
from tests.review.notices.hearing import told
from tests.triples.factories import make_wording

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
