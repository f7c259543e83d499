"""Webhooks: what goes out, signed, and what becomes of it."""

import json

import pytest

from apps.accounts.actions.secrets import delete_secret, save_secret
from apps.accounts.selectors import secrets_in
from apps.audit.models import Event
from apps.common.database.functions import from_now
from apps.common.web.addresses import parse_openings
from apps.common.web.outbound import HttpAnswer
from apps.jobs.actions import sending, webhooks
from apps.jobs.core.progress import WEBHOOK_ENDED
from apps.jobs.enums import WebhookEvent
from apps.jobs.execution import outbox
from apps.jobs.execution.outbox import post_to_webhooks
from apps.jobs.models import Outbox, Webhook
from apps.jobs.selectors.jobs import deliveries_in
from tests.factories import AT, lead_of, make_project
from tests.remote_server import running

pytestmark = pytest.mark.django_db
URL = "https://hooks.example/karat?room=7"
KEY = "sesame-open-1"


@pytest.fixture
def project():
    made = make_project()
    save_secret(project=made, name="hook", value=KEY, actor=lead_of(made), at=AT)
    return made


@pytest.fixture
def webhook_wire(monkeypatch):
    """What would have gone over the wire; `answers` holds the states to answer with, 204 when empty."""

    class Wire:
        def __init__(self) -> None:
            self.sent: list[tuple] = []
            self.answers: list[int] = []

        def ask(self, client, method, path, *, headers, body=None):
            self.sent.append((client.target.authority, method, path, headers, body))
            return HttpAnswer(self.answers.pop() if self.answers else 204, {}, b"", 0.01)

    wire = Wire()
    monkeypatch.setattr(sending.Client, "ask", lambda client, *args, **kwargs: wire.ask(client, *args, **kwargs))
    return wire


def add(project, url: str = URL) -> Webhook:
    webhook, _ = webhooks.add_webhook(project=project, url=url, secret="hook", actor=lead_of(project), at=AT)
    return webhook


def post_event(project) -> None:
    post_to_webhooks(project=project, event=WebhookEvent.GATE, facts={"gate": "Good é"}, at=AT)


def test_a_message_goes_out_as_standard_webhooks_has_it(project, webhook_wire):
    add(project)
    post_event(project)

    assert outbox.deliver_due(at=AT) == 1

    ((host, method, path, headers, body),) = webhook_wire.sent
    row = Outbox.objects.get()
    assert (host, method, path) == ("hooks.example", "POST", "/karat?room=7")
    assert json.loads(body) == {
        "type": "gate.changed",
        "timestamp": AT.isoformat(),
        "data": {"gate": "Good é", "project": project.slug},
    }
    assert set(headers) == {"Content-Type", "webhook-id", "webhook-timestamp", "webhook-signature"}
    assert headers["webhook-id"] == str(row.delivery_id)
    assert (row.state, row.sent_at, row.answered) == ("sent", AT, 204)


def test_a_refused_message_is_tried_again_under_the_same_delivery(project, webhook_wire):
    add(project)
    post_event(project)
    webhook_wire.answers = [500]

    outbox.deliver_due(at=AT)
    row = Outbox.objects.get()
    Outbox.objects.update(next_at=from_now(-1))
    outbox.deliver_due(at=AT)

    assert (row.state, row.error, row.answered) == ("waiting", "hooks.example answered 500.", 500)
    assert len({sent[3]["webhook-id"] for sent in webhook_wire.sent}) == 1
    assert Outbox.objects.get().state == "sent"


def test_a_message_is_sent_again_by_a_lead_under_the_same_delivery_whatever_became_of_it(project, webhook_wire):
    def again() -> int:
        webhooks.send_again(delivery=Outbox.objects.get(), actor=lead_of(project), at=AT)
        assert Outbox.objects.get().state == "waiting"
        return outbox.deliver_due(at=AT)

    add(project)
    post_event(project)
    webhook_wire.answers = [500]
    outbox.deliver_due(at=AT)
    assert outbox.deliver_due(at=AT) == 0, "its time has not come"

    assert (again(), Outbox.objects.get().attempts) == (1, 2), "it waited for its retry"
    assert (again(), Outbox.objects.get().attempts) == (1, 1), "it was accepted"
    Outbox.objects.update(state="failed", attempts=outbox.MAX_TRIES, error="hooks.example answered 500.", sent_at=None)
    assert (again(), Outbox.objects.get().error) == (1, ""), "it was given up"

    row = Outbox.objects.get()
    assert (row.state, row.attempts) == ("sent", 1)
    assert {(sent[3]["webhook-id"], sent[4]) for sent in webhook_wire.sent} == {
        (str(row.delivery_id), webhook_wire.sent[0][4])
    }
    assert Event.objects.filter(action="webhook.sent_again").latest("pk").before == {
        "state": "failed",
        "tries": outbox.MAX_TRIES,
        "delivery": str(row.delivery_id),
    }


def test_what_a_removed_webhook_got_is_not_sent_again_nor_what_was_taken_up_meanwhile(project, webhook_wire):
    webhook = add(project)
    post_event(project)
    Webhook.objects.filter(pk=webhook.pk).update(ended_at=AT, ended_by=lead_of(project))
    assert outbox.deliver_due(at=AT) == 0
    assert webhook_wire.sent == []

    with pytest.raises(webhooks.WebhookRefused, match="was removed"):
        webhooks.send_again(delivery=Outbox.objects.get(), actor=lead_of(project), at=AT)


def test_a_webhook_gets_the_events_that_were_chosen_and_no_other(project, webhook_wire):
    webhooks.add_webhook(project=project, url=URL, secret="hook", events=["job.failed"], actor=lead_of(project), at=AT)

    post_event(project)
    post_to_webhooks(project=project, event=WebhookEvent.JOB, facts={}, at=AT)

    assert [row.payload["body"]["type"] for row in deliveries_in(project)] == ["job.failed"]


def test_every_webhook_of_the_project_gets_the_event_and_no_other(project, webhook_wire):
    other = make_project()
    save_secret(project=other, name="hook", value=KEY, actor=lead_of(other), at=AT)
    add(project)
    add(project, "https://second.example/")
    add(other)

    post_event(project)

    assert [row.payload["url"] for row in deliveries_in(project)] == ["https://second.example/", URL]
    assert list(deliveries_in(other)) == []


def test_a_webhook_that_ended_gets_nothing_more(project, webhook_wire):
    webhook = add(project)
    post_event(project)

    webhooks.end_webhook(webhook=webhook, actor=lead_of(project), at=AT)
    webhooks.end_webhook(webhook=webhook, actor=lead_of(project), at=AT)
    outbox.deliver_due(at=AT)
    post_event(project)

    assert webhook_wire.sent == []
    assert (Outbox.objects.get().state, Outbox.objects.get().error) == ("failed", WEBHOOK_ENDED)
    assert list(Event.objects.filter(action__startswith="webhook").values_list("action", flat=True)) == [
        "webhook.added",
        "webhook.ended",
    ]
    assert add(project).pk != webhook.pk, "the address may be told again"


def test_without_its_secret_nothing_goes_out(project, webhook_wire):
    add(project)
    post_event(project)
    secret = secrets_in(project).get()
    delete_secret(project=project, secret_id=secret.pk, actor=lead_of(project), at=AT)

    outbox.deliver_due(at=AT)

    assert webhook_wire.sent == []
    row = Outbox.objects.get()
    assert (row.state, row.attempts) == ("failed", 1)
    assert row.error.startswith("The project has no secret called hook.")


def test_a_port_where_nothing_listens_is_named_at_once_and_tried_again(project, settings):
    settings.OUTBOUND_ALLOW = parse_openings(["127.0.0.1:9"])
    add(project, "http://127.0.0.1:9/hook")
    post_event(project)

    outbox.deliver_due(at=AT)

    row = Outbox.objects.get()
    assert (row.state, row.error) == ("waiting", "127.0.0.1 refused the connection: nothing listens at its port 9.")


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/hook", "http://169.254.169.254/latest", "http://localhost:9/"])
def test_an_address_inside_the_network_is_never_requested(project, url):
    add(project, url)
    post_event(project)

    assert outbox.deliver_due(at=AT) == 0

    row = Outbox.objects.get()
    assert (row.state, row.attempts) == ("failed", 1), "another try would be refused as well"
    assert "is inside the network of this server, where requests are not allowed. If it is intended, the" in row.error
    assert row.error.endswith("to KARAT_OUTBOUND_ALLOW.")
    assert not row.error.startswith("Blocked")


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"url": "ftp://hooks.example/"}, "bad_address"),
        ({"url": "https://user:pw@hooks.example/"}, "bad_address"),
        ({"url": URL}, "webhook_there"),
        ({"secret": "other"}, "no_secret"),
        ({"events": []}, "bad_events"),
        ({"events": ["job.failed", "verdict.given"]}, "bad_events"),
    ],
)
def test_a_webhook_that_cannot_be_used_is_rejected(project, more, code):
    add(project)
    facts = {"url": "https://second.example/", "secret": "hook"} | more

    with pytest.raises(webhooks.WebhookRefused) as refused:
        webhooks.add_webhook(project=project, **facts, actor=lead_of(project), at=AT)

    assert refused.value.code == code


def test_a_project_has_twenty_webhooks_at_most(project):
    for number in range(webhooks.MOST_WEBHOOKS):
        add(project, f"https://hooks.example/{number}")

    with pytest.raises(webhooks.WebhookRefused, match="at most 20"):
        add(project, "https://hooks.example/more")


def test_a_trial_reaches_a_server_that_the_operator_opened(project, settings):
    with running() as port:
        settings.OUTBOUND_ALLOW = parse_openings([f"127.0.0.1:{port}"])
        webhook = add(project, f"http://127.0.0.1:{port}/nowhere")

        row = webhooks.try_webhook(webhook=webhook, at=AT)
        outbox.deliver_due(at=AT)

    row.refresh_from_db()
    assert row.error == "127.0.0.1 answered 404."
