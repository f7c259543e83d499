"""The page of a new edition: what changes, what it touches, and taking it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.edges.access import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.corpus.selectors.corpora import import_in, snapshot_and_before, snapshot_in, version_in
from apps.editions import rules
from apps.editions.actions import deciding, taking
from apps.editions.actions.running import run_again
from apps.editions.enums import Choice
from apps.editions.execution.import_editions import planned_edition, snapshot_before_import
from apps.editions.execution.taking import EditionRefused, TakeOrder
from apps.editions.forms import DecisionForm, TakeForm
from apps.editions.pages.context import edition_context
from apps.editions.selectors.editions import between

SECTION = "Documents"


@require_safe
@member_view(Role.LEAD)
def import_edition(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The edition that an import in its preview would make."""
    item = import_in(project, pk)
    item.project = project
    before = snapshot_before_import(item)
    context = {
        "section": SECTION,
        "item": item,
        "snapshot": None,
        "taken": None,
        "refusal": rules.import_refusal(item, before),
    }
    if before is not None and not context["refusal"]:
        context |= edition_context(planned_edition(item, before), request.GET.dict())
    return render(request, "editions/edition.html", context)


@require_safe
@member_view(Role.LEAD)
def snapshot_edition(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The edition that a snapshot is beside the one before it; once taken, what came of it."""
    snapshot, before = snapshot_and_before(project, pk)
    snapshot.corpus.project = project
    context: dict[str, Any] = {"section": SECTION, "item": None, "snapshot": snapshot, "taken": None, "refusal": None}
    if before is None:
        context["refusal"] = rules.take_refusal(None, None)
    else:
        context |= edition_context(between(before, snapshot), request.GET.dict())
    return render(request, "editions/edition.html", context)


@require_POST
@member_view(Role.LEAD)
def decide(request: HttpRequest, project: Project) -> HttpResponse:
    """Keep one choice, sent by the page as soon as it is made."""
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return HttpResponse("Load the page again, then decide.", status=400, content_type="text/plain")
    version = version_in(project, form.cleaned_data["version"])
    deciding.decide(
        version_id=version.pk,
        text_digest=form.cleaned_data["text"],
        choice=Choice(form.cleaned_data["choice"]),
        actor=user_of(request),
        at=timezone.now(),
    )
    return HttpResponse(status=204)


@require_POST
@member_view(Role.LEAD)
def take_import(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    item = import_in(project, pk)
    requested = taking.take_imported(
        import_id=item.pk, order=_order(request), actor=user_of(request), at=timezone.now()
    )
    if requested.taken is None:
        return redirect("corpus:import", slug=project.slug, pk=item.pk)
    return redirect("editions:snapshot", slug=project.slug, pk=requested.taken.snapshot.pk)


@require_POST
@member_view(Role.LEAD)
def take_snapshot(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    snapshot = snapshot_in(project, pk)
    requested = taking.take_snapshot(
        snapshot_id=snapshot.pk, order=_order(request), actor=user_of(request), at=timezone.now()
    )
    if requested.job is not None:
        return redirect("jobs:job", slug=project.slug, pk=requested.job.pk)
    return redirect("editions:snapshot", slug=project.slug, pk=snapshot.pk)


@require_POST
@member_view(Role.LEAD)
def run_systems(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    snapshot = snapshot_in(project, pk)
    runs = run_again(snapshot_id=snapshot.pk, actor=user_of(request), at=timezone.now())
    started = "1 run has" if len(runs) == 1 else f"{len(runs)} runs have"
    messages.success(request, f"{started} started on {snapshot.name}. A version on it is scored when it is released.")
    return redirect("editions:snapshot", slug=project.slug, pk=snapshot.pk)


def _order(request: HttpRequest) -> TakeOrder:
    form = TakeForm(request.POST)
    if not form.is_valid():
        raise EditionRefused("The page was not complete. Load it again, then take the edition.", code="bad_order")
    rest = form.cleaned_data["rest"]
    return TakeOrder(
        form.decided(),
        rest=Choice(rest) if rest else None,
        with_round=not form.cleaned_data["later"],
        shown=form.cleaned_data["shown"],
    )
