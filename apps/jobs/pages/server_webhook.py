"""The deliveries to the webhook of the server, for operators.

Of its address only the host is shown: the rest may be what lets somebody write there.
"""

from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import PersonRequest, operator_view
from apps.jobs.actions.server_webhook import send_to_operators_again, try_server_webhook
from apps.jobs.enums import ServerEvent
from apps.jobs.models import Outbox
from apps.jobs.pages.webhooks import page_of_deliveries
from apps.jobs.selectors.webhooks import deliveries_to_operators, delivery_to_operators


@operator_view
@require_safe
def deliveries(request: PersonRequest) -> HttpResponse:
    context = page_of_deliveries(deliveries_to_operators(), request, to=_to, again=_again)
    here = {"section": "Server", "host": urlsplit(settings.WEBHOOK).hostname, "events": ServerEvent.choices}
    return render(request, "jobs/server_deliveries.html", {**context, **here})


def _to(row: Outbox) -> str:
    return urlsplit(row.payload["url"]).hostname or ""


def _again(row: Outbox) -> str:
    return reverse("server-webhook:send-again", args=[row.pk]) if settings.WEBHOOK else ""


@operator_view
@require_POST
def try_it(request: PersonRequest) -> HttpResponse:
    try_server_webhook(actor=request.user, at=timezone.now())
    messages.success(request, "A test message is being sent. See here what becomes of it.")
    return redirect("server-webhook:deliveries")


@operator_view
@require_POST
def send_again(request: PersonRequest, pk: int) -> HttpResponse:
    send_to_operators_again(delivery=delivery_to_operators(pk), actor=request.user, at=timezone.now())
    messages.success(request, "The message is being sent again.")
    return redirect("server-webhook:deliveries")
