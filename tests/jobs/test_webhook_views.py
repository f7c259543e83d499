"""The page of webhooks."""

import pytest
from django.urls import reverse

from apps.accounts.actions.secrets import save_secret
from apps.audit.models import Event
from apps.jobs.actions.webhooks import add_webhook, end_webhook, try_webhook
from apps.jobs.models import Outbox, Webhook
from tests.factories import AT, lead_of, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def words(response) -> str:
    return " ".join(response.content.decode().split()).replace("\N{NO-BREAK SPACE}", " ")


def test_a_lead_adds_tries_and_ends_a_webhook(client, project):
    client.force_login(lead_of(project))
    page = reverse("jobs:webhooks", args=[project.slug])
    assert "First save a secret" in words(client.get(page))
    save_secret(project=project, name="hook", value="sesame-open", actor=lead_of(project), at=AT)

    bad = client.post(page, {"url": "ftp://ci.example/", "secret": "hook"})
    client.post(page, {"url": "https://ci.example/", "secret": "hook"})
    webhook = Webhook.objects.get()
    client.post(reverse("jobs:try-webhook", args=[project.slug, webhook.pk]))
    shown = words(client.get(page))
    client.post(reverse("jobs:end-webhook", args=[project.slug, webhook.pk]))

    assert bad.status_code == 400
    assert "begins with neither https:// nor http://" in words(bad)
    assert "https://ci.example/" in shown
    assert "sesame" not in shown
    assert Outbox.objects.get().payload["body"]["event"] == "ping"
    assert "No address yet. Add one" in words(client.get(page))


def test_a_lead_sends_a_message_again_that_was_given_up(client, project):
    client.force_login(lead_of(project))
    save_secret(project=project, name="hook", value="sesame-open", actor=lead_of(project), at=AT)
    webhook = add_webhook(project=project, url="https://ci.example/", secret="hook", actor=lead_of(project), at=AT)
    row = try_webhook(webhook=webhook, at=AT)
    page = reverse("jobs:webhooks", args=[project.slug])
    assert "Send again" not in words(client.get(page)), "nothing went wrong yet"
    Outbox.objects.update(state="failed", attempts=12, error="ci.example answered 500.")

    shown = words(client.get(page))
    client.post(reverse("jobs:send-again", args=[project.slug, row.pk]))
    other = client.post(reverse("jobs:send-again", args=[project.slug, row.pk + 1]))
    Outbox.objects.update(error="ci.example answered 500.")
    end_webhook(webhook=webhook, actor=lead_of(project), at=AT)
    ended = words(client.get(page))

    assert "ci.example answered 500." in shown
    assert "Send again" in shown
    assert Event.objects.filter(action="webhook.sent_again").count() == 1
    assert other.status_code == 404
    assert "Send again" not in ended, "who is told nothing more is sent nothing again"
