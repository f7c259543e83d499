"""The page that deletes a project: what goes, what stays, and how to keep a copy first."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from apps.accounts.edges.access import MemberRequest, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.backups.actions.projects import delete_project
from apps.backups.selectors.contents import contents_of
from apps.dashboard.forms import DeletionForm


@member_view(Role.LEAD, changes_archived=True)
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: MemberRequest, project: Project) -> HttpResponse:
    form = DeletionForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        delete_project(project=project, typed=form.cleaned_data["typed"], actor=request.user, at=timezone.now())
        messages.success(request, f"{project} is being deleted. Nobody can open it any more.")
        return redirect("dashboard:projects")
    context = {"section": "Settings", "form": form, "contents": [each for each in contents_of(project) if each.rows]}
    return render(request, "dashboard/delete.html", context, status=400 if form.errors else 200)
