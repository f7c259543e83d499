"""The outbox: messages are written in the transaction that causes them, and delivered afterwards, at least once."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import F, Q
from django.db.models.functions import Now

from apps.accounts.models import Project
from apps.common.database.functions import from_now
from apps.jobs.enums import DeliveryKind, DeliveryState, ServerEvent, WebhookEvent
from apps.jobs.models import Outbox, Webhook
from apps.jobs.selectors.jobs import webhooks_in

log = logging.getLogger(__name__)

MAX_TRIES = 12  # over some ten hours, so that a receiver that is down for a night gets it in the morning
BASE_WAIT_SECONDS = 30
MAX_WAIT_SECONDS = 3 * 3_600
BATCH = 50
REASON_LENGTH = 500

Sender = Callable[[Outbox], None]
_senders: dict[str, Sender] = {}


class Undelivered(Exception):
    """A message was not delivered. The text is a sentence to show to people."""


class Undeliverable(Undelivered):
    """A message that a retry would not deliver either. It fails at once."""


def sender(kind: str) -> Callable[[Sender], Sender]:
    """Register the function that delivers messages of this kind. It raises when the delivery must be retried."""

    def register(function: Sender) -> Sender:
        _senders[kind] = function
        return function

    return register


def post_mail(
    *, to: list[str], subject: str, body: str, project: Project | None, at: datetime, is_secret: bool = False
) -> Outbox:
    """Put a mail into the outbox, in the transaction of the event.

    The text of a secret one, such as a link that works once, is erased when it was sent or has failed.
    """
    return Outbox.objects.create(
        kind=DeliveryKind.MAIL,
        project=project,
        payload={"to": to, "subject": subject, "body": body} | ({"is_secret": True} if is_secret else {}),
        created_at=at,
        next_at=at,
    )


@sender(DeliveryKind.MAIL)
def send_mail(delivery: Outbox) -> None:
    EmailMessage(
        subject=delivery.payload["subject"],
        body=delivery.payload["body"],
        to=delivery.payload["to"],
        headers={"Message-ID": f"<{delivery.delivery_id}@karat>"},
    ).send()


def deliver_due(*, at: datetime) -> int:
    """Deliver what is due and return how many messages went out."""
    due = Outbox.objects.filter(state=DeliveryState.WAITING, next_at__lte=Now()).order_by("next_at")
    return sum(deliver(delivery_id, at=at) for delivery_id in due.values_list("pk", flat=True)[:BATCH])


def deliver(outbox_id: int, *, at: datetime) -> bool:
    """Claim one message by a conditional update, then send it. If the sender is killed in between, it is due again."""
    rows = Outbox.objects.filter(pk=outbox_id, state=DeliveryState.WAITING, next_at__lte=Now())
    row = rows.first()
    if row is None or not rows.filter(attempts=row.attempts).update(
        attempts=F("attempts") + 1, next_at=from_now(wait_after(row.attempts + 1))
    ):
        return False
    mine = Outbox.objects.filter(Q(attempts=row.attempts + 1), pk=row.pk, state=DeliveryState.WAITING)
    try:
        _senders[row.kind](row)
    except Exception as problem:
        log.warning("Delivery %s failed: %s", row.delivery_id, problem)
        is_over = isinstance(problem, Undeliverable) or row.attempts + 1 >= MAX_TRIES
        state = DeliveryState.FAILED if is_over else DeliveryState.WAITING
        reason = str(problem) if isinstance(problem, Undelivered) else f"{type(problem).__name__}: {problem}"
        mine.update(state=state, error=reason[:REASON_LENGTH], **(_erased(row) if is_over else {}))
        return False
    mine.update(state=DeliveryState.SENT, sent_at=at, error="", **_erased(row))
    return True


def _erased(row: Outbox) -> dict[str, Any]:
    """The changed payload of a message whose text is not stored longer than needed."""
    return {"payload": {**row.payload, "body": ""}} if row.payload.get("is_secret") else {}


def wait_after(attempts: int) -> int:
    """Seconds until the next attempt: 30, 60, 120 and so on, up to three hours."""
    return min(BASE_WAIT_SECONDS * 2 ** (attempts - 1), MAX_WAIT_SECONDS)


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
