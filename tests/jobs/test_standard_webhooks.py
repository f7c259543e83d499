"""Webhooks against a receiver that checks every message by the specification, and against receivers that fail."""

import base64

import pytest

from apps.accounts.actions.secrets import delete_secret, save_secret
from apps.accounts.enums import Role
from apps.accounts.selectors import secrets_in
from apps.audit.models import Event
from apps.common.database.functions import from_now
from apps.common.web.addresses import parse_openings
from apps.common.web.outbound import HttpAnswer
from apps.jobs.actions import sending, webhooks
from apps.jobs.core.signing import BadSecret, key_of, secret_of, signatures
from apps.jobs.enums import WebhookEvent
from apps.jobs.execution import outbox
from apps.jobs.execution.outbox import post_to_operators, post_to_webhooks
from apps.jobs.models import Notification, Outbox, Webhook
from tests.conftest import REPO
from tests.factories import AT, lead_of, make_member, make_project
from tests.jobs.receiver import receiving

pytestmark = pytest.mark.django_db
KEY = bytes(range(32))
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"


@pytest.fixture
def project():
    made = make_project()
    save_secret(project=made, name="hook", value=SECRET, actor=lead_of(made), at=AT)
    return made


@pytest.fixture
def receiver(settings):
    with receiving(SECRET) as running:
        settings.OUTBOUND_ALLOW = parse_openings([f"127.0.0.1:{running.port}"])
        yield running


@pytest.fixture
def webhook(project, receiver) -> Webhook:
    added, _ = webhooks.add_webhook(project=project, url=receiver.url, secret="hook", actor=lead_of(project), at=AT)
    return added


@pytest.fixture
def webhook_wire(monkeypatch) -> list:
    """Headers and body of each request, which go nowhere and are accepted."""
    sent: list = []

    def ask(client, method, path, *, headers, body):
        sent.append((headers, body))
        return HttpAnswer(204, {}, b"", 0.01)

    monkeypatch.setattr(sending.Client, "ask", ask)
    return sent


def post_event(project) -> None:
    post_to_webhooks(project=project, event=WebhookEvent.GATE, facts={"gate": "Good é"}, at=AT)


def deliver() -> int:
    """Deliver everything that waits, as if the time of its next attempt had come."""
    Outbox.objects.update(next_at=from_now(-1))
    return outbox.deliver_due(at=AT)


def test_the_example_of_the_specification_is_signed_as_it_says():
    secret, message_id, seconds = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330

    signed = signatures([key_of(secret)], message_id=message_id, seconds=seconds, body=b'{"test": 2432232314}')

    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("secret", ["whsec_", "whsec_not base64", "whsec_abc"])
def test_a_secret_of_that_form_that_holds_no_key_is_said(secret):
    with pytest.raises(BadSecret, match="what follows is not base64"):
        key_of(secret)


def test_another_secret_is_a_key_itself():
    assert key_of("sesame-é") == "sesame-é".encode()
    assert key_of(secret_of(KEY)) == KEY


def test_a_strict_receiver_takes_a_message_once_however_often_it_is_sent(project, webhook, receiver):
    post_event(project)
    assert deliver() == 1
    webhooks.send_again(delivery=Outbox.objects.get(), actor=lead_of(project), at=AT)
    assert deliver() == 1

    row = Outbox.objects.get()
    assert receiver.arrivals == [200, 200]
    assert receiver.taken == {str(row.delivery_id): row.payload["body"]}
    assert row.payload["body"]["data"] == {"gate": "Good é", "project": project.slug}


def test_a_receiver_with_another_secret_refuses_it(project, webhook, receiver):
    receiver.secret = secret_of(b"x" * 32)
    post_event(project)

    assert deliver() == 0

    assert (Outbox.objects.get().state, Outbox.objects.get().answered) == ("waiting", 401)


def test_a_receiver_that_fails_for_a_while_gets_it_at_last(project, webhook, receiver):
    receiver.answers = [500, 503, 302, 429]
    post_event(project)

    sent = [deliver() for _ in range(5)]

    assert sent == [0, 0, 0, 0, 1]
    assert len(receiver.taken) == 1
    assert Outbox.objects.get().attempts == 5
    assert Webhook.objects.get().failing_since is None


def test_while_a_secret_is_changed_over_both_sign_and_then_only_the_new_one(project, webhook, receiver):
    changed, value = webhooks.change_secret(webhook=webhook, actor=lead_of(project), at=AT)
    post_event(project)
    deliver()
    receiver.secret = value
    post_event(project)
    deliver()
    Webhook.objects.update(former_until=from_now(-1))
    post_event(project)
    deliver()

    assert receiver.arrivals == [200, 200, 200]
    assert [len(each.split(" ")) for each in receiver.signatures] == [2, 2, 1]
    assert (changed.former_secret, changed.secret) == ("hook", "webhook-1")
    assert value.startswith("whsec_")
    assert Event.objects.get(action="webhook.secret_changed").after == {"secret": "webhook-1"}


def test_a_former_secret_that_was_deleted_signs_no_more(project, webhook, receiver):
    _, receiver.secret = webhooks.change_secret(webhook=webhook, actor=lead_of(project), at=AT)
    delete_secret(project=project, secret_id=secrets_in(project).get(name="hook").pk, actor=lead_of(project), at=AT)
    post_event(project)

    assert deliver() == 1
    assert " " not in receiver.signatures[0]


def test_a_webhook_added_without_a_secret_gets_one_of_its_own(project, receiver):
    _, receiver.secret = webhooks.add_webhook(project=project, url=receiver.url, actor=lead_of(project), at=AT)
    post_event(project)

    assert deliver() == 1
    assert Webhook.objects.get().secret == "webhook-1"
    assert len(key_of(receiver.secret)) == 32


def test_a_webhook_that_accepts_nothing_for_three_days_is_switched_off_and_leads_are_told(project, webhook, receiver):
    other = make_member(project, Role.LEAD)
    make_member(project, Role.REVIEWER)
    receiver.answers = [500, 500, 500]
    post_event(project)
    deliver()
    assert Webhook.objects.get().failing_since is not None
    deliver()
    assert Webhook.objects.get().disabled_at is None, "it has failed for a moment only"
    Webhook.objects.update(failing_since=from_now(-sending.DISABLED_AFTER_SECONDS))
    post_event(project)

    deliver()
    post_event(project)

    assert Webhook.objects.get().disabled_at is not None
    assert [row.state for row in Outbox.objects.order_by("pk")] == ["failed", "failed"], "and nothing new is queued"
    assert "switched off" in Outbox.objects.first().error
    assert {told.person for told in Notification.objects.all()} == {lead_of(project), other}
    assert Event.objects.filter(action="webhook.disabled").count() == 1
    assert len(receiver.arrivals) == 3


def test_a_receiver_that_answers_410_gets_no_more(project, webhook, receiver):
    receiver.answers = [410]
    post_event(project)
    post_event(project)

    deliver()

    assert receiver.arrivals == [410]
    assert {row.error for row in Outbox.objects.all()} == {sending.NOT_WANTED}
    assert "wants no more" in Notification.objects.get().sentence


def test_a_webhook_that_is_switched_on_again_gets_messages_and_what_it_missed(project, webhook, receiver):
    receiver.answers = [410]
    post_event(project)
    deliver()
    off = Webhook.objects.get()
    with pytest.raises(webhooks.WebhookRefused, match="switched off"):
        webhooks.try_webhook(webhook=off, at=AT)
    with pytest.raises(webhooks.WebhookRefused, match="switched off"):
        webhooks.send_again(delivery=Outbox.objects.get(), actor=lead_of(project), at=AT)

    for _ in range(2):
        webhooks.enable_webhook(webhook=off, actor=lead_of(project), at=AT)
    webhooks.send_again(delivery=Outbox.objects.get(), actor=lead_of(project), at=AT)
    post_event(project)

    assert deliver() == 2
    assert len(receiver.taken) == 2
    assert Event.objects.filter(action="webhook.enabled").count() == 1


def test_the_check_in_the_documents_accepts_what_is_sent_and_nothing_else(project, webhook_wire):
    code = (REPO / "docs/reference/webhooks.md").read_text().split("```python\n", 1)[1].split("```", 1)[0]
    documented: dict = {}
    exec(code, documented)
    webhooks.add_webhook(project=project, url="https://ci.example/", secret="hook", actor=lead_of(project), at=AT)
    post_event(project)
    deliver()

    ((headers, body),) = webhook_wire
    is_from_karat = documented["is_from_karat"]
    assert is_from_karat(SECRET, headers, body)
    assert not is_from_karat(SECRET, headers, body + b" ")
    assert not is_from_karat(secret_of(b"x" * 32), headers, body)
    assert not is_from_karat(SECRET, {**headers, "webhook-timestamp": "1614265330"}, body)


# The operators' ----------------------------------------------------------------------------------------------------


def test_the_operators_webhook_is_signed_with_every_secret_of_the_settings(receiver, settings):
    settings.WEBHOOK, settings.WEBHOOK_SECRETS = receiver.url, [secret_of(b"n" * 32), SECRET]

    post_to_operators(event="backup.old", facts={"sentence": "It is old."}, at=AT)
    assert deliver() == 1

    (message,) = receiver.taken.values()
    assert message == {"type": "backup.old", "timestamp": AT.isoformat(), "data": {"sentence": "It is old."}}
    assert len(receiver.signatures[0].split(" ")) == 2


def test_without_an_address_in_the_settings_operators_are_sent_nothing(receiver, settings):
    settings.WEBHOOK, settings.WEBHOOK_SECRETS = receiver.url, [SECRET]
    post_to_operators(event="backup.old", facts={}, at=AT)
    settings.WEBHOOK = ""

    assert post_to_operators(event="backup.old", facts={}, at=AT) is None
    assert deliver() == 0
    assert (Outbox.objects.get().state, Outbox.objects.get().error) == ("failed", sending.NO_ADDRESS)
