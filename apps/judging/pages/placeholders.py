"""The page of names in imported files: who of the members each is."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.accounts.selectors import members_of
from apps.common.web.requests import key_in
from apps.judging.actions.placeholders import ClaimRefused, claim_placeholder, end_claim
from apps.judging.selectors.placeholders import placeholder_in, placeholders_in


@require_safe
@member_view(Role.LEAD)
def placeholders(request: HttpRequest, project: Project) -> HttpResponse:
    context = {"placeholders": placeholders_in(project), "people": members_of(project)}
    return render(request, "judging/placeholders.html", context)


@require_POST
@member_view(Role.LEAD)
def claim(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Join a name to the member whom it is."""
    placeholder = placeholder_in(project, pk)
    member_id = key_in(request.POST.get("person", "")) or 0
    try:
        joined = claim_placeholder(
            project=project, placeholder=placeholder, member_id=member_id, actor=user_of(request), at=timezone.now()
        )
        messages.success(request, f"{placeholder.name} is {joined.member}. The grades stay as they were given.")
    except ClaimRefused as refusal:
        messages.error(request, refusal.sentence)
    return redirect("judging:placeholders", slug=project.slug)


@require_POST
@member_view(Role.LEAD)
def end(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Take back whom a name was joined to."""
    placeholder = placeholder_in(project, pk)
    try:
        end_claim(project=project, placeholder=placeholder, actor=user_of(request), at=timezone.now())
        messages.success(request, f"{placeholder.name} is only a name again.")
    except ClaimRefused as refusal:
        messages.error(request, refusal.sentence)
    return redirect("judging:placeholders", slug=project.slug)
