"""What is told tells no verdict that is still blind."""

from typing import Any

import pytest
from django.core import mail
from django.db import transaction
from django.urls import reverse

from apps.accounts.models import User
from apps.calibration.models import CalibrationItem
from apps.jobs.execution.mailing import mail_what_is_due
from apps.jobs.execution.outbox import deliver_due
from apps.jobs.models import Notification, Outbox
from apps.jobs.selectors import jobs
from apps.jobs.selectors.jobs import notifications_of
from apps.triples.models import Triple
from tests.agreement.factories import answer_items, make_calibration
from tests.factories import AT
from tests.review.crawling import SAID, Rewind, bare, crawl
from tests.review.factories import make_disputed, make_in_review, reviewers_of
from tests.review.notices.hearing import named

pytestmark = pytest.mark.django_db


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


def test_old_news_of_a_triple_is_hidden_while_its_verdicts_are_blinded(client, project, ann, monkeypatch):
    triple = make_disputed(project, author=ann)
    confirmer, flagger = reviewers_of(triple)
    blinded = Triple.objects.filter(pk=triple.pk).values("pk")
    monkeypatch.setattr(
        jobs, "hidden_objects", [lambda person: blinded if person == confirmer else blinded.filter(pk=None)]
    )
    client.force_login(confirmer)
    home = reverse("notifications:list", args=(project.slug,))

    hidden = client.get(home).content.decode()
    mail_what_is_due(AT)
    bodies = {row.payload["to"][0]: row.payload["body"] for row in Outbox.objects.all()}
    monkeypatch.setattr(jobs, "hidden_objects", [])

    assert "You confirmed" not in hidden
    assert "You confirmed" not in bodies.get(confirmer.email, "")
    assert "You flagged" in bodies[flagger.email]
    assert "You confirmed" in client.get(home).content.decode()


def test_a_calibration_hides_earlier_notifications_about_its_triples():
    made = make_calibration(items=4)
    project, person = made.project, made.subject
    blinded = set(CalibrationItem.objects.values_list("revision__triple", flat=True))
    about = set(Notification.objects.filter(person=person).exclude(about=None).values_list("about", flat=True))
    assert about & blinded, "something is there to be hidden"

    shown = set(notifications_of(person, project).values_list("about", flat=True)) - {None}
    assert shown == about - blinded
    for one in (made.subject, made.partner):
        answer_items(made, one)

    assert set(notifications_of(person, project).values_list("about", flat=True)) - {None} == about
