import pytest
from django.core import mail

from apps.common.database.functions import from_now
from apps.jobs.execution import outbox
from apps.jobs.models import Outbox
from tests.factories import AT

pytestmark = pytest.mark.django_db


def post() -> Outbox:
    return outbox.post_mail(to=["ada@example.org"], subject="Invited", body="Come in.", project=None, at=AT)


def test_a_mail_goes_out_once_with_its_delivery_id():
    row = post()

    assert outbox.deliver_due(at=AT) == 1
    assert outbox.deliver_due(at=AT) == 0

    row.refresh_from_db()
    assert (row.state, row.attempts, row.sent_at) == ("sent", 1, AT)
    (message,) = mail.outbox
    assert (message.to, message.subject, message.body) == (["ada@example.org"], "Invited", "Come in.")
    assert message.extra_headers["Message-ID"] == f"<{row.delivery_id}@karat>"


def test_a_delivery_that_fails_is_tried_later(monkeypatch):
    row = post()
    monkeypatch.setitem(outbox._senders, "mail", lambda delivery: (_ for _ in ()).throw(OSError("no route")))

    assert outbox.deliver_due(at=AT) == 0

    row.refresh_from_db()
    assert (row.state, row.attempts, row.error) == ("waiting", 1, "OSError: no route")
    assert outbox.deliver(row.pk, at=AT) is False, "its time has not come"


def test_a_delivery_is_given_up_after_twelve_tries(monkeypatch):
    row = post()
    monkeypatch.setitem(outbox._senders, "mail", lambda delivery: (_ for _ in ()).throw(OSError("no route")))

    for _ in range(12):
        Outbox.objects.update(next_at=from_now(-1))
        outbox.deliver_due(at=AT)

    row.refresh_from_db()
    assert (row.state, row.attempts) == ("failed", 12)


def test_a_sender_killed_in_the_middle_leaves_the_mail_due_again(monkeypatch):
    row = post()

    class Killed(BaseException):
        pass

    def killed(delivery):
        raise Killed

    monkeypatch.setitem(outbox._senders, "mail", killed)
    with pytest.raises(Killed):
        outbox.deliver(row.pk, at=AT)
    monkeypatch.undo()
    Outbox.objects.update(next_at=from_now(-1))

    assert outbox.deliver_due(at=AT) == 1


def test_waits_double_up_to_three_hours():
    assert [outbox.wait_after(tries) for tries in (1, 2, 3, 8, 20)] == [30, 60, 120, 3840, 10_800]


def test_retries_last_through_a_night():
    hours = sum(outbox.wait_after(tries) for tries in range(1, outbox.MAX_TRIES)) / 3600

    assert 10 < hours < 11
