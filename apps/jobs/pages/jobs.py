"""Pages of the jobs of a project, of a person's notifications in it, and of their choice of mail."""

from contextlib import suppress

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import MemberRequest, PersonRequest, member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.web.requests import page_before
from apps.jobs import rules
from apps.jobs.actions import notifications
from apps.jobs.actions.jobs import cancel_job, retry_job
from apps.jobs.enums import JobState
from apps.jobs.forms import MailForm
from apps.jobs.models import Job
from apps.jobs.selectors.job_kinds import UnknownKind, kind_named
from apps.jobs.selectors.jobs import job_in, jobs_in, mail_choice_of, notification_for, notification_page
from apps.jobs.selectors.notification_lines import page_of_kind

PAGE_SIZE = 50
STOP_POLLING = 286


@require_safe
@member_view()
def job_list(request: HttpRequest, project: Project) -> HttpResponse:
    state = request.GET.get("state", "")
    jobs = jobs_in(project)
    if state in JobState.values:
        jobs = jobs.filter(state=state)
    page, older = page_before(request, jobs, PAGE_SIZE)
    context = {"jobs": page, "older": older, "state": state, "states": JobState.choices}
    return render(request, "jobs/list.html", context)


@require_safe
@member_view()
def job_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    return render(request, "jobs/job.html", _context(request, job_in(project, pk)))


@require_safe
@member_view()
def progress(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The fragment that a page requests each second, until the job has ended.

    With `?refresh=1` the end of the job reloads the page around it.
    """
    job = job_in(project, pk)
    answer = render(request, "jobs/_progress.html", _context(request, job))
    if job.is_ended:
        answer.status_code = STOP_POLLING
        if request.GET.get("refresh"):
            answer["HX-Refresh"] = "true"
    return answer


@require_POST
@member_view()
def cancel(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    job = job_in(project, pk)
    cancel_job(job_id=job.pk, actor=user_of(request), at=timezone.now())
    return redirect("jobs:job", slug=project.slug, pk=job.pk)


@require_POST
@member_view(Role.LEAD)
def retry(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    job = job_in(project, pk)
    retry_job(job_id=job.pk, actor=user_of(request), at=timezone.now())
    return redirect("jobs:job", slug=project.slug, pk=job.pk)


def _context(request: HttpRequest, job: Job) -> dict:
    member = member_of(request)
    shows_details = member.is_lead or job.created_by_id == member.user.pk
    return {
        "job": job,
        "refresh": bool(request.GET.get("refresh")),
        "bare": bool(request.GET.get("bare")),
        "cancel_refusal": rules.cancel_refusal(job, actor=member.user, roles=member.roles),
        "retry_refusal": rules.retry_refusal(job, roles=member.roles),
        "shows_details": shows_details,
        "results": _plain_results(job),
        "result_page": _result_page(member.project, job) if shows_details else "",
    }


def _result_page(project: Project, job: Job) -> str:
    """The address where the result of a job is shown; "" for kinds that have none."""
    with suppress(UnknownKind):
        told = {**job.params, **(job.result or {})}
        if (page := kind_named(job.kind).page) and page[1] in told:
            return reverse(page[0], args=[project.slug, told[page[1]]])
    return ""


def _plain_results(job: Job) -> list[tuple[str, object]]:
    """The counts and texts of the result, with readable names. A list counts; keys of rows say nothing to a person."""
    counted = {name: len(value) if isinstance(value, list) else value for name, value in (job.result or {}).items()}
    plain = [(name, value) for name, value in counted.items() if isinstance(value, (str, int, float))]
    return [(name.replace("_", " ").capitalize(), value) for name, value in plain if not name.endswith("_id")]


@require_safe
@member_view()
def notification_list(request: MemberRequest, project: Project) -> HttpResponse:
    kind = request.GET.get("kind", "")
    page = notification_page(request.user, project, request.GET.get("before", ""), kind)
    is_first = not {"before", "kind"} & request.GET.keys()
    context = {"page": page, "choice": mail_choice_of(request.user), "is_first": is_first, "kind": kind}
    return render(request, "jobs/notifications.html", context)


@require_POST
@member_view(changes_archived=True)
def open_one(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """Mark a notification as read and redirect to its path. Only Karat writes paths."""
    notification = notification_for(request.user, project, pk)
    notifications.mark_read(notification=notification, at=timezone.now())
    return redirect(notification.path)


@require_POST
@member_view(changes_archived=True)
def read_all(request: MemberRequest, project: Project) -> HttpResponse:
    """Mark all up to one as read, or those of a kind, and then show what these are about."""
    newest, kind = request.POST.get("up_to", ""), request.POST.get("kind", "")
    if newest.isascii() and newest.isdigit():
        up_to = int(newest[:18])
        notifications.mark_all_read(person=request.user, project=project, up_to=up_to, at=timezone.now(), kind=kind)
    return redirect(page_of_kind(project, kind) or reverse("notifications:list", args=[project.slug]))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def mail_choice(request: PersonRequest) -> HttpResponse:
    form = MailForm(request.POST or None, choice=mail_choice_of(request.user))
    if request.method == "POST" and form.is_valid():
        notifications.choose_mail(person=request.user, at=timezone.now(), **form.cleaned_data)
        messages.success(request, "Your choice is saved.")
        return redirect("mail:choice")
    context = {"form": form, "is_mailed": bool(settings.EMAIL_HOST)}
    return render(request, "jobs/mail_choice.html", context, status=400 if form.errors else 200)
