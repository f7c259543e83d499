"""Webhooks and their deliveries, by project, and those of the server."""

from django.db.models import QuerySet
from django.http import Http404

from apps.accounts.models import Project
from apps.jobs.enums import DeliveryKind
from apps.jobs.models import Outbox, Webhook


def webhooks_in(project: Project) -> QuerySet[Webhook]:
    """The webhooks of the project, also those that are switched off, oldest first."""
    return Webhook.objects.filter(project=project, ended_at=None).select_related("created_by").order_by("pk")


def webhook_in(project: Project, pk: int) -> Webhook:
    webhook = webhooks_in(project).select_related("project").filter(pk=pk).first()
    if webhook is None:
        raise Http404("No such webhook.")
    return webhook


def deliveries_in(project: Project) -> QuerySet[Outbox]:
    """The messages to webhooks of the project, whatever became of them; newest first."""
    return Outbox.objects.filter(project=project, kind=DeliveryKind.WEBHOOK).order_by("-pk")


def delivery_in(project: Project, pk: int) -> Outbox:
    return _found(deliveries_in(project), pk)


def deliveries_to_operators() -> QuerySet[Outbox]:
    """The messages to the webhook of the server, newest first."""
    return Outbox.objects.filter(project=None, kind=DeliveryKind.WEBHOOK).order_by("-pk")


def delivery_to_operators(pk: int) -> Outbox:
    return _found(deliveries_to_operators(), pk)


def _found(rows: QuerySet[Outbox], pk: int) -> Outbox:
    delivery = rows.filter(pk=pk).first()
    if delivery is None:
        raise Http404("No such message.")
    return delivery
