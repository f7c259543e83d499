"""Pages that use several apps: all projects, a project's home page, its settings."""

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.actions.projects import archive_project, bring_back_project, change_project
from apps.accounts.edges.access import MemberRequest, PersonRequest, member_view, operator_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.accounts.selectors import Member
from apps.agreement.selectors import agreement
from apps.dashboard import rules
from apps.dashboard.actions.demo import request_demo
from apps.dashboard.actions.projects import change_scale
from apps.dashboard.forms import ScaleForm, SettingsForm
from apps.dashboard.pages import blocking, checklist, drift, first_steps, people, progress, quality, releases
from apps.dashboard.pages.home_facts import HomeFacts, read_home
from apps.dashboard.pages.tasks import Task, in_order
from apps.dashboard.selectors.places import ProjectPlace, newest_snapshot, offers_demo, places_of
from apps.gates.selectors import gates
from apps.gates.selectors.gates import GateStatus
from apps.triples.core.checks import ALWAYS_STOPS


@login_required
@require_safe
def start(request: PersonRequest) -> HttpResponse:
    """The person's project when they have exactly one, else the list of projects."""
    places = places_of(request.user)
    live = [place for place in places if place.project.archived_at is None]
    if len(live) != 1:
        return _projects(request, places)
    (place,) = live
    if place.loading:
        return redirect("jobs:job", slug=place.project.slug, pk=place.loading.pk)
    return redirect("dashboard:home", slug=place.project.slug)


@login_required
@require_safe
def projects(request: PersonRequest) -> HttpResponse:
    return _projects(request, places_of(request.user))


def _projects(request: PersonRequest, places: list[ProjectPlace]) -> HttpResponse:
    archived = [place for place in places if place.project.archived_at]
    live = [place for place in places if not place.project.archived_at]
    return render(
        request,
        "dashboard/projects.html",
        {"places": live, "archived": archived, "offers_demo": offers_demo(request.user)},
    )


@operator_view
@require_POST
def load_demo(request: PersonRequest) -> HttpResponse:
    """Queue the demo and show the page of its job, with its progress and a link to the project."""
    job = request_demo(host=request.user, at=timezone.now())
    assert job.project is not None
    return redirect("jobs:job", slug=job.project.slug, pk=job.pk)


@member_view()
@require_safe
def home(request: MemberRequest, project: Project) -> HttpResponse:
    """A lead's four questions; versions and scores for viewers; for everybody else their own work and nothing more."""
    member = request.member
    now = timezone.now()
    found = read_home(member, now)
    if found.steps and found.steps.is_fresh:
        return _first_steps(request, project, found.steps, found.tasks)
    if found.steps:
        context = _for_lead(member, found, found.steps, now)
    elif member.holds(Role.VIEWER):
        context = _for_viewer(member, found, now) | {"tasks": found.tasks}
    else:
        context = {"tasks": found.tasks, "watches": False, "snapshot": found.size}
    shown = {
        "section": "Home",
        "today": timezone.localdate(),
        "may_judge": member.holds(Role.ANNOTATOR),
        "may_review": member.holds(Role.REVIEWER),
    }
    return render(request, "dashboard/home.html", shown | context)


def _for_lead(member: Member, found: HomeFacts, steps: checklist.FirstSteps, now: datetime) -> dict[str, Any]:
    """What next, how far, who needs me, and what viewers see as well."""
    project = member.project
    judging = progress.progress_of(found.round, *found.seats, now) if found.round and found.seats else None
    statuses = _gates_of(project)
    needed = people.who_needs_me(member, judging, agreement.rounds_for(member))
    judges = len(needed.rows) + needed.more if needed else 0
    pool = found.unplanned_pool if steps.is_done("pool") else ""
    to_plan = blocking.rounds(project, judging, pool, tasks=found.tasks, people=judges)
    rows = [
        *blocking.failed_gates(project, statuses),
        *found.unscored,
        *to_plan,
        *found.tasks,
        *blocking.goals(steps),
        *blocking.public_releases(member, at=now),
        *blocking.next_version(project, found.versions.unreleased, steps),
        *found.without_runs,
        *([] if any(row.key == "b" for row in to_plan) else found.without_grades),
    ]
    return _for_viewer(member, found, now, statuses, is_scored=steps.is_done("scores")) | {
        "steps": steps.after_tasks(*(step.key for step in steps.to_release())) if rows else steps,
        "tasks": [] if project.archived_at else in_order(rows),
        "states": progress.states_from(found.states),
        "judging": judging,
        "people": needed,
        "reviewers": people.who_reviews(member),
    }


def _gates_of(project: Project) -> list[GateStatus]:
    return gates.statuses(gates.gates_in(project))


def _for_viewer(
    member: Member,
    found: HomeFacts,
    now: datetime,
    statuses: list[GateStatus] | None = None,
    *,
    is_scored: bool = True,
) -> dict[str, Any]:
    """Is it good enough, the latest version, and the measures that fold."""
    project, version = member.project, found.versions.released
    rounds = agreement.rounds_for(member)
    rested_on = version.snapshot if version else newest_snapshot(project)
    statuses = _gates_of(project) if statuses is None else statuses
    return {
        "watches": True,
        "snapshot": found.size,
        "release": releases.latest(project, with_draft=member.is_lead),
        "quality": quality.quality(member, rounds, statuses, is_scored=is_scored),
        "flags": progress.flag_rates(member),
        "drift": drift.drift(member, rested_on, now, rounds),
    }


def _first_steps(
    request: MemberRequest, project: Project, steps: checklist.FirstSteps, tasks: list[Task]
) -> HttpResponse:
    """The home page while nobody has graded or written anything."""
    shown = steps.after_tasks() if tasks else steps
    context = {
        "section": "Home",
        "steps": shown,
        "tasks": tasks,
        "offers_demo": offers_demo(request.user),
        "samples": () if steps.is_done("corpus") else first_steps.samples_to_begin(),
    }
    return render(request, "dashboard/first_steps.html", context)


@member_view(Role.LEAD)
@require_POST
def archive(request: MemberRequest, project: Project) -> HttpResponse:
    archive_project(project_id=project.pk, actor=request.user, at=timezone.now())
    messages.success(request, f"{project} is archived. It can still be read; its settings bring it back.")
    return redirect("dashboard:projects")


@member_view(Role.LEAD, changes_archived=True)
@require_POST
def bring_back(request: MemberRequest, project: Project) -> HttpResponse:
    bring_back_project(project_id=project.pk, actor=request.user, at=timezone.now())
    messages.success(request, f"{project} is back. Everybody can work in it again.")
    return redirect("dashboard:home", slug=project.slug)


@member_view(Role.LEAD)
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: MemberRequest, project: Project) -> HttpResponse:
    """Two forms on one page: name and policies, and the scale while nobody has graded."""
    is_scale = request.POST.get("form") == "scale"
    data = request.POST or None
    form = SettingsForm(None if is_scale else data, project=project)
    scale_form = ScaleForm(data if is_scale else None, scale=project.scale)
    sent = scale_form if is_scale else form
    if request.method == "POST" and sent.is_valid():
        if is_scale:
            change_scale(project_id=project.pk, scale=scale_form.scale, actor=request.user, at=timezone.now())
        else:
            change_project(
                project_id=project.pk,
                name=form.cleaned_data["name"],
                policies=form.policies,
                actor=request.user,
                at=timezone.now(),
            )
        messages.success(request, "The settings are saved.")
        return redirect("dashboard:settings", slug=project.slug)
    context = {
        "form": form,
        "always_stops": ALWAYS_STOPS,
        "scale_form": scale_form,
        "scale_refusal": rules.scale_refusal(project),
    }
    return render(request, "dashboard/settings.html", context, status=400 if sent.errors else 200)
