"""What was queued in the former form is sent in the one of Standard Webhooks, and back."""

from importlib import import_module

import pytest
from django.apps import apps

from apps.jobs.actions.webhooks import add_webhook, try_webhook
from apps.jobs.models import Outbox, Webhook
from tests.factories import AT, lead_of, make_project

pytestmark = pytest.mark.django_db
FORMER = {"event": "gate.changed", "project": "hut", "at": "2026-03-02T09:00:00+00:00", "from": "passed", "n": 3}
STANDARD = {
    "type": "gate.changed",
    "timestamp": "2026-03-02T09:00:00+00:00",
    "data": {"project": "hut", "from": "passed", "n": 3},
}


def test_messages_take_the_new_form_and_back_and_webhooks_keep_to_gates():
    migration = import_module("apps.jobs.migrations.0003_standard_webhooks")
    project = make_project()
    webhook, _ = add_webhook(project=project, url="https://ci.example/", actor=lead_of(project), at=AT)
    try_webhook(webhook=webhook, at=AT)
    Outbox.objects.update(payload={"webhook": webhook.pk, "url": webhook.url, "body": FORMER})

    for _ in range(2):
        migration.to_standard(apps, None)
    migration.choose_former_events(apps, None)
    assert Outbox.objects.get().payload["body"] == STANDARD
    assert Webhook.objects.get().events == ["gate.changed"]

    migration.to_former(apps, None)
    assert Outbox.objects.get().payload["body"] == FORMER
