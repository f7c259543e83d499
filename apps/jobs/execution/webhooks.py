"""Queues the messages of webhooks, in the transaction of what they tell of."""

from datetime import datetime
from typing import Any

from django.conf import settings

from apps.accounts.models import Project
from apps.jobs.enums import DeliveryKind, DeliveryState, ServerEvent, WebhookEvent
from apps.jobs.models import Outbox, Webhook
from apps.jobs.selectors.webhooks import webhooks_in


def post_to_webhooks(*, project: Project, event: WebhookEvent, facts: dict[str, Any], at: datetime) -> None:
    """Queue a message to every webhook that wants the event, in its transaction. `facts` are JSON values.

    They go to people unknown: nothing of an open round is in them, and nobody's single judgement or verdict.
    """
    for webhook in webhooks_in(project).filter(disabled_at=None):
        if event in webhook.events:
            post(webhook, event, facts, at)


def post(webhook: Webhook, event: str, facts: dict[str, Any], at: datetime) -> Outbox:
    body = {"type": str(event), "timestamp": at.isoformat(), "data": {"project": webhook.project.slug, **facts}}
    return _queue({"webhook": webhook.pk, "url": webhook.url, "body": body}, webhook.project, at)


def post_to_operators(*, event: ServerEvent | str, facts: dict[str, Any], at: datetime) -> Outbox | None:
    """Queue a message to the webhook of the server, in the transaction of the event; None where there is none."""
    if not settings.WEBHOOK:
        return None
    body = {"type": str(event), "timestamp": at.isoformat(), "data": facts}
    return _queue({"url": settings.WEBHOOK, "body": body}, None, at)


def _queue(payload: dict[str, Any], project: Project | None, at: datetime) -> Outbox:
    return Outbox.objects.create(kind=DeliveryKind.WEBHOOK, project=project, payload=payload, created_at=at, next_at=at)


def give_up(webhook: Webhook, reason: str) -> None:
    """Let the messages fail that wait for a webhook."""
    waiting = Outbox.objects.filter(kind=DeliveryKind.WEBHOOK, state=DeliveryState.WAITING, project=webhook.project)
    waiting.filter(payload__webhook=webhook.pk).update(state=DeliveryState.FAILED, error=reason)
