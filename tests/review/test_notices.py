"""Who is told what of a review, event by event; and that nobody is told of a verdict before the round is closed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import transaction
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.agreement.models import CalibrationItem
from apps.jobs import curtains
from apps.jobs.mailing import mail_what_is_due
from apps.jobs.models import Notification, Outbox
from apps.jobs.outbox import deliver_due
from apps.jobs.selectors import notifications_of
from apps.review import notices
from apps.review.actions import (
    Decision,
    begin_revision,
    drop_triple,
    post_message,
    reseat,
    split_triple,
    submit_triple,
)
from apps.review.enums import Choice
from apps.review.models import ReviewSeat
from apps.triples.actions import refresh_staleness, save_draft
from apps.triples.drafting import Wording
from apps.triples.models import ImportedEntry, Triple
from apps.triples.notices import candidate_adopted
from tests.agreement.factories import answer_items, make_calibration
from tests.factories import AT, lead_of, make_member, make_project
from tests.review.factories import (
    CHANGED,
    answer,
    decide,
    make_accepted,
    make_claims,
    make_disputed,
    make_in_review,
    reload,
    reviewers_of,
    take_back,
)
from tests.review.test_blindness import SAID, Rewind, bare, crawl
from tests.triples.factories import make_draft, make_snapshot, make_wording

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


@pytest.fixture
def project(db) -> Project:
    """Ann writes; of each triple one of Rob and Rita sits first, the other second; Lena leads without a part."""
    project = make_project()
    make_snapshot(project)
    make_member(project, Role.REVIEWER, name="Rob")
    make_member(project, Role.REVIEWER, name="Rita")
    User.objects.filter(pk=lead_of(project).pk).update(name="Lena")
    make_member(project, Role.ANNOTATOR, name="Bystander")
    return project


@pytest.fixture
def ann(project) -> User:
    return make_member(project, Role.ANNOTATOR, name="Ann")


def named(triple: Triple) -> dict[str, User]:
    """The people of a triple by their part."""
    first, second = reviewers_of(triple)
    return {"author": triple.author, "first": first, "second": second, "lead": lead_of(triple.project)}


def told(triple: Triple, act: Callable[[], Any]) -> dict[str, list[str]]:
    """What `act` tells to whom, by part in the triple. T stands for its label, and parts stand for names."""
    people = named(triple)
    last = Notification.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    act()
    found: dict[str, list[str]] = {}
    for row in Notification.objects.filter(pk__gt=last).order_by("pk").select_related("person"):
        part = next((part for part, person in people.items() if person == row.person), row.person.name)
        sentence = row.sentence.replace(triple.label, "T")
        for name, person in people.items():
            sentence = sentence.replace(person.name, f"[{name}]")
        found.setdefault(part, []).append(sentence)
    return found


# Opening and answering ---------------------------------------------------------------------------------------------


def test_two_reviewers_hear_of_their_seats_and_nobody_else(project, ann):
    triple = make_draft(project, author=ann)
    submit_triple(project=project, triple_id=triple.pk, author=ann, at=AT)
    one, two = reviewers_of(triple)

    rows = list(Notification.objects.values_list("person", "sentence", "path"))

    screen = reverse("review:screen", args=(project.slug, triple.pk))
    assert sorted(rows) == sorted((who.pk, f"{triple.label} waits for your review.", screen) for who in (one, two))


@pytest.mark.parametrize("choice", list(Choice))
def test_the_first_verdict_is_told_to_nobody(project, ann, choice):
    triple = make_in_review(project, author=ann)

    assert told(triple, lambda: answer(triple, reviewers_of(triple)[0], choice)) == {}


def test_a_change_of_mind_is_told_to_nobody(project, ann):
    triple = make_in_review(project, author=ann)
    first, _ = reviewers_of(triple)
    answer(triple, first)

    assert told(triple, lambda: answer(triple, first, Choice.FLAG)) == {}


def test_answering_marks_ones_own_seat_as_dealt_with_and_not_the_others(project, ann):
    triple = make_in_review(project, author=ann)
    first, second = reviewers_of(triple)

    answer(triple, first)

    assert list(Notification.objects.filter(read_at=None).values_list("person", flat=True)) == [second.pk]


CLOSED = {
    (Choice.CONFIRM, Choice.CONFIRM): {"author": ["T is accepted: both confirmed it."]},
    (Choice.FLAG, Choice.FLAG): {
        "author": ["T is dropped: both reviewers flagged it. Their reasons stand on its page."]
    },
    (Choice.CONFIRM, Choice.FLAG): {
        "author": ["[second] flagged T, [first] confirmed it. Answer the flag, revise, split or drop it."],
        "second": ["You flagged T, [first] confirmed it. Settle it with [author]."],
        "first": ["You confirmed T, [second] flagged it. You may read what they write."],
    },
    (Choice.FLAG, Choice.CONFIRM): {
        "author": ["[first] flagged T, [second] confirmed it. Answer the flag, revise, split or drop it."],
        "first": ["You flagged T, [second] confirmed it. Settle it with [author]."],
        "second": ["You confirmed T, [first] flagged it. You may read what they write."],
    },
}


@pytest.mark.parametrize("choices", list(CLOSED), ids=lambda pair: " and ".join(pair))
@pytest.mark.parametrize("last", [0, 1])
def test_the_end_of_a_round_is_told_to_whom_it_concerns(project, ann, choices, last):
    """Whoever answers last: the sentences are the same."""
    triple = make_in_review(project, author=ann)
    people = reviewers_of(triple)
    answer(triple, people[1 - last], choices[1 - last])

    assert told(triple, lambda: answer(triple, people[last], choices[last])) == CLOSED[choices]


# Disputes ----------------------------------------------------------------------------------------------------------


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
            "first": ["T waits for your review, in a new revision."],
            "second": ["T waits for your review, in a new revision."],
        },
    ),
    "the author splits": (
        split,
        {
            "first": ["[author] split T into 2 claims, each a triple of its own."],
            "second": ["[author] split T into 2 claims, each a triple of its own."],
        },
    ),
    "the author drops": (
        drop,
        {
            "first": ["[author] dropped T. The reason stands on its page."],
            "second": ["[author] dropped T. The reason stands on its page."],
        },
    ),
    "a lead accepts": (
        lambda triple: decide(triple, lead_of(triple.project), Decision.ACCEPT),
        {part: ["[lead] decided the dispute: T is accepted as it stands."] for part in ("author", "first", "second")},
    ),
    "a lead drops": (
        lambda triple: decide(triple, lead_of(triple.project), Decision.DROP),
        {part: ["[lead] decided the dispute: T is dropped."] for part in ("author", "first", "second")},
    ),
    "a lead returns": (
        lambda triple: decide(triple, lead_of(triple.project), Decision.RETURN),
        {
            "author": ["[lead] decided the dispute: T is reviewed once more."],
            "first": ["T waits for your review, in a new revision."],
            "second": ["T waits for your review, in a new revision."],
        },
    ),
}


@pytest.mark.parametrize("event", list(DISPUTED))
def test_what_happens_in_a_dispute_is_told_to_those_with_a_part_in_it(project, ann, event):
    """Never to whoever did it, to the lead without a part, or to a bystander."""
    triple = make_disputed(project, author=ann)
    act, expected = DISPUTED[event]

    assert told(triple, lambda: act(triple)) == expected


def test_who_acts_in_a_dispute_has_dealt_with_what_they_were_told(project, ann):
    triple = make_disputed(project, author=ann)
    _, flagger = reviewers_of(triple)

    message(triple, ann)
    message(triple, flagger)

    unread = Notification.objects.filter(read_at=None).values_list("person", "kind")
    assert sorted(unread) == sorted([(ann.pk, "review.message"), (reviewers_of(triple)[0].pk, "review.disputed")])


# Stale, adopted ----------------------------------------------------------------------------------------------------


def test_an_author_hears_once_of_a_snapshot_that_makes_triples_stale(project, ann):
    triples = [make_accepted(project, author=ann) for _ in range(3)]
    other = make_member(project, Role.ANNOTATOR, name="Zoe")
    make_accepted(project, author=other)

    def freeze() -> None:
        snapshot = make_snapshot(project, CHANGED, corpus=triples[0].snapshot.corpus)
        refresh_staleness(project=project, snapshot=snapshot, at=AT)
        refresh_staleness(project=project, snapshot=snapshot, at=AT)

    sentence = "v2 changed the text behind triples of yours. They wait to be pinned again or retired."
    assert told(triples[0], freeze) == {"author": [sentence], "Zoe": [sentence]}


@pytest.mark.parametrize("leads", [True, False])
def test_the_lead_who_imported_a_candidate_hears_that_it_was_adopted(project, ann, leads):
    triple = make_draft(project, author=ann)
    importer = lead_of(project) if leads else make_member(project, Role.VIEWER)
    ImportedEntry.objects.create(triple=triple, file="a.jsonl", line=1, imported_by=importer, imported_at=AT)

    candidate_adopted(triple, by=ann, at=AT)
    candidate_adopted(triple, by=importer, at=AT)

    rows = [(row.person, row.sentence) for row in Notification.objects.all()]
    assert rows == ([(importer, f"Ann adopted {triple.label}, which a machine wrote.")] if leads else [])


# Waiting -----------------------------------------------------------------------------------------------------------


def seat_of(triple: Triple, reviewer: User) -> ReviewSeat:
    return ReviewSeat.objects.select_related("revision__triple__project", "reviewer").get(
        revision=reload(triple).current, reviewer=reviewer, released_at=None
    )


def test_a_reminder_says_that_a_review_waits_and_comes_once_a_day(project, ann):
    triple = make_in_review(project, author=ann)
    seat = seat_of(triple, reviewers_of(triple)[0])

    times = [AT, AT + DAY / 2, AT + DAY - timedelta(seconds=1), AT + DAY, AT + DAY * 1.5, AT + DAY * 2]
    found = told(triple, lambda: [notices.remind(seat, at) for at in times])

    assert found == {"first": ["T still waits for your review."] * 3}


def test_a_reminder_is_not_repeated_because_a_clock_stepped_back(project, ann):
    triple = make_in_review(project, author=ann)
    seat = seat_of(triple, reviewers_of(triple)[0])

    assert notices.remind(seat, AT + DAY) is not None
    assert notices.remind(seat, AT) is None


def test_a_reminder_is_the_same_whatever_the_other_said(project, ann):
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

    assert list(sent.values()) == [{"second": ["T still waits for your review."]}] * len(SAID)


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


def test_a_seat_that_is_given_away_is_told_to_both_and_to_nobody_else(project, ann):
    third = make_member(project, Role.REVIEWER, name="Third")
    triple = make_in_review(project, author=ann)
    holder, _ = reviewers_of(triple)
    heir = ({*User.objects.filter(name__in=["Rob", "Rita"]), third} - set(reviewers_of(triple))).pop()
    people = {holder: "holder", heir: "heir"}
    before = set(Notification.objects.values_list("pk", flat=True))

    reseat(project=project, triple_id=triple.pk, reviewer=holder, lead=lead_of(project), reason="Away.", at=AT)

    rows = Notification.objects.exclude(pk__in=before).order_by("pk")
    assert {people[row.person]: row.sentence for row in rows} == {
        "holder": f"{triple.label} no longer waits for your review. Your seat was given away.",
        "heir": f"{triple.label} waits for your review.",
    }
    assert list(Notification.objects.filter(person=holder, read_at=None)) == [rows.get(person=holder)]


def test_a_lead_without_a_part_hears_once_of_each_wait_and_for_how_long(project, ann):
    triple = make_in_review(project, author=ann)
    lead = lead_of(project)

    found = told(triple, lambda: [notices.escalated(reload(triple), lead, AT + days * DAY) for days in (7, 8)])

    assert found == {"lead": ["T has waited in review for 7 days."]}


def test_an_escalation_is_the_same_whatever_one_reviewer_said(project, ann):
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

    assert sent == [{"lead": ["T has waited in review for 7 days."]}] * len(SAID)


def test_a_dispute_that_waits_is_told_apart_from_the_review_before_it(project, ann):
    triple = make_disputed(project, author=ann)
    lead = lead_of(project)

    found = told(triple, lambda: notices.escalated(triple, lead, AT + 8 * DAY))

    assert found == {"lead": ["T has been disputed for 8 days."]}


def test_a_lead_with_a_part_is_told_of_no_wait(project):
    lead = lead_of(project)
    mine = make_in_review(project, author=lead)
    reviewer = reviewers_of(mine)[0]

    assert notices.escalated(mine, lead, AT + 9 * DAY) is None
    assert notices.escalated(mine, reviewer, AT + 9 * DAY) is None


# Blindness ---------------------------------------------------------------------------------------------------------


def all_mail() -> list[tuple[str, str, str]]:
    return sorted((row.to[0], row.subject, str(row.body)) for row in mail.outbox)


@pytest.mark.parametrize("who", ["second", "author", "lead", "Bystander", "first"])
def test_lists_counts_and_mails_are_the_same_in_every_world(client, project, ann, who, settings):
    """Nothing was said, or something: list, count, API and the mails of everybody else do not differ by a byte."""
    make_disputed(project, author=ann)
    triple = make_in_review(project, author=ann)
    first, _ = reviewers_of(triple)
    person = named(triple).get(who) or User.objects.get(name=who)
    home = reverse("notifications:list", args=(project.slug,))
    api = f"/api/v1/projects/{project.slug}/notifications/"
    client.force_login(person)
    client.get(home)
    worlds: dict[str, Any] = {}

    for name, say in SAID.items():
        try:
            with transaction.atomic():
                mail.outbox.clear()
                say(triple, first)
                seen = {url: bare(client.get(url).content) for url in (home, api, api + "?unread=1")}
                mail_what_is_due(AT)
                deliver_due(at=AT)
                others = [row for row in all_mail() if row[0] != first.email]
                worlds[name] = (seen, others, Outbox.objects.filter(payload__to=[person.email]).count())
                raise Rewind
        except Rewind:
            pass

    if who == "first":  # to them their own answer may show: their seat is dealt with
        assert worlds["confirmed"] == worlds["flagged"] == worlds["changed"]
        return
    assert all(world == worlds["nothing"] for world in worlds.values())
    assert worlds["nothing"][1], "there were mails that could have differed"


def test_the_crawl_of_everything_reaches_the_list(client, project, ann):
    triple = make_in_review(project, author=ann)
    client.force_login(reviewers_of(triple)[0])

    assert reverse("notifications:list", args=(project.slug,)) in crawl(client, project)


def test_old_news_of_a_triple_is_hidden_while_its_verdicts_are_veiled(client, project, ann, monkeypatch):
    triple = make_disputed(project, author=ann)
    confirmer, flagger = reviewers_of(triple)
    veiled = Triple.objects.filter(pk=triple.pk).values("pk")
    monkeypatch.setattr(
        curtains, "_curtains", [lambda person: veiled if person == confirmer else veiled.filter(pk=None)]
    )
    client.force_login(confirmer)
    home = reverse("notifications:list", args=(project.slug,))

    hidden = client.get(home).content.decode()
    mail_what_is_due(AT)
    bodies = {row.payload["to"][0]: row.payload["body"] for row in Outbox.objects.all()}
    monkeypatch.setattr(curtains, "_curtains", [])

    assert "You confirmed" not in hidden
    assert "You confirmed" not in bodies.get(confirmer.email, "")
    assert "You flagged" in bodies[flagger.email]
    assert "You confirmed" in client.get(home).content.decode()


def test_a_calibration_hides_what_its_people_were_told_of_its_triples():
    made = make_calibration(items=4)
    project, person = made.project, made.subject
    veiled = set(CalibrationItem.objects.values_list("revision__triple", flat=True))
    about = set(Notification.objects.filter(person=person).exclude(about=None).values_list("about", flat=True))
    assert about & veiled, "something is there to be hidden"

    shown = set(notifications_of(person, project).values_list("about", flat=True)) - {None}
    assert shown == about - veiled
    for one in (made.subject, made.partner):
        answer_items(made, one)

    assert set(notifications_of(person, project).values_list("about", flat=True)) - {None} == about
