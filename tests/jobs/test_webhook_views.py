"""The pages of webhooks and their deliveries."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.actions.secrets import reveal, save_secret
from apps.audit.models import Event
from apps.jobs.actions.webhooks import add_webhook, end_webhook, try_webhook
from apps.jobs.forms import NEW
from apps.jobs.models import Outbox, Webhook
from apps.jobs.pages.webhooks import PAGE_SIZE
from tests.factories import AT, lead_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lead_signed_in")]


def words(response) -> str:
    return " ".join(response.content.decode().split()).replace("\N{NO-BREAK SPACE}", " ")


def test_a_lead_adds_tries_and_ends_a_webhook(client, project):
    page = reverse("jobs:webhooks", args=[project.slug])
    save_secret(project=project, name="hook", value="sesame-open", actor=lead_of(project), at=AT)
    filled = {"url": "https://ci.example/", "events": ["gate.changed"], "secret": "hook"}

    bad = client.post(page, {**filled, "url": "ftp://ci.example/"})
    no_events = client.post(page, {**filled, "events": []})
    client.post(page, filled)
    webhook = Webhook.objects.get()
    client.post(reverse("jobs:try-webhook", args=[project.slug, webhook.pk]))
    shown = words(client.get(page))
    client.post(reverse("jobs:end-webhook", args=[project.slug, webhook.pk]))

    assert (bad.status_code, no_events.status_code) == (400, 400)
    assert "begins with neither https:// nor http://" in words(bad)
    assert "https://ci.example/" in shown
    assert "gate.changed" in shown
    assert "sesame" not in shown
    assert Outbox.objects.get().payload["body"]["type"] == "ping"
    assert "No address yet. Add one" in words(client.get(page))


def test_a_new_secret_is_shown_once_when_a_webhook_is_added_and_when_it_changes(client, project):
    page = reverse("jobs:webhooks", args=[project.slug])

    added = client.post(page, {"url": "https://ci.example/", "events": ["job.failed"], "secret": NEW})
    changed = client.post(reverse("jobs:change-secret", args=[project.slug, Webhook.objects.get().pk]))

    values = [re.search(r"whsec_[A-Za-z0-9+/=]+", words(each)).group() for each in (added, changed)]
    assert values == [reveal(project, "webhook-1"), reveal(project, "webhook-2")]
    assert "no-store" in added["Cache-Control"]
    assert "no-store" in changed["Cache-Control"]
    assert "whsec_" not in words(client.get(page))


def test_a_lead_switches_a_webhook_on_again(client, project):
    webhook, _ = add_webhook(project=project, url="https://ci.example/", actor=lead_of(project), at=AT)
    Webhook.objects.update(disabled_at=AT, failing_since=AT)
    page = reverse("jobs:webhooks", args=[project.slug])
    off = words(client.get(page))

    tried = client.post(reverse("jobs:try-webhook", args=[project.slug, webhook.pk]))
    client.post(reverse("jobs:enable-webhook", args=[project.slug, webhook.pk]))

    assert "switched off" in off
    assert tried.status_code == 409
    assert "switched off" not in words(client.get(page))


def test_the_log_shows_state_answer_next_try_and_content_and_a_lead_sends_again(client, project):
    webhook, _ = add_webhook(project=project, url="https://ci.example/", actor=lead_of(project), at=AT)
    row = try_webhook(webhook=webhook, at=AT)
    page = reverse("jobs:deliveries", args=[project.slug])
    waiting = words(client.get(page))
    Outbox.objects.update(state="failed", attempts=12, answered=500, error="ci.example answered 500.")

    failed = words(client.get(page, {"state": "failed"}))
    none_sent = words(client.get(page, {"state": "sent"}))
    client.post(reverse("jobs:send-again", args=[project.slug, row.pk]))
    other = client.post(reverse("jobs:send-again", args=[project.slug, row.pk + 1]))
    end_webhook(webhook=webhook, actor=lead_of(project), at=AT)
    ended = words(client.get(page))

    assert f"{row.next_at:%Y-%m-%d %H:%M}" in waiting
    assert str(row.delivery_id) in waiting
    assert "ci.example answered 500." in failed
    assert '<td class="num">12</td><td class="num">500</td>' in failed
    assert "No message in this state" in none_sent
    assert Event.objects.filter(action="webhook.sent_again").count() == 1
    assert other.status_code == 404
    assert "Send again:" in failed
    assert "Send again:" not in ended, "who is told nothing more is sent nothing again"


def test_the_log_has_pages_and_asks_as_much_for_many_as_for_one(client, project, django_assert_num_queries):
    webhook, _ = add_webhook(project=project, url="https://ci.example/", actor=lead_of(project), at=AT)
    page = reverse("jobs:deliveries", args=[project.slug])
    try_webhook(webhook=webhook, at=AT)
    with CaptureQueriesContext(connection) as for_one:
        client.get(page)
    for _ in range(PAGE_SIZE):
        try_webhook(webhook=webhook, at=AT)

    with django_assert_num_queries(len(for_one)):
        first = client.get(page)
    older = client.get(page, {"before": first.context["older"]})

    assert (len(first.context["deliveries"]), len(older.context["deliveries"])) == (PAGE_SIZE, 1)
    assert older.context["older"] is None
