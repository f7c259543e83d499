"""Pages that use several apps: all projects, a project's home page, its settings and its deletion."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Subquery
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import MemberRequest, PersonRequest, member_view, operator_view
from apps.accounts.actions.projects import archive_project, bring_back_project, change_project
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.accounts.selectors import Member
from apps.agreement.selectors import agreement
from apps.agreement.selectors.grade_cache import newest_judgements, newest_key
from apps.backups.actions.projects import delete_project
from apps.backups.selectors.backups import contents_of
from apps.common.database.batched_reads import BatchedRead, answer_to, is_known, joined
from apps.corpus.selectors.corpora import fields_found, snapshots_in
from apps.dashboard import rules
from apps.dashboard.actions.projects import change_scale, request_demo
from apps.dashboard.forms import DeletionForm, ScaleForm, SettingsForm
from apps.dashboard.pages import blocking, checklist, drift, progress, quality
from apps.dashboard.pages.drift import newest_texts, texts_key
from apps.dashboard.pages.progress import seats_asked
from apps.dashboard.pages.tasks import Task, grade_url, in_order, open_tasks
from apps.dashboard.selectors import ProjectPlace, offers_demo, places_of
from apps.gates import selectors as gates
from apps.gates.selectors import GateStatus
from apps.goldsets.selectors.versions import NewestVersions, newest_versions
from apps.judging.models import Round
from apps.judging.selectors.progress import Totals, newest_round
from apps.review.selectors import tracking
from apps.triples.core.checks import ALWAYS_STOPS
from apps.triples.selectors.triples import state_counts


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


class CorpusSize(NamedTuple):
    """How much the newest snapshot holds."""

    block_count: int
    document_count: int


@dataclass(frozen=True)
class HomeFacts:
    """What the home page asks of the database, in one statement. Only a lead has `steps`, a `round` with its `seats`
    and lapsed leases, and rows of what blocks."""

    tasks: list[Task]
    size: CorpusSize | None
    versions: NewestVersions
    steps: checklist.FirstSteps | None = None
    round: Round | None = None
    seats: tuple[Totals, int] | None = None
    states: dict[str, int] = field(default_factory=dict)
    unscored: list[Task] = field(default_factory=list)
    without_runs: list[Task] = field(default_factory=list)
    without_grades: list[Task] = field(default_factory=list)
    unplanned_pool: str = ""


def read_home(member: Member, at: datetime) -> HomeFacts:
    """Everything on the page that is a number, a name or a time, as far as this member sees it."""
    project = member.project
    versions = newest_versions(project) if member.holds(Role.LEAD, Role.VIEWER) else NewestVersions(None, None, None)
    round_ = newest_round(project, member.user) if member.is_lead else None
    questions: dict[str, BatchedRead] = {"size": _size(project)}
    if not project.archived_at:
        questions["tasks"] = open_tasks(member, at)
    if member.holds(Role.LEAD, Role.VIEWER):
        questions["stamps"] = _stamps(project)
    if member.is_lead:
        questions |= _asked_by_leads(member, versions, round_, at)
    found = answer_to(project, joined(questions))
    found.pop("stamps", None)
    tasks, done = found.pop("tasks", []), found.pop("done", None)
    steps = checklist.steps_from(member, done, grade_url(tasks)) if done else None
    return HomeFacts(tasks, versions=versions, steps=steps, round=round_, **found)


def _asked_by_leads(
    member: Member, versions: NewestVersions, round_: Round | None, at: datetime
) -> dict[str, BatchedRead]:
    project = member.project
    questions: dict[str, BatchedRead] = {
        "done": checklist.what_is_done(member),
        "states": state_counts(project),
        "unscored": blocking.unscored(project, versions.released),
        "without_runs": blocking.without_runs(project, versions.released),
        "without_grades": blocking.without_grades(project),
        "unplanned_pool": blocking.unplanned_pool(project),
    }
    return questions | {"seats": seats_asked(round_, at)} if round_ else questions


def _size(project: Project) -> BatchedRead[CorpusSize | None]:
    newest = snapshots_in(project).select_related(None)
    asks = {name: Subquery(newest.values(name)[:1]) for name in CorpusSize._fields}
    return BatchedRead(asks, lambda found: CorpusSize(**found) if found["block_count"] is not None else None)


def _stamps(project: Project) -> BatchedRead[None]:
    """The keys by which cached figures are known to be fresh: those of the last judgement, verdict and text."""
    newest = {
        newest_key(project): newest_judgements(project),
        tracking.verdict_key(project): tracking.newest_verdicts(project),
        texts_key(): newest_texts(),
    }

    def read(found: Mapping[str, Any]) -> None:
        for place, key in enumerate(newest):
            is_known(key, found[f"newest{place}"] or 0)

    return BatchedRead({f"newest{place}": Subquery(rows[:1]) for place, rows in enumerate(newest.values())}, read)


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
    needed = quality.who_needs_me(member, judging, agreement.rounds_for(member))
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
        "reviewers": quality.who_reviews(member),
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
    rested_on = version.snapshot if version else snapshots_in(project).first()
    statuses = _gates_of(project) if statuses is None else statuses
    return {
        "watches": True,
        "snapshot": found.size,
        "release": quality.latest(project, with_draft=member.is_lead),
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
        "samples": () if steps.is_done("corpus") else checklist.samples_to_begin(),
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
        "found": fields_found(project),
        "scale_refusal": rules.scale_refusal(project),
    }
    return render(request, "dashboard/settings.html", context, status=400 if sent.errors else 200)
