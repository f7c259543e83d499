"""What a lead does on the list of first steps itself: skip a step, or begin to judge alone."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.actions.projects import set_roles
from apps.accounts.edges.access import MemberRequest, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.dashboard.actions.projects import skip_step
from apps.dashboard.edges.paths import path


@member_view(Role.LEAD)
@require_POST
def skip(request: MemberRequest, project: Project) -> HttpResponse:
    """Skip the step that the form names, or with `back` bring it back."""
    step, skipped = request.POST.get("step", ""), "back" not in request.POST
    skip_step(project_id=project.pk, step=step, skipped=skipped, actor=request.user, at=timezone.now())
    return redirect("dashboard:home", slug=project.slug)


@member_view(Role.LEAD)
@require_POST
def judge_myself(request: MemberRequest, project: Project) -> HttpResponse:
    """Give the lead the role of an annotator, and go on to the plan of the round."""
    roles = [*request.member.roles, Role.ANNOTATOR]
    set_roles(project=project, user=request.user, roles=roles, actor=request.user, at=timezone.now())
    messages.success(request, "You are now an annotator too. Plan a round; you are among its judges.")
    return redirect(path("plan round", project))
