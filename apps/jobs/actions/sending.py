"""Sends the messages of webhooks, and switches a webhook off that accepts nothing for days.

A delivery is a POST of JSON, at least once, never to an address inside this network, signed as Standard Webhooks
defines it. `webhook-id` is the same in every attempt to send one message, and when a lead sends it again.
"""

import time
from collections.abc import Sequence
from contextlib import suppress

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions.secrets import NoSecret, reveal
from apps.accounts.enums import Role
from apps.accounts.selectors import members_of
from apps.audit.actions import record
from apps.common.database.functions import from_now
from apps.common.digests import canonical_json
from apps.common.web.addresses import BadAddress, parse_url
from apps.common.web.outbound import Blocked, Client, OutboundError, RequestLimits
from apps.jobs.actions.notifications import notify
from apps.jobs.core.progress import WEBHOOK_ENDED
from apps.jobs.core.signing import BadSecret, key_of, signatures
from apps.jobs.execution.outbox import Undeliverable, Undelivered, give_up
from apps.jobs.models import Outbox, Webhook

PATIENCE = RequestLimits(connect=5.0, read=10.0, whole=15.0, size=64 * 1024)
GONE = 410  # the answer by which a receiver says that it wants no more
DISABLED_AFTER_SECONDS = 3 * 86_400
DISABLED = "The webhook was switched off before this was sent: nothing had been accepted for three days."
NOT_WANTED = "The webhook was switched off: the receiver answered 410, that it wants no more."
NO_ADDRESS = "The server has no webhook any more: KARAT_WEBHOOK is empty."


class NotTaken(Undelivered):
    """The receiver could not be reached, or did not accept the message. A retry may help."""


class NotSent(Undeliverable):
    """The message must not be sent: the address is closed, or the webhook was removed. A retry does not help."""


def send_webhook(delivery: Outbox) -> None:
    """Send one message.

    Raises NotTaken for any answer but 2xx, and for none; NotSent where the address must not be requested.
    """
    webhook = _webhook_of(delivery)
    try:
        status, host = _request(delivery, webhook)
    except (BadAddress, BadSecret, NoSecret, Blocked) as problem:
        _note_failure(webhook)
        raise NotSent(str(problem)) from problem
    except OutboundError as problem:
        _note_failure(webhook)
        raise NotTaken(str(problem)) from problem
    Outbox.objects.filter(pk=delivery.pk).update(answered=status)
    if 200 <= status < 300:
        _note_success(webhook)
        return
    if status == GONE and webhook is not None:
        _disable(webhook, NOT_WANTED)
        raise NotSent(NOT_WANTED)
    _note_failure(webhook)
    raise NotTaken(f"{host} answered {status}.")


def _webhook_of(delivery: Outbox) -> Webhook | None:
    """The webhook, when it still wants the message; None for the one of the server."""
    if "webhook" not in delivery.payload:
        if not settings.WEBHOOK:
            raise NotSent(NO_ADDRESS)
        return None
    webhook = Webhook.objects.select_related("project").get(pk=delivery.payload["webhook"])
    if webhook.ended_at is not None:
        raise NotSent(WEBHOOK_ENDED)
    if webhook.disabled_at is not None:
        raise NotSent(DISABLED)
    return webhook


def _request(delivery: Outbox, webhook: Webhook | None) -> tuple[int, str]:
    """Send the request; return the status and the host."""
    target = parse_url(settings.WEBHOOK if webhook is None else webhook.url)
    keys = [key_of(secret) for secret in _secrets_of(webhook)]
    body, seconds, message_id = canonical_json(delivery.payload["body"]), int(time.time()), str(delivery.delivery_id)
    headers = {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": signatures(keys, message_id=message_id, seconds=seconds, body=body),
    }
    client = Client(target, openings=settings.OUTBOUND_ALLOW, limits=PATIENCE)
    try:
        return client.ask("POST", target.path, headers=headers, body=body).status, target.host
    finally:
        client.close()


def _secrets_of(webhook: Webhook | None) -> Sequence[str]:
    """The secrets that sign now, the newest first."""
    if webhook is None:
        return settings.WEBHOOK_SECRETS
    secrets = [reveal(webhook.project, webhook.secret)]
    if webhook.former_secret and Webhook.objects.filter(pk=webhook.pk, former_until__gt=Now()).exists():
        with suppress(NoSecret):  # deleted before its time: whoever did it wants it to count no more
            secrets.append(reveal(webhook.project, webhook.former_secret))
    return secrets


# What became of it -------------------------------------------------------------------------------------------------


def _note_success(webhook: Webhook | None) -> None:
    if webhook is not None and webhook.failing_since is not None:
        Webhook.objects.filter(pk=webhook.pk).update(failing_since=None)


def _note_failure(webhook: Webhook | None) -> None:
    """Remember since when nothing was accepted, and switch the webhook off when that is too long ago."""
    if webhook is None:
        return
    mine = Webhook.objects.filter(pk=webhook.pk)
    if mine.filter(failing_since=None).update(failing_since=Now()):
        return
    if mine.filter(failing_since__lte=from_now(-DISABLED_AFTER_SECONDS), disabled_at=None).exists():
        _disable(webhook, DISABLED)


@transaction.atomic
def _disable(webhook: Webhook, reason: str) -> None:
    """Switch a webhook off, give up what waits for it, and tell the leads."""
    if not Webhook.objects.filter(pk=webhook.pk, disabled_at=None, ended_at=None).update(disabled_at=Now()):
        return
    at = timezone.now()
    give_up(webhook, reason)
    record(project=webhook.project, actor=None, action="webhook.disabled", obj=webhook, after={"why": reason}, at=at)
    path = reverse("jobs:webhooks", args=[webhook.project.slug])
    why = "wants no more messages" if reason == NOT_WANTED else "has accepted nothing for three days"
    for lead in members_of(webhook.project, Role.LEAD):
        notify(
            person=lead,
            project=webhook.project,
            kind="webhook.disabled",
            sentence=f"A webhook was switched off because it {why}: {webhook}",
            path=path,
            key=f"webhook:{webhook.pk}:disabled:{at.isoformat()}",
            at=at,
        )
