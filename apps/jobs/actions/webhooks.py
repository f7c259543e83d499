"""Webhooks: signed messages to other machines, sent at least once, never to an address inside this network.

A delivery is a POST of JSON. Its header `Karat-Signature` is `t=SECONDS,v1=HEX`: HMAC-SHA256 under the project's secret
over the seconds, a dot and the bytes of the body. `Karat-Delivery` is the same in every attempt to send one message.
"""

import hashlib
import hmac
import time
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404

from apps.accounts.actions.secrets import NoSecret, reveal
from apps.accounts.models import Project, User
from apps.accounts.selectors import secrets_in
from apps.audit.actions import record
from apps.common.digests import canonical_json
from apps.common.errors import Refusal
from apps.common.web.addresses import BadAddress, parse_url
from apps.common.web.outbound import Blocked, Client, Limits, OutboundError
from apps.jobs.core.unsent import WEBHOOK_ENDED
from apps.jobs.enums import DeliveryKind, DeliveryState
from apps.jobs.execution.outbox import Undeliverable, Undelivered
from apps.jobs.models import Outbox, Webhook

MOST_WEBHOOKS = 20
MOST_SHOWN = 20
PATIENCE = Limits(connect=5.0, read=10.0, whole=15.0, size=64 * 1024)
PING = "ping"


class WebhookRefused(Refusal):
    """A webhook cannot be added, or a message not sent again."""


class NotTaken(Undelivered):
    """The receiver could not be reached, or did not accept the message. A retry may help."""


class NotSent(Undeliverable):
    """The message must not be sent: the address is closed, or the webhook was removed. A retry does not help."""


def webhooks_in(project: Project) -> QuerySet[Webhook]:
    """The webhooks in use, oldest first."""
    return Webhook.objects.filter(project=project, ended_at=None).select_related("created_by").order_by("pk")


def webhook_in(project: Project, pk: int) -> Webhook:
    webhook = webhooks_in(project).filter(pk=pk).first()
    if webhook is None:
        raise Http404("No such webhook.")
    return webhook


def deliveries_in(project: Project) -> list[Outbox]:
    """The latest messages to webhooks of the project, sent or queued; newest first."""
    return list(Outbox.objects.filter(project=project, kind=DeliveryKind.WEBHOOK).order_by("-pk")[:MOST_SHOWN])


@transaction.atomic
def add_webhook(*, project: Project, url: str, secret: str, actor: User, at: datetime) -> Webhook:
    """Send the project's events to this address from now on."""
    project = Project.objects.select_for_update().get(pk=project.pk)
    url = url.strip()
    try:
        parse_url(url)
    except BadAddress as wrong:
        raise WebhookRefused(str(wrong), code="bad_address") from None
    if not secrets_in(project).filter(name=secret).exists():
        raise WebhookRefused(f"The project has no secret called {secret}. Add it first.", code="no_secret")
    existing = webhooks_in(project)
    if existing.filter(url=url).exists():
        raise WebhookRefused("That address is already a webhook.", code="webhook_there")
    if existing.count() >= MOST_WEBHOOKS:
        raise WebhookRefused(f"A project has at most {MOST_WEBHOOKS} webhooks. Remove one first.", code="webhooks_full")
    webhook = Webhook.objects.create(project=project, url=url, secret=secret, created_by=actor, created_at=at)
    record(
        project=project, actor=actor, action="webhook.added", obj=webhook, after={"url": url, "secret": secret}, at=at
    )
    return webhook


@transaction.atomic
def end_webhook(*, webhook: Webhook, actor: User, at: datetime) -> Webhook:
    """Stop sending to an address; its queued messages are not sent."""
    webhook = Webhook.objects.select_for_update().get(pk=webhook.pk)
    if webhook.ended_at is None:
        webhook.ended_by, webhook.ended_at = actor, at
        webhook.save(update_fields=["ended_by", "ended_at"])
        waiting = Outbox.objects.filter(kind=DeliveryKind.WEBHOOK, state=DeliveryState.WAITING)
        waiting.filter(project=webhook.project, payload__webhook=webhook.pk).update(
            state=DeliveryState.FAILED, error=WEBHOOK_ENDED
        )
        record(
            project=webhook.project,
            actor=actor,
            action="webhook.ended",
            obj=webhook,
            before={"url": webhook.url},
            at=at,
        )
    return webhook


@transaction.atomic
def try_webhook(*, webhook: Webhook, at: datetime) -> Outbox:
    """Queue a test message, so that the owner sees whether it arrives."""
    return _post(webhook, PING, {}, at)


def delivery_in(project: Project, pk: int) -> Outbox:
    delivery = Outbox.objects.filter(project=project, kind=DeliveryKind.WEBHOOK, pk=pk).first()
    if delivery is None:
        raise Http404("No such message.")
    return delivery


@transaction.atomic
def send_again(*, delivery: Outbox, actor: User, at: datetime) -> Outbox:
    """Retry a failed or queued message at once, with the same content and the same delivery id."""
    row = Outbox.objects.select_for_update().get(pk=delivery.pk)
    if row.state == DeliveryState.SENT:
        raise WebhookRefused("That message was accepted, so it is not sent again.", code="was_taken")
    webhook = Webhook.objects.get(pk=row.payload["webhook"])
    if webhook.ended_at is not None:
        raise WebhookRefused(f"{webhook} was removed. Add it again first.", code="webhook_ended")
    before = {"state": row.state, "tries": row.attempts}
    if row.state == DeliveryState.FAILED:
        row.state, row.attempts = DeliveryState.WAITING, 0
    row.next_at = at
    row.save(update_fields=["state", "attempts", "next_at"])
    record(project=webhook.project, actor=actor, action="webhook.sent_again", obj=webhook, before=before, at=at)
    return row


def post_to_webhooks(*, project: Project, event: str, facts: dict[str, Any], at: datetime) -> None:
    """Queue a message to every webhook of the project, in the transaction of the event. `facts` are JSON values."""
    for webhook in webhooks_in(project):
        _post(webhook, event, facts, at)


def _post(webhook: Webhook, event: str, facts: dict[str, Any], at: datetime) -> Outbox:
    body = {"event": event, "project": webhook.project.slug, "at": at.isoformat(), **facts}
    return Outbox.objects.create(
        kind=DeliveryKind.WEBHOOK,
        project=webhook.project,
        payload={"webhook": webhook.pk, "url": webhook.url, "body": body},
        created_at=at,
        next_at=at,
    )


def send_webhook(delivery: Outbox) -> None:
    """Send one message.

    Raises NotTaken for any answer but 2xx, and for none; NotSent where the address must not be requested.
    """
    try:
        status, host = _request(delivery)
    except (BadAddress, NoSecret, Blocked) as problem:
        raise NotSent(str(problem)) from problem
    except OutboundError as problem:
        raise NotTaken(str(problem)) from problem
    if not 200 <= status < 300:
        raise NotTaken(f"{host} answered {status}.")


def _request(delivery: Outbox) -> tuple[int, str]:
    """Send the request; return the status and the host."""
    webhook = Webhook.objects.select_related("project").get(pk=delivery.payload["webhook"])
    if webhook.ended_at is not None:
        raise NotSent(WEBHOOK_ENDED)
    target = parse_url(webhook.url)
    body = canonical_json(delivery.payload["body"])
    headers = {
        "Content-Type": "application/json",
        "Karat-Event": str(delivery.payload["body"]["event"]),
        "Karat-Delivery": str(delivery.delivery_id),
        "Karat-Signature": signature(reveal(webhook.project, webhook.secret), int(time.time()), body),
    }
    client = Client(target, openings=settings.OUTBOUND_ALLOW, limits=PATIENCE)
    try:
        return client.ask("POST", target.path, headers=headers, body=body).status, target.host
    finally:
        client.close()


def signature(secret: str, seconds: int, body: bytes) -> str:
    """The value of `Karat-Signature`. A receiver recomputes it and rejects old times, which prevents replays."""
    digest = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={digest}"
