"""Notifications by mail: when, to whom, what, and exactly once."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.urls import reverse

from apps.accounts.actions.people import change_profile, create_user, deactivate_user
from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.audit.models import Event
from apps.dashboard.execution.demo.stage import create_demo_project
from apps.jobs.actions.notifications import choose_mail, mark_all_read
from apps.jobs.enums import MailHow
from apps.jobs.execution import mailing
from apps.jobs.execution.mailing import is_due, mail_to, mail_what_is_due
from apps.jobs.models import MailChoice, Notification, Outbox
from tests.factories import lead_of, make_member, make_project, make_user
from tests.jobs.test_notifications import notify_once
from tests.races import at_once

pytestmark = pytest.mark.django_db

MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
FRIDAY_EVENING = datetime(2026, 3, 6, 17, 0, tzinfo=UTC)
SATURDAY = datetime(2026, 3, 7, 10, 0, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def project() -> Project:
    return make_project("Handbook")


@pytest.fixture
def person(project) -> User:
    return make_member(project, Role.ANNOTATOR, name="Ann")


def choose(person: User, how: MailHow, *, hours: tuple[int, int] = (9, 17), weekdays: bool = True) -> MailChoice:
    return choose_mail(person=person, how=how, from_hour=hours[0], to_hour=hours[1], weekdays_only=weekdays, at=MONDAY)


def live_in(person: User, zone: str) -> User:
    change_profile(user=person, name=person.name, time_zone=zone, at=MONDAY)
    return User.objects.get(pk=person.pk)


def mails() -> list[dict]:
    return [row.payload for row in Outbox.objects.order_by("pk")]


# When --------------------------------------------------------------------------------------------------------------


def test_without_a_choice_there_is_one_digest_on_a_working_day(project, person):
    notify_once(person, project, "one")
    assert mail_what_is_due(MONDAY - HOUR) == 0
    assert mail_what_is_due(MONDAY) == 1

    notify_once(person, project, "two")
    assert mail_what_is_due(MONDAY + HOUR) == 0, "one a day"
    assert mail_what_is_due(MONDAY + DAY) == 1
    assert [mail["subject"] for mail in mails()] == ["Karat: 1 notification"] * 2


@pytest.mark.parametrize(
    ("at", "is_told"),
    [
        (MONDAY, True),
        (MONDAY + 7 * HOUR + timedelta(minutes=59), True),
        (MONDAY + 8 * HOUR, False),
        (FRIDAY_EVENING - HOUR, True),
        (FRIDAY_EVENING, False),
        (SATURDAY, False),
        (SATURDAY + DAY, False),
    ],
)
@pytest.mark.parametrize("how", [MailHow.DIGEST, MailHow.AT_ONCE])
def test_nothing_is_mailed_outside_of_working_hours(person, how, at, is_told):
    assert is_due(MailChoice(person=person, how=how), person, at) is is_told
    assert is_due(MailChoice(person=person, how=how, weekdays_only=False), person, SATURDAY) is True


def test_at_once_means_at_the_next_look_and_at_night_at_the_start_of_the_day(project, person):
    choose(person, MailHow.AT_ONCE)
    for number, at in enumerate([MONDAY, MONDAY + HOUR, FRIDAY_EVENING, FRIDAY_EVENING + 2 * DAY]):
        notify_once(person, project, f"key-{number}")
        mail_what_is_due(at)
    assert len(mails()) == 2

    mail_what_is_due(MONDAY + 7 * DAY)

    assert [mail["subject"] for mail in mails()][2:] == ["Karat: 2 notifications"]


def test_never_is_never_until_there_is_a_new_choice(project, person):
    choose(person, MailHow.NEVER)
    notify_once(person, project)
    assert [mail_what_is_due(MONDAY + hours * HOUR) for hours in range(24)] == [0] * 24

    choose(person, MailHow.DIGEST)

    assert mail_what_is_due(MONDAY) == 1


@pytest.mark.parametrize(
    ("zone", "at", "is_told"),
    [
        ("Asia/Kolkata", datetime(2026, 3, 2, 3, 29, tzinfo=UTC), False),  # 8:59 there
        ("Asia/Kolkata", datetime(2026, 3, 2, 3, 30, tzinfo=UTC), True),  # 9:00
        ("Asia/Kolkata", datetime(2026, 3, 2, 11, 29, tzinfo=UTC), True),  # 16:59
        ("Asia/Kolkata", datetime(2026, 3, 2, 11, 30, tzinfo=UTC), False),
        ("Pacific/Auckland", datetime(2026, 3, 1, 20, 0, tzinfo=UTC), True),  # Monday 9:00, Sunday in UTC
        ("Pacific/Auckland", datetime(2026, 3, 6, 20, 0, tzinfo=UTC), False),  # Saturday there, Friday in UTC
        ("Europe/Berlin", datetime(2026, 3, 27, 8, 0, tzinfo=UTC), True),  # 9:00, winter time
        ("Europe/Berlin", datetime(2026, 3, 30, 7, 0, tzinfo=UTC), True),  # 9:00, summer time since the 29th
        ("Europe/Berlin", datetime(2026, 3, 27, 7, 0, tzinfo=UTC), False),  # 8:00
        ("Europe/Berlin", datetime(2026, 10, 26, 7, 0, tzinfo=UTC), False),  # 8:00, winter time since the 25th
        ("Atlantis/Capital", MONDAY, True),  # unknown: UTC
        ("", MONDAY, True),
    ],
)
def test_hours_are_those_of_the_persons_own_zone(person, zone, at, is_told):
    person.time_zone = zone

    assert is_due(MailChoice(person=person), person, at) is is_told


@pytest.mark.parametrize(
    ("zone", "day"), [("Europe/Berlin", datetime(2026, 3, 29, tzinfo=UTC)), ("Europe/Berlin", datetime(2026, 10, 25))]
)
def test_a_day_of_23_or_25_hours_has_one_digest(project, person, zone, day):
    person = live_in(person, zone)
    choose(person, MailHow.DIGEST, hours=(0, 24), weekdays=False)
    start = day.replace(tzinfo=UTC) - DAY

    for quarter in range(3 * 24 * 4):
        notify_once(person, project, f"key-{quarter}")
        mail_what_is_due(start + quarter * timedelta(minutes=15))

    days = [row.created_at.astimezone(mailing.zone_of(person)).date() for row in Outbox.objects.all()]
    assert len(days) == len(set(days)) == 4, "the day before, that day, the one after, and the first hours of a fourth"


def test_a_clock_that_ran_ahead_does_not_silence_anybody(project, person):
    notify_once(person, project, "told in the wrong year")
    mail_what_is_due(MONDAY + 364 * DAY)
    notify_once(person, project, "told once the clock was right")

    assert mail_what_is_due(MONDAY) == 1


def test_a_clock_that_steps_back_within_the_day_sends_nothing_twice(project, person):
    notify_once(person, project)
    mail_what_is_due(MONDAY + 2 * HOUR)
    notify_once(person, project, "later")

    assert mail_what_is_due(MONDAY) == 0


# To whom -----------------------------------------------------------------------------------------------------------


def test_what_was_read_or_mailed_is_not_mailed(project, person):
    row = notify_once(person, project)
    mark_all_read(person=person, project=project, up_to=row.pk, at=MONDAY)
    assert mail_what_is_due(MONDAY) == 0

    unread = notify_once(person, project, "two")
    assert [mail_what_is_due(MONDAY + days * DAY) for days in (0, 1)] == [1, 0]
    unread.refresh_from_db()
    assert unread.mailed_at == MONDAY


def test_who_left_the_project_gets_no_more_notifications(project, person):
    other = make_project("Other")
    set_roles(project=other, user=person, roles=[Role.VIEWER], actor=lead_of(other), at=MONDAY)
    notify_once(person, project, sentence="OLD-PROJECT")
    notify_once(person, other, "two", sentence="STILL-THERE")
    set_roles(project=project, user=person, roles=[], actor=lead_of(project), at=MONDAY)

    mail_what_is_due(MONDAY)

    (mail,) = mails()
    assert "STILL-THERE" in mail["body"]
    assert "OLD-PROJECT" not in mail["body"]


def test_who_left_every_project_and_who_is_deactivated_get_no_mail(project, person):
    bo = make_member(project, Role.REVIEWER)
    notify_once(person, project)
    notify_once(bo, project)
    set_roles(project=project, user=person, roles=[], actor=lead_of(project), at=MONDAY)
    deactivate_user(user_id=bo.pk, actor=make_user("Operator", is_operator=True), at=MONDAY)

    assert (mail_what_is_due(MONDAY), mail_to(person, MONDAY), mails()) == (0, False, [])


def test_of_a_demo_project_real_people_are_mailed_and_made_up_people_are_not(project, person):
    Project.objects.update(is_demo=True)
    mara = create_user(email="mara@tarnwick.example", name="Mara", password=None, at=MONDAY)
    set_roles(project=project, user=mara, roles=[Role.ANNOTATOR], actor=lead_of(project), at=MONDAY)
    notify_once(person, project)
    notify_once(mara, project)

    assert (mail_what_is_due(MONDAY), [mail["to"] for mail in mails()]) == (1, [[person.email]])


def test_the_demo_makes_people_up_where_nobody_has_an_address():
    project = create_demo_project(name="Tarnwick", slug="tarnwick", host=make_user("Op", is_operator=True), now=MONDAY)

    cast = User.objects.filter(memberships__project=project, is_operator=False)
    assert cast
    assert all(one.email.endswith(mailing.MADE_UP) for one in cast)


def test_each_person_gets_their_own(project, person):
    bo = make_member(project, Role.REVIEWER, name="Bo")
    notify_once(person, project, sentence="FOR-ANN")
    notify_once(bo, project, sentence="FOR-BO")

    mail_what_is_due(MONDAY)

    assert {mail["to"][0]: ("FOR-ANN" in mail["body"], "FOR-BO" in mail["body"]) for mail in mails()} == {
        person.email: (True, False),
        bo.email: (False, True),
    }


# What --------------------------------------------------------------------------------------------------------------


def test_several_of_one_kind_are_one_line_of_the_mail(project, person, monkeypatch):
    monkeypatch.setattr(mailing, "MOST_IN_A_MAIL", 1)
    for number in range(3):
        notify_once(person, project, f"seat-{number}", kind="review.seat")
    for number in range(2):
        notify_once(person, project, f"key-{number}", sentence=f"Job {number} failed.")

    mail_what_is_due(MONDAY)

    (mail,) = mails()
    assert mail["subject"] == "Karat: 5 notifications"
    assert mail["body"].count("3 Q&As are ready for your review.") == mail["body"].count("1 more are unread") == 1


def test_the_mail_names_projects_sentences_links_and_how_to_change_it(project, person, settings):
    settings.PUBLIC_URL = "https://karat.example.org"
    other = make_project("Appendix")
    set_roles(project=other, user=person, roles=[Role.REVIEWER], actor=lead_of(other), at=MONDAY)
    notify_once(person, project, "one", sentence="T-0001 waits for your review.")
    notify_once(person, other, "two", sentence="Bo wrote to you about T-0002.")
    notify_once(person, project, "three", sentence="T-0003 waits for your review.")

    mail_what_is_due(MONDAY)

    (mail,) = mails()
    assert (mail["to"], mail["subject"]) == ([person.email], "Karat: 3 notifications")
    assert mail["body"] == (
        "Appendix\n\n"
        "Bo wrote to you about T-0002.\n"
        f"https://karat.example.org/p/{other.slug}/jobs/\n\n\n"
        "Handbook\n\n"
        "T-0001 waits for your review.\n"
        f"https://karat.example.org/p/{project.slug}/jobs/\n\n"
        "T-0003 waits for your review.\n"
        f"https://karat.example.org/p/{project.slug}/jobs/\n\n\n"
        "You get these mails once a day, Monday to Friday, from 9:00 to 17:00 (UTC). Change or stop them:\n"
        "https://karat.example.org/profile/mail/\n"
    )


def test_a_long_absence_makes_a_mail_of_bounded_length(project, person, monkeypatch):
    monkeypatch.setattr(mailing, "MOST_IN_A_MAIL", 2)
    for number in range(5):
        notify_once(person, project, f"key-{number}")

    mail_what_is_due(MONDAY)

    (mail,) = mails()
    assert mail["body"].count("waits for your review") == 2
    assert mail["subject"] == "Karat: 5 notifications"
    assert f"3 more are unread:\n{mailing.absolute('/projects/')}\n" in mail["body"]
    assert Notification.objects.filter(mailed_at=None).count() == 0


# Once --------------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("how", [None, MailHow.DIGEST, MailHow.AT_ONCE])
def test_of_eight_workers_one_writes_the_mail(how):
    project = make_project()
    person = make_member(project, Role.ANNOTATOR)
    if how:
        choose(person, how)
    for day in range(5):
        notify_once(person, project, f"key-{day}")
        answers = at_once(*(lambda day=day: mail_to(person, MONDAY + day * DAY) for _ in range(8)))
        assert sorted(map(str, answers)) == ["False"] * 7 + ["True"], answers

    assert (Outbox.objects.count(), MailChoice.objects.count()) == (5, 1)


def test_a_worker_that_dies_before_the_end_leaves_everything_to_be_sent(project, person, monkeypatch):
    notify_once(person, project)

    def killed(self, **kwargs):
        raise RuntimeError("killed")

    monkeypatch.setattr(MailChoice, "save", killed)
    with pytest.raises(RuntimeError):
        mail_to(person, MONDAY)
    monkeypatch.undo()

    assert (mails(), Notification.objects.get().mailed_at) == ([], None)
    assert mail_to(person, MONDAY) is True


def test_finding_the_recipients_is_one_query_however_many_there_are(project, django_assert_num_queries):
    for number in range(3):
        notify_once(make_member(project, Role.ANNOTATOR), project, f"key-{number}")

    with django_assert_num_queries(1):
        assert mail_what_is_due(SATURDAY) == 0


def test_what_was_read_or_mailed_is_not_looked_at_again(project, person):
    """The look goes by an index that holds what is still to be told, and nothing else."""
    explained = mailing._unmailed().filter(person=person).explain()

    assert connection.vendor != "sqlite" or "notification_to_mail" in explained


# The page ----------------------------------------------------------------------------------------------------------


def page() -> str:
    return reverse("mail:choice")


def test_a_person_changes_their_choice(client, person):
    client.force_login(person)

    answer = client.post(page(), {"how": "at_once", "from_hour": "7", "to_hour": "24"})

    choice = MailChoice.objects.get(person=person)
    assert answer.status_code == 302
    assert (choice.how, choice.from_hour, choice.to_hour, choice.weekdays_only) == ("at_once", 7, 24, False)
    assert Event.objects.filter(action="user.mail_chosen", actor=person).count() == 1


def test_the_page_shows_the_current_choice(client, person):
    client.force_login(person)

    shown = client.get(page()).content.decode()

    assert re.search(r'value="digest"[^>]* checked', shown)
    assert person.email in shown
    assert '<option value="9" selected>9:00</option>' in shown


@pytest.mark.parametrize(("host", "is_told"), [("", True), ("mail.handbook.test", False)])
def test_the_page_says_when_no_mail_server_is_set_up(client, person, settings, host, is_told):
    settings.EMAIL_HOST = host
    client.force_login(person)

    assert ("No mail server is set up" in client.get(page()).content.decode()) is is_told


@pytest.mark.parametrize(
    "sent",
    [
        {"how": "hourly", "from_hour": "9", "to_hour": "17"},
        {"how": "digest", "from_hour": "17", "to_hour": "9"},
        {"how": "digest", "from_hour": "9", "to_hour": "9"},
        {"how": "digest", "from_hour": "-1", "to_hour": "25"},
        {},
    ],
)
def test_an_invalid_choice_is_rejected_with_a_message(client, person, sent):
    client.force_login(person)

    answer = client.post(page(), sent or {"x": "y"})

    assert answer.status_code == 400
    assert 'class="error"' in answer.content.decode()
    assert not MailChoice.objects.exists()


def test_saving_a_choice_keeps_the_time_of_the_last_digest(project, person):
    notify_once(person, project)
    mail_what_is_due(MONDAY)

    choose(person, MailHow.DIGEST)

    notify_once(person, project, "later")
    assert mail_what_is_due(MONDAY + HOUR) == 0
