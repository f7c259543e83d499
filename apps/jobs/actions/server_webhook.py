"""What operators do with the webhook of the server, whose address is in the settings: try it, send a message again."""

from datetime import datetime

from django.conf import settings
from django.db import transaction

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.errors import Forbidden
from apps.jobs.actions.webhooks import PING, WebhookRefused, _queue_again
from apps.jobs.execution.webhooks import post_to_operators
from apps.jobs.models import Outbox

NO_WEBHOOK = (
    "The server has no webhook. Set KARAT_WEBHOOK to its address and KARAT_WEBHOOK_SECRET, and start Karat again."
)


@transaction.atomic
def try_server_webhook(*, actor: User, at: datetime) -> Outbox:
    """Queue a test message, so that operators see whether it arrives."""
    _check(actor)
    delivery = post_to_operators(event=PING, facts={}, at=at)
    if delivery is None:
        raise WebhookRefused(NO_WEBHOOK, code="no_webhook")
    record(project=None, actor=actor, action="webhook.tested", obj=delivery, at=at)
    return delivery


@transaction.atomic
def send_to_operators_again(*, delivery: Outbox, actor: User, at: datetime) -> Outbox:
    """Send a message at once, whatever became of it, with the same content and id, to the address that is set now."""
    _check(actor)
    if not settings.WEBHOOK:
        raise WebhookRefused(NO_WEBHOOK, code="no_webhook")
    row = Outbox.objects.select_for_update().get(pk=delivery.pk)
    before = _queue_again(row, at)
    row.payload["url"] = settings.WEBHOOK
    row.save(update_fields=["payload"])
    record(project=None, actor=actor, action="webhook.sent_again", obj=row, before=before, at=at)
    return row


def _check(actor: User) -> None:
    if not actor.is_operator:
        raise Forbidden("Only an operator can do this: this webhook is that of the server.")
