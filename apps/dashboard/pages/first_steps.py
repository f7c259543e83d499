"""The list of first steps: the sample files it offers, and what a lead does on it: skip a step, judge alone."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from django.contrib import messages
from django.contrib.staticfiles import finders
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.actions.projects import set_roles
from apps.accounts.edges.access import MemberRequest, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.web.requests import own_page
from apps.corpus.selectors.import_kinds import SampleFile, kind_named
from apps.dashboard.actions.projects import skip_step
from apps.dashboard.edges.paths import path

SAMPLE_KINDS = ("corpus", "queries", "judgements")


class SampleRow(NamedTuple):
    file: SampleFile
    size: int


@cache
def samples_to_begin() -> tuple[SampleRow, ...]:
    """One file of each kind, in the order in which they are imported."""
    files = [sample for kind in SAMPLE_KINDS for sample in kind_named(kind).samples if sample.to_begin]
    return tuple(SampleRow(file, _size(file)) for file in files)


def _size(file: SampleFile) -> int:
    """In bytes; 0 where only the collected copy is left."""
    found = finders.find(file.path)
    return Path(found).stat().st_size if isinstance(found, str) else 0


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
    """Give the lead the role of an annotator, and go on to the plan of the round, or to the page that asked."""
    roles = [*request.member.roles, Role.ANNOTATOR]
    set_roles(project=project, user=request.user, roles=roles, actor=request.user, at=timezone.now())
    messages.success(request, "You are now an annotator too. Plan a round; you are among its judges.")
    return redirect(own_page(request, request.POST.get("then", "")) or path("plan round", project))
