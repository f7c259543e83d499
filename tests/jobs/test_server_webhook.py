"""The webhook of the server: its test, its deliveries and the button that sends one again."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import Forbidden
from apps.jobs.actions.webhooks import (
    WebhookRefused,
    add_webhook,
    send_to_operators_again,
    try_server_webhook,
    try_webhook,
)
from apps.jobs.execution.outbox import post_to_operators
from apps.jobs.models import Outbox
from apps.jobs.pages.webhooks import PAGE_SIZE
from tests.factories import AT, lead_of, make_member, make_project, make_user

pytestmark = pytest.mark.django_db

PAGE = "/server/webhook/"
PATH = "/T0/very-secret"


@pytest.fixture
def operator(client, settings):
    settings.WEBHOOK, settings.WEBHOOK_SECRETS = f"https://ops.example{PATH}", ["sesame-open"]
    person = make_user("Dana", is_operator=True)
    client.force_login(person)
    return person


def text_of(answer) -> str:
    return " ".join(answer.content.decode().replace("\N{NO-BREAK SPACE}", " ").split())


def test_an_operator_sends_a_test_and_sees_what_became_of_it(client, operator):
    shown = text_of(client.post(reverse("server-webhook:try"), follow=True))

    delivery = Outbox.objects.get()
    assert (delivery.payload["body"]["type"], delivery.payload["body"]["data"]) == ("ping", {})
    assert delivery.project is None
    assert "A test message is being sent." in shown
    assert str(delivery.delivery_id) in shown
    assert "ops.example" in shown
    assert PATH not in shown  # whoever has the address of some receivers can write to them
    event = Event.objects.get(action="webhook.tested")
    assert (event.actor, event.project) == (operator, None)


def test_a_message_that_failed_is_sent_again_to_the_address_that_is_set_now(client, operator, settings):
    delivery = post_to_operators(event="backup.old", facts={"sentence": "It is old."}, at=AT)
    Outbox.objects.filter(pk=delivery.pk).update(state="failed", attempts=12, error="ops.example answered 500.")
    settings.WEBHOOK = "https://new.example/hook"
    assert "ops.example answered 500." in text_of(client.get(PAGE + "?state=failed"))

    client.post(reverse("server-webhook:send-again", args=[delivery.pk]))

    again = Outbox.objects.get()
    assert (again.state, again.attempts, again.error) == ("waiting", 0, "")
    assert (again.delivery_id, again.payload["body"]) == (delivery.delivery_id, delivery.payload["body"])
    assert again.payload["url"] == settings.WEBHOOK
    before = Event.objects.get(action="webhook.sent_again").before
    assert before == {"state": "failed", "tries": 12, "delivery": str(delivery.delivery_id)}


def test_messages_of_projects_are_not_among_them(client, operator, project):
    webhook, _ = add_webhook(project=project, url="https://ci.example/", actor=lead_of(project), at=AT)
    theirs = try_webhook(webhook=webhook, at=AT)

    assert "No message yet" in text_of(client.get(PAGE))
    assert client.post(reverse("server-webhook:send-again", args=[theirs.pk])).status_code == 404


def test_without_an_address_the_page_says_how_to_set_one_and_nothing_is_sent(client, operator, settings):
    delivery = post_to_operators(event="backup.old", facts={}, at=AT)
    settings.WEBHOOK = ""

    shown = text_of(client.get(PAGE))

    assert "Set KARAT_WEBHOOK and KARAT_WEBHOOK_SECRET" in shown.replace("<code>", "").replace("</code>", "")
    assert "Send a test" not in shown
    assert "Send again:" not in shown
    refused = client.post(reverse("server-webhook:try"))
    assert refused.status_code == 409
    assert "Set KARAT_WEBHOOK to its address" in text_of(refused)
    with pytest.raises(WebhookRefused):
        send_to_operators_again(delivery=delivery, actor=operator, at=AT)
    assert Outbox.objects.count() == 1


def test_only_operators_see_and_try_it(client, operator):
    delivery = post_to_operators(event="backup.old", facts={}, at=AT)
    lead = make_member(make_project(), Role.LEAD)
    client.force_login(lead)

    assert client.get(PAGE).status_code == 403
    assert client.post(reverse("server-webhook:try")).status_code == 403
    assert client.post(reverse("server-webhook:send-again", args=[delivery.pk])).status_code == 403
    with pytest.raises(Forbidden):
        try_server_webhook(actor=lead, at=AT)


def test_the_page_of_the_server_leads_there(client, operator):
    assert f'href="{PAGE}"' in client.get("/server/").content.decode()


def test_it_takes_as_many_statements_for_many_messages_and_turns_pages(client, operator):
    def statements() -> int:
        with CaptureQueriesContext(connection) as taken:
            client.get(PAGE)
        return len(taken)

    post_to_operators(event="backup.old", facts={}, at=AT)
    statements()
    few = statements()
    for _ in range(PAGE_SIZE):
        post_to_operators(event="backup.old", facts={}, at=AT)

    assert statements() == few
    first = Outbox.objects.order_by("-pk")[PAGE_SIZE - 1].pk
    assert f"?before={first}" in client.get(PAGE).content.decode()
    assert text_of(client.get(f"{PAGE}?before={first}")).count("backup.old <small") == 1
