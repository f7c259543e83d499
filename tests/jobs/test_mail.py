"""Mail that did not go out, sent again by an operator."""

from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from apps.audit.models import Event
from apps.common.database.functions import from_now
from apps.common.errors import Forbidden
from apps.jobs.actions.notifications import send_mail_again
from apps.jobs.core.progress import WEBHOOK_ENDED, Unsent
from apps.jobs.enums import DeliveryKind
from apps.jobs.execution import outbox
from apps.jobs.models import Outbox
from apps.jobs.selectors.watching import unsent
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator():
    return make_user(is_operator=True)


def post(name: str, *, is_secret: bool = False, at=None) -> Outbox:
    at = at or timezone.now()
    return outbox.post_mail(
        to=[f"{name}@example.org"], subject="Invited", body="Come in.", project=None, at=at, is_secret=is_secret
    )


def fail(monkeypatch, *, tries: int) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(outbox.EmailMessage, "send", lambda self: 1 / 0)
        for _ in range(tries):
            Outbox.objects.update(next_at=from_now(-1))
            outbox.deliver_due(at=timezone.now())


def test_mail_that_waits_for_its_retry_goes_at_once_and_keeps_its_count(operator, monkeypatch):
    post("ada")
    fail(monkeypatch, tries=3)
    assert outbox.deliver_due(at=timezone.now()) == 0, "its time has not come"

    assert send_mail_again(actor=operator, at=timezone.now()) == 1
    assert outbox.deliver_due(at=timezone.now()) == 1

    assert Outbox.objects.get().attempts == 4
    assert Event.objects.get(action="mail.sent_again").after == {"messages": 1}


def test_mail_that_was_given_up_begins_anew_but_not_one_whose_link_is_erased(operator, monkeypatch):
    post("ada"), post("mara", is_secret=True)
    post("long.ago", at=timezone.now() - timedelta(days=9))
    fail(monkeypatch, tries=outbox.MAX_TRIES)

    assert unsent(DeliveryKind.MAIL, timezone.now()).given_up == 2
    assert send_mail_again(actor=operator, at=timezone.now()) == 1
    outbox.deliver_due(at=timezone.now())

    assert [message.to for message in mail.outbox] == [["ada@example.org"]]


def test_what_has_not_failed_keeps_its_time_and_nothing_is_recorded(operator):
    post("ada")
    Outbox.objects.update(next_at=from_now(60))

    assert send_mail_again(actor=operator, at=timezone.now()) == 0
    assert outbox.deliver_due(at=timezone.now()) == 0
    assert not Event.objects.filter(action="mail.sent_again").exists()


def test_only_an_operator_may(operator):
    with pytest.raises(Forbidden):
        send_mail_again(actor=make_user(), at=timezone.now())


def test_a_message_of_a_webhook_that_was_removed_is_no_failure():
    now = timezone.now()
    Outbox.objects.create(
        kind=DeliveryKind.WEBHOOK, payload={}, state="failed", error=WEBHOOK_ENDED, created_at=now, next_at=now
    )

    assert unsent(DeliveryKind.WEBHOOK, now) == Unsent()
