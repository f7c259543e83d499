"""What leads do with webhooks: add, change over to another secret, try, switch on again, remove, send again."""

import secrets as randomness
from collections.abc import Sequence
from datetime import datetime
from itertools import count

from django.conf import settings
from django.db import transaction

from apps.accounts.actions.secrets import save_secret
from apps.accounts.models import Project, User
from apps.accounts.selectors import secrets_in
from apps.audit.actions import record
from apps.common.database.functions import from_now
from apps.common.errors import Forbidden, Refusal
from apps.common.web.addresses import BadAddress, parse_url
from apps.jobs.core.progress import WEBHOOK_ENDED
from apps.jobs.core.signing import KEY_BYTES, secret_of
from apps.jobs.enums import DeliveryState, WebhookEvent
from apps.jobs.execution.outbox import give_up, post, post_to_operators
from apps.jobs.models import Outbox, Webhook
from apps.jobs.selectors.jobs import webhooks_in

MOST_WEBHOOKS = 20
BOTH_SIGN_SECONDS = 86_400
PING = "ping"


class WebhookRefused(Refusal):
    """A webhook cannot be added, or a message not sent again."""


@transaction.atomic
def add_webhook(
    *, project: Project, url: str, actor: User, at: datetime, secret: str = "", events: Sequence[str] | None = None
) -> tuple[Webhook, str]:
    """Send these events of the project (all, when None) to this address from now on.

    Returns the value of the secret where it was made for this webhook, which is when none was named: to show once.
    """
    project = Project.objects.select_for_update().get(pk=project.pk)
    url = url.strip()
    chosen = sorted(WebhookEvent.values if events is None else events)
    _check(project, url, secret, chosen)
    value = ""
    if not secret:
        secret, value = _make_secret(project, actor, at)
    webhook = Webhook.objects.create(
        project=project, url=url, secret=secret, events=chosen, created_by=actor, created_at=at
    )
    after = {"url": url, "secret": secret, "events": chosen}
    record(project=project, actor=actor, action="webhook.added", obj=webhook, after=after, at=at)
    return webhook, value


def _check(project: Project, url: str, secret: str, events: Sequence[str]) -> None:
    try:
        parse_url(url)
    except BadAddress as wrong:
        raise WebhookRefused(str(wrong), code="bad_address") from None
    if not events or not set(events) <= set(WebhookEvent.values):
        raise WebhookRefused(f"Name at least one of the events {', '.join(WebhookEvent.values)}.", code="bad_events")
    if secret and not secrets_in(project).filter(name=secret).exists():
        raise WebhookRefused(f"The project has no secret called {secret}. Add it first.", code="no_secret")
    existing = webhooks_in(project)
    if existing.filter(url=url).exists():
        raise WebhookRefused("That address is already a webhook.", code="webhook_there")
    if existing.count() >= MOST_WEBHOOKS:
        raise WebhookRefused(f"A project has at most {MOST_WEBHOOKS} webhooks. Remove one first.", code="webhooks_full")


def _make_secret(project: Project, actor: User, at: datetime) -> tuple[str, str]:
    """The name and the value of a new secret of the project."""
    names = set(secrets_in(project).values_list("name", flat=True))
    name = next(name for number in count(1) if (name := f"webhook-{number}") not in names)
    value = secret_of(randomness.token_bytes(KEY_BYTES))
    save_secret(project=project, name=name, value=value, actor=actor, at=at)
    return name, value


@transaction.atomic
def change_secret(*, webhook: Webhook, actor: User, at: datetime) -> tuple[Webhook, str]:
    """Sign with a new secret, whose value is returned to be shown once; for a day also with the one before."""
    webhook = _locked(webhook)
    name, value = _make_secret(webhook.project, actor, at)
    former, webhook.secret = webhook.secret, name
    webhook.save(update_fields=["secret"])
    Webhook.objects.filter(pk=webhook.pk).update(former_secret=former, former_until=from_now(BOTH_SIGN_SECONDS))
    record(
        project=webhook.project,
        actor=actor,
        action="webhook.secret_changed",
        obj=webhook,
        before={"secret": former},
        after={"secret": name},
        at=at,
    )
    return Webhook.objects.get(pk=webhook.pk), value


@transaction.atomic
def enable_webhook(*, webhook: Webhook, actor: User, at: datetime) -> Webhook:
    """Send again to a webhook that was switched off. What it missed meanwhile can be sent again from the log."""
    webhook = _locked(webhook)
    if webhook.disabled_at is not None:
        webhook.disabled_at = webhook.failing_since = None
        webhook.save(update_fields=["disabled_at", "failing_since"])
        record(project=webhook.project, actor=actor, action="webhook.enabled", obj=webhook, at=at)
    return webhook


@transaction.atomic
def end_webhook(*, webhook: Webhook, actor: User, at: datetime) -> Webhook:
    """Stop sending to an address; its queued messages are not sent."""
    webhook = Webhook.objects.select_for_update().get(pk=webhook.pk)
    if webhook.ended_at is None:
        webhook.ended_by, webhook.ended_at = actor, at
        webhook.save(update_fields=["ended_by", "ended_at"])
        give_up(webhook, WEBHOOK_ENDED)
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
    if webhook.disabled_at is not None:
        raise WebhookRefused(f"{webhook} is switched off. Switch it on first.", code="webhook_off")
    return post(webhook, PING, {}, at)


@transaction.atomic
def send_again(*, delivery: Outbox, actor: User, at: datetime) -> Outbox:
    """Send a message at once, whatever became of it, with the same content and the same delivery id."""
    webhook = Webhook.objects.select_for_update().get(pk=delivery.payload["webhook"])
    row = Outbox.objects.select_for_update().get(pk=delivery.pk)
    if webhook.ended_at is not None:
        raise WebhookRefused(f"{webhook} was removed. Add it again first.", code="webhook_ended")
    if webhook.disabled_at is not None:
        raise WebhookRefused(f"{webhook} is switched off. Switch it on first.", code="webhook_off")
    before = _queue_again(row, at)
    record(project=webhook.project, actor=actor, action="webhook.sent_again", obj=webhook, before=before, at=at)
    return row


def _queue_again(row: Outbox, at: datetime) -> dict[str, object]:
    """Let a locked message be sent at once; returns what it was, for the record."""
    before = {"state": row.state, "tries": row.attempts, "delivery": str(row.delivery_id)}
    if row.state != DeliveryState.WAITING:
        row.state, row.attempts, row.sent_at, row.answered, row.error = DeliveryState.WAITING, 0, None, None, ""
    row.next_at = at
    row.save(update_fields=["state", "attempts", "sent_at", "answered", "error", "next_at"])
    return before


# The webhook of the server --------------------------------------------------------------------------------------

NO_WEBHOOK = (
    "The server has no webhook. Set KARAT_WEBHOOK to its address and KARAT_WEBHOOK_SECRET, and start Karat again."
)


@transaction.atomic
def try_server_webhook(*, actor: User, at: datetime) -> Outbox:
    """Queue a test message, so that operators see whether it arrives."""
    _only_operators(actor)
    delivery = post_to_operators(event=PING, facts={}, at=at)
    if delivery is None:
        raise WebhookRefused(NO_WEBHOOK, code="no_webhook")
    record(project=None, actor=actor, action="webhook.tested", obj=delivery, at=at)
    return delivery


@transaction.atomic
def send_to_operators_again(*, delivery: Outbox, actor: User, at: datetime) -> Outbox:
    """Send a message at once, whatever became of it, with the same content and id, to the address that is set now."""
    _only_operators(actor)
    if not settings.WEBHOOK:
        raise WebhookRefused(NO_WEBHOOK, code="no_webhook")
    row = Outbox.objects.select_for_update().get(pk=delivery.pk)
    before = _queue_again(row, at)
    row.payload["url"] = settings.WEBHOOK
    row.save(update_fields=["payload"])
    record(project=None, actor=actor, action="webhook.sent_again", obj=row, before=before, at=at)
    return row


def _only_operators(actor: User) -> None:
    if not actor.is_operator:
        raise Forbidden("Only an operator can do this: this webhook is that of the server.")


def _locked(webhook: Webhook) -> Webhook:
    return Webhook.objects.select_for_update(of=("self",)).select_related("project").get(pk=webhook.pk)
