"""Pages of a person's notifications in a project, and of their choice of mail."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import MemberRequest, PersonRequest, member_view
from apps.accounts.models import Project
from apps.jobs.actions import notifications
from apps.jobs.forms import MailForm
from apps.jobs.selectors import jobs


@require_safe
@member_view()
def notification_list(request: MemberRequest, project: Project) -> HttpResponse:
    page = jobs.notification_page(request.user, project, request.GET.get("before", ""))
    context = {"page": page, "choice": jobs.mail_choice_of(request.user), "is_first": "before" not in request.GET}
    return render(request, "jobs/notifications.html", context)


@require_POST
@member_view(changes_archived=True)
def open_one(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """Mark a notification as read and redirect to its path. Only Karat writes paths."""
    notification = jobs.notification_for(request.user, project, pk)
    notifications.mark_read(notification=notification, at=timezone.now())
    return redirect(notification.path)


@require_POST
@member_view(changes_archived=True)
def read_all(request: MemberRequest, project: Project) -> HttpResponse:
    newest = request.POST.get("up_to", "")
    if newest.isascii() and newest.isdigit():
        up_to = int(newest[:18])
        notifications.mark_all_read(person=request.user, project=project, up_to=up_to, at=timezone.now())
    return redirect("notifications:list", slug=project.slug)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def mail_choice(request: PersonRequest) -> HttpResponse:
    form = MailForm(request.POST or None, choice=jobs.mail_choice_of(request.user))
    if request.method == "POST" and form.is_valid():
        notifications.choose_mail(person=request.user, at=timezone.now(), **form.cleaned_data)
        messages.success(request, "Your choice is saved.")
        return redirect("mail:choice")
    context = {"form": form, "is_mailed": bool(settings.EMAIL_HOST)}
    return render(request, "jobs/mail_choice.html", context, status=400 if form.errors else 200)
