"""Reminders, seats that are given away, and escalations."""

from datetime import timedelta

import pytest
from django.db import transaction

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.jobs.models import Notification
from apps.review.actions import notices
from apps.review.actions.seating import reseat
from apps.review.models import ReviewSeat
from apps.triples.models import Triple
from tests.factories import AT, lead_of, make_member
from tests.review.crawling import SAID, Rewind
from tests.review.factories import answer, make_disputed, make_in_review, reload, reviewers_of
from tests.review.notices.hearing import DAY, told

pytestmark = pytest.mark.django_db


def seat_of(triple: Triple, reviewer: User) -> ReviewSeat:
    return ReviewSeat.objects.select_related("revision__triple__project", "reviewer").get(
        revision=reload(triple).current, reviewer=reviewer, released_at=None
    )


def test_a_reminder_of_an_open_review_comes_once_a_day(project, ann):
    triple = make_in_review(project, author=ann)
    seat = seat_of(triple, reviewers_of(triple)[0])

    times = [AT, AT + DAY / 2, AT + DAY - timedelta(seconds=1), AT + DAY, AT + DAY * 1.5, AT + DAY * 2]
    found = told(triple, lambda: [notices.remind(seat, at) for at in times])

    assert found == {"first": ["T still needs your review."] * 3}


def test_a_reminder_is_not_repeated_because_a_clock_stepped_back(project, ann):
    triple = make_in_review(project, author=ann)
    seat = seat_of(triple, reviewers_of(triple)[0])

    assert notices.remind(seat, AT + DAY) is not None
    assert notices.remind(seat, AT) is None


def test_a_reminder_is_the_same_whatever_the_other_answered(project, ann):
    sent = {}
    triple = make_in_review(project, author=ann)
    first, second = reviewers_of(triple)
    for name, say in SAID.items():
        try:
            with transaction.atomic():
                say(triple, first)
                sent[name] = told(triple, lambda: notices.remind(seat_of(triple, second), AT))
                raise Rewind
        except Rewind:
            pass

    assert list(sent.values()) == [{"second": ["T still needs your review."]}] * len(SAID)


def test_nobody_is_reminded_of_what_they_answered_gave_away_or_what_is_over(project, ann):
    make_member(project, Role.REVIEWER, name="Third")
    triple = make_in_review(project, author=ann)
    first, second = reviewers_of(triple)
    answered, given_away = seat_of(triple, first), seat_of(triple, second)
    answer(triple, first)
    reseat(project=project, triple_id=triple.pk, reviewer=second, lead=lead_of(project), reason="Away.", at=AT)
    closed = make_disputed(project, author=ann)
    over = seat_of(closed, reviewers_of(closed)[0])
    given_away.refresh_from_db()

    assert [notices.remind(seat, AT) for seat in (answered, given_away, over)] == [None] * 3


def test_a_reassigned_seat_notifies_both_and_nobody_else(project, ann):
    third = make_member(project, Role.REVIEWER, name="Third")
    triple = make_in_review(project, author=ann)
    holder, _ = reviewers_of(triple)
    heir = ({*User.objects.filter(name__in=["Rob", "Rita"]), third} - set(reviewers_of(triple))).pop()
    people = {holder: "holder", heir: "heir"}
    before = set(Notification.objects.values_list("pk", flat=True))

    reseat(project=project, triple_id=triple.pk, reviewer=holder, lead=lead_of(project), reason="Away.", at=AT)

    rows = Notification.objects.exclude(pk__in=before).order_by("pk")
    assert {people[row.person]: row.sentence for row in rows} == {
        "holder": f"{triple.label} no longer needs your review. It was assigned to somebody else.",
        "heir": f"{triple.label} is ready for your review.",
    }
    assert list(Notification.objects.filter(person=holder, read_at=None)) == [rows.get(person=holder)]


def test_a_lead_who_is_not_involved_is_notified_once_of_each_delay_and_its_length(project, ann):
    triple = make_in_review(project, author=ann)
    lead = lead_of(project)

    found = told(triple, lambda: [notices.escalated(reload(triple), lead, AT + days * DAY) for days in (7, 8)])

    assert found == {"lead": ["T has been in review for 7 days."]}


def test_an_escalation_is_the_same_whatever_one_reviewer_answered(project, ann):
    triple = make_in_review(project, author=ann)
    first, _ = reviewers_of(triple)
    sent = []
    for say in SAID.values():
        try:
            with transaction.atomic():
                say(triple, first)
                sent.append(told(triple, lambda: notices.escalated(reload(triple), lead_of(project), AT + 7 * DAY)))
                raise Rewind
        except Rewind:
            pass

    assert sent == [{"lead": ["T has been in review for 7 days."]}] * len(SAID)


def test_a_long_dispute_is_worded_differently_from_a_long_review(project, ann):
    triple = make_disputed(project, author=ann)
    lead = lead_of(project)

    found = told(triple, lambda: notices.escalated(triple, lead, AT + 8 * DAY))

    assert found == {"lead": ["T has been disputed for 8 days."]}


def test_an_involved_lead_gets_no_escalation(project):
    lead = lead_of(project)
    mine = make_in_review(project, author=lead)
    reviewer = reviewers_of(mine)[0]

    assert notices.escalated(mine, lead, AT + 9 * DAY) is None
    assert notices.escalated(mine, reviewer, AT + 9 * DAY) is None
