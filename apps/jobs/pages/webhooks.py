"""The page of a project's webhooks, and the log of the deliveries to them and to the webhook of the server."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import PersonRequest, member_view, operator_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.web.requests import page_before
from apps.jobs.actions import webhooks
from apps.jobs.enums import DeliveryState, ServerEvent
from apps.jobs.forms import WebhookForm
from apps.jobs.models import Outbox
from apps.jobs.selectors.jobs import (
    deliveries_in,
    deliveries_to_operators,
    delivery_in,
    delivery_to_operators,
    webhook_in,
    webhooks_in,
)

PAGE_SIZE = 50


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def webhook_list(request: HttpRequest, project: Project) -> HttpResponse:
    form = WebhookForm(request.POST or None, project=project)
    secret = ""
    if request.method == "POST" and form.is_valid():
        try:
            _, secret = webhooks.add_webhook(
                project=project, **form.cleaned_data, actor=user_of(request), at=timezone.now()
            )
        except webhooks.WebhookRefused as refusal:
            form.add_error(None, refusal.sentence)
        else:
            messages.success(request, "The webhook is added. Test it to see whether a message arrives.")
            if not secret:
                return redirect("jobs:webhooks", slug=project.slug)
            form = WebhookForm(project=project)
    return _shown(request, project, form, secret)


def _shown(request: HttpRequest, project: Project, form: WebhookForm, secret: str = "") -> HttpResponse:
    """The page; with `secret`, the value of a secret that was just made and is shown this once."""
    context = {"webhooks": list(webhooks_in(project)), "form": form, "secret": secret}
    return render(request, "jobs/webhooks.html", context, status=400 if form.errors else 200)


@require_POST
@member_view(Role.LEAD)
def try_one(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    webhooks.try_webhook(webhook=webhook_in(project, pk), at=timezone.now())
    messages.success(request, "A test message is being sent. See here what becomes of it.")
    return redirect("jobs:deliveries", slug=project.slug)


@never_cache
@require_POST
@member_view(Role.LEAD)
def change_secret(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    webhook = webhook_in(project, pk)
    _, secret = webhooks.change_secret(webhook=webhook, actor=user_of(request), at=timezone.now())
    messages.success(request, f"{webhook} is signed with a new secret, and for a day with the one before as well.")
    return _shown(request, project, WebhookForm(project=project), secret)


@require_POST
@member_view(Role.LEAD)
def enable(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    webhook = webhook_in(project, pk)
    webhooks.enable_webhook(webhook=webhook, actor=user_of(request), at=timezone.now())
    messages.success(request, f"{webhook} is on again. What it missed can be sent again from its deliveries.")
    return redirect("jobs:webhooks", slug=project.slug)


@require_POST
@member_view(Role.LEAD)
def end(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    webhook = webhook_in(project, pk)
    webhooks.end_webhook(webhook=webhook, actor=user_of(request), at=timezone.now())
    messages.success(request, f"{webhook} is removed.")
    return redirect("jobs:webhooks", slug=project.slug)


# Deliveries --------------------------------------------------------------------------------------------------------


@require_safe
@member_view(Role.LEAD)
def deliveries(request: HttpRequest, project: Project) -> HttpResponse:
    active = set(webhooks_in(project).filter(disabled_at=None).values_list("pk", flat=True))

    def again(row: Outbox) -> str:
        sends = row.payload["webhook"] in active
        return reverse("jobs:send-again", args=[project.slug, row.pk]) if sends else ""

    context = page_of_deliveries(deliveries_in(project), request, to=lambda row: row.payload["url"], again=again)
    return render(request, "jobs/deliveries.html", {**context})


def page_of_deliveries(
    rows: QuerySet[Outbox], request: HttpRequest, *, to: Callable[[Outbox], str], again: Callable[[Outbox], str]
) -> dict[str, Any]:
    """What `jobs/_deliveries.html` shows of these.

    `to` is the address as it is shown, and `again` where a message is sent again; "" where it cannot be.
    """
    state = request.GET.get("state", "")
    if state in DeliveryState.values:
        rows = rows.filter(state=state)
    page, older = page_before(request, rows, PAGE_SIZE)
    return {
        "deliveries": [(row, _body(row), to(row), again(row)) for row in page],
        "older": older,
        "state": state,
        "states": DeliveryState.choices,
    }


def _body(delivery: Outbox) -> str:
    return json.dumps(delivery.payload["body"], indent=2, ensure_ascii=False)


@require_POST
@member_view(Role.LEAD)
def send_again(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    delivery = delivery_in(project, pk)
    webhooks.send_again(delivery=delivery, actor=user_of(request), at=timezone.now())
    messages.success(request, "The message is being sent again.")
    return redirect("jobs:deliveries", slug=project.slug)


# The webhook of the server, for operators ------------------------------------------------------------------------


@operator_view
@require_safe
def server_deliveries(request: PersonRequest) -> HttpResponse:
    context = page_of_deliveries(deliveries_to_operators(), request, to=_host_of, again=_again_to_operators)
    here = {"section": "Server", "host": urlsplit(settings.WEBHOOK).hostname, "events": ServerEvent.choices}
    return render(request, "jobs/server_deliveries.html", {**context, **here})


def _host_of(row: Outbox) -> str:
    """Only the host of the address is shown: the rest may be what lets somebody write there."""
    return urlsplit(row.payload["url"]).hostname or ""


def _again_to_operators(row: Outbox) -> str:
    return reverse("server-webhook:send-again", args=[row.pk]) if settings.WEBHOOK else ""


@operator_view
@require_POST
def try_server(request: PersonRequest) -> HttpResponse:
    webhooks.try_server_webhook(actor=request.user, at=timezone.now())
    messages.success(request, "A test message is being sent. See here what becomes of it.")
    return redirect("server-webhook:deliveries")


@operator_view
@require_POST
def send_to_server_again(request: PersonRequest, pk: int) -> HttpResponse:
    webhooks.send_to_operators_again(delivery=delivery_to_operators(pk), actor=request.user, at=timezone.now())
    messages.success(request, "The message is being sent again.")
    return redirect("server-webhook:deliveries")
