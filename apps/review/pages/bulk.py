"""The board with what a lead selects on it: a preview of a bulk step, doing it, following, stopping and undoing it."""

from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.errors import Refusal
from apps.common.web.requests import keys_in
from apps.jobs.actions.jobs import cancel_job
from apps.review.actions.bulk import begin_step, preview, undo_step
from apps.review.enums import BulkKind
from apps.review.forms import ANSWER, BoardForm, BulkForm
from apps.review.presenters.bulk import line_of, words_of
from apps.review.selectors.board import board_page, people_of_board
from apps.review.selectors.bulk import Selection, left_out, recent_steps, step_in
from apps.review.selectors.bulk_preview import NOT_CHECKED, Preview

MOST_TICKED = 200


class Action(NamedTuple):
    """An action of the bar. `fits` are the kinds of rows of which it takes some; `off` says that none is selected."""

    kind: BulkKind
    key: str
    label: str
    fits: str
    off: str


ACTIONS = [
    Action(BulkKind.RE_PIN, "p", "Re-pin", "stale", "none of them is stale"),
    Action(BulkKind.ASSIGN, "r", "Assign reviewers", "in_review", "none of them is in review"),
    Action(BulkKind.DESCRIBE, "d", "Source or domain", "", ""),
    Action(BulkKind.RETIRE, "t", "Retire", "stale accepted", "none of them is accepted"),
    Action(BulkKind.SUBMIT, "s", "Submit", "draft", "none of them is a draft"),
]


NOT_SHOWN: dict[str, Any] = {"kind": "", "bulk": None, "shown": None, "words": None, "answers": [], "fault": ""}
"""The board without a preview."""


def back_to_board(request: HttpRequest, project: Project) -> HttpResponse:
    query = request.GET.copy()
    query.pop("select", None)
    return redirect(reverse("review:board", args=[project.slug]) + (f"?{query.urlencode()}" if query else ""))


def ticked(request: HttpRequest) -> list[int]:
    return keys_in(request.POST.getlist("triple")[:MOST_TICKED])


def board_context(request: HttpRequest, project: Project, *, which: str = "", **more: Any) -> dict[str, Any]:
    """One page of the board. `which` is "all" where all that match are selected, whatever page they are on."""
    lead, at, after = user_of(request), timezone.now(), request.GET.get("after", "")
    people = list(people_of_board(project))
    form = BoardForm(request.GET, project=project, people=people)
    filters = form.filters()
    page = board_page(project, lead, filters, at, after=after)
    kinds = {kind for kind, number in page.matching.items() if number}
    is_all = which == "all"
    context = {
        "form": form,
        "page": page,
        "is_first": not after,
        "is_narrowed": any(filters),
        "which": which,
        "ticked": [row.triple.pk for row in page.rows] if is_all else ticked(request),
        "actions": [
            (action, bool(is_all and action.fits and kinds.isdisjoint(action.fits.split()))) for action in ACTIONS
        ],
    }
    return NOT_SHOWN | context | _steps(request, project) | more


def _steps(request: HttpRequest, project: Project) -> dict[str, Any]:
    """The lines of steps. One key undoes the first of those that can be undone."""
    views = recent_steps(project, user_of(request), timezone.now())
    return {
        "board_url": reverse("review:board", args=[project.slug]),
        "is_polled": False,
        "steps": [(view, line_of(view)) for view in views],
        "is_live": any(view.is_running for view in views),
        "undone_first": next((view.step for view in views if view.undoable), None),
    }


def _selection(request: HttpRequest, project: Project) -> Selection:
    if request.POST.get("which") == "all":
        return Selection(BoardForm(request.GET, project=project).filters())
    return Selection(ids=ticked(request))


def _kind(request: HttpRequest) -> BulkKind | None:
    value = request.POST.get("kind", "")
    return BulkKind(value) if value in BulkKind.values else None


def _shown(request: HttpRequest, project: Project, form: BulkForm, kind: BulkKind) -> Preview:
    """The preview; drafts that were not checked yet are checked before they are submitted."""
    member = member_of(request)
    asked: dict[str, Any] = {
        "project": project,
        "lead": member.user,
        "roles": member.roles,
        "selection": _selection(request, project),
        "at": timezone.now(),
    }
    shown = preview(kind=kind, values=form.values(kind), **asked)
    if kind is BulkKind.SUBMIT and any(group.reason == NOT_CHECKED for group in shown.cannot):
        return preview(kind=BulkKind.CHECK, values={}, **asked)
    return shown


def _page(
    request: HttpRequest, project: Project, form: BulkForm, kind: BulkKind, *, fault: str = "", status: int = 200
) -> HttpResponse:
    shown = _shown(request, project, form, kind) if form.is_valid() else None
    context = board_context(
        request,
        project,
        which="all" if request.POST.get("which") == "all" else "page",
        bulk=form,
        kind=kind,
        shown=shown,
        words=words_of(shown) if shown else None,
        answers=[(warning, form[f"{ANSWER}{warning.code}"]) for warning in shown.warnings] if shown else [],
        fault=fault,
    )
    return render(request, "review/board.html", context, status=400 if form.errors else status)


@member_view(Role.LEAD)
@require_POST
def bulk(request: HttpRequest, project: Project) -> HttpResponse:
    """The board with what a step would do to the selected triples. Changes nothing."""
    kind = _kind(request)
    if kind is None or (request.POST.get("which") != "all" and not ticked(request)):
        messages.warning(request, "Select Q&As first." if kind else "Choose what to do with the selected Q&As.")
        return back_to_board(request, project)
    form = BulkForm(request.POST, project=project)
    if request.POST.get("shown") != kind:
        form.data = form.proposed()
    return _page(request, project, form, kind)


@member_view(Role.LEAD)
@require_POST
def bulk_do(request: HttpRequest, project: Project) -> HttpResponse:
    """Begin the step that was shown, as a job. When it is another one by now, it is shown again instead."""
    kind, form = _kind(request), BulkForm(request.POST, project=project)
    if kind is None:
        messages.warning(request, "Choose what to do with the selected Q&As.")
        return back_to_board(request, project)
    if not form.is_valid():
        return _page(request, project, form, kind)
    try:
        begin_step(
            project=project,
            lead=user_of(request),
            kind=kind,
            values=form.values(kind),
            selection=_selection(request, project),
            digest=request.POST.get("seen", ""),
            at=timezone.now(),
        )
    except Refusal as refusal:
        return _page(request, project, form, kind, fault=refusal.sentence, status=refusal.status)
    return back_to_board(request, project)


@member_view(Role.LEAD)
@require_safe
def bulk_steps(request: HttpRequest, project: Project) -> HttpResponse:
    """The lines above the filters, which the board asks for each second while a job runs."""
    return render(request, "review/_bulk_steps.html", _steps(request, project) | {"is_polled": True})


@member_view(Role.LEAD)
@require_safe
def bulk_left(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Which triples a step left out or an undo kept, and why."""
    step = step_in(project, pk)
    return render(request, "review/bulk_left.html", {"step": step, "groups": left_out(step)})


@member_view(Role.LEAD)
@require_POST
def bulk_stop(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Stop a step, or its undo, at the next triple. What is done stays done."""
    step = step_in(project, pk)
    job = step.undo_job or step.job
    try:
        cancel_job(job_id=job.pk, actor=user_of(request), at=timezone.now())
    except Refusal as refusal:
        messages.warning(request, refusal.sentence)
    return back_to_board(request, project)


@member_view(Role.LEAD)
@require_POST
def bulk_undo(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    step = step_in(project, pk)
    try:
        undo_step(project=project, step_id=step.pk, lead=user_of(request), at=timezone.now())
    except Refusal as refusal:
        messages.warning(request, refusal.sentence)
    return back_to_board(request, project)
