"""The page of a project's webhooks and the state of the last messages."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.jobs.actions import webhooks
from apps.jobs.forms import WebhookForm


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def webhook_list(request: HttpRequest, project: Project) -> HttpResponse:
    form = WebhookForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        try:
            webhooks.add_webhook(project=project, **form.cleaned_data, actor=member_of(request).user, at=timezone.now())
        except webhooks.WebhookRefused as refusal:
            form.add_error(None, refusal.sentence)
        else:
            messages.success(request, "The webhook is added. Test it to see whether a message arrives.")
            return redirect("jobs:webhooks", slug=project.slug)
    webhooks_in_use = list(webhooks.webhooks_in(project))
    context = {
        "webhooks": webhooks_in_use,
        "active": {webhook.pk for webhook in webhooks_in_use},
        "deliveries": webhooks.deliveries_in(project),
        "form": form,
        "section": "Jobs",
    }
    return render(request, "jobs/webhooks.html", context, status=400 if form.errors else 200)


@require_POST
@member_view(Role.LEAD)
def try_one(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    webhooks.try_webhook(webhook=webhooks.webhook_in(project, pk), at=timezone.now())
    messages.success(request, "A test message is being sent. See the result under Last messages.")
    return redirect("jobs:webhooks", slug=project.slug)


@require_POST
@member_view(Role.LEAD)
def send_again(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    delivery = webhooks.delivery_in(project, pk)
    webhooks.send_again(delivery=delivery, actor=member_of(request).user, at=timezone.now())
    messages.success(request, "The message is being sent again. See the result under Last messages.")
    return redirect("jobs:webhooks", slug=project.slug)


@require_POST
@member_view(Role.LEAD)
def end(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    webhook = webhooks.webhook_in(project, pk)
    webhooks.end_webhook(webhook=webhook, actor=member_of(request).user, at=timezone.now())
    messages.success(request, f"{webhook} is removed.")
    return redirect("jobs:webhooks", slug=project.slug)
