"""Further pages of scores: the trend of a gold set, quality against cost, and the ledger of runs."""

from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.evaluation import rules
from apps.evaluation.actions.ledger import write_ledger
from apps.evaluation.actions.scoring import score_missing
from apps.evaluation.edges.version_choice import (
    SECTION,
    ground_context,
    ledger_grounds,
    requested_hit,
    requested_split,
    requested_version,
)
from apps.evaluation.forms import LedgerForm, RestForm
from apps.evaluation.pages.costs_context import Costs, Ledger, ledger_columns
from apps.evaluation.pages.leaderboard_context import Trend
from apps.evaluation.selectors import leaderboard
from apps.evaluation.selectors.evaluations import evaluations_in
from apps.goldsets.selectors.versions import frozen_in
from apps.metrics.expected.rules import BY_GRADES
from apps.retrieval.selectors.runs import run_in

LEDGER = "Ledger"
RUNS_A_PAGE = 50


@require_safe
@member_view()
def trend(request: HttpRequest, project: Project) -> HttpResponse:
    """Every run scored on one version, in order of creation, with the versions between them."""
    version = requested_version(request, project)
    if version is None:
        return render(request, "evaluation/trend.html", {**SECTION, "version": None})
    hit = requested_hit(request, version)
    split = requested_split(request, version, hit)
    shown = Trend(version, split, request.GET.get("measure", ""), hit)
    context = {**ground_context(version, split, hit), "trend": shown}
    return render(request, "evaluation/trend.html", context)


@require_POST
@member_view(Role.LEAD)
def score_rest(request: HttpRequest, project: Project, version_pk: int) -> HttpResponse:
    """Request the scores that a trend lacks."""
    version = frozen_in(project, version_pk)
    form = RestForm(request.POST)
    chosen = form.cleaned_data if form.is_valid() else {"split": rules.EVERY_SPLIT, "measure": "", "hit": BY_GRADES}
    ground = {"split": chosen["split"], "hit": chosen["hit"]}
    queued = score_missing(
        version=version, **ground, lacking=chosen["measure"], actor=member_of(request).user, at=timezone.now()
    )
    runs = "run is" if len(queued) == 1 else "runs are"
    words = f"{len(queued):,} {runs} being scored on {version.label}." if queued else "Every run is scored already."
    messages.info(request, words)
    page = reverse("evaluation:trend", args=[project.slug])
    return redirect(f"{page}?{urlencode({'version': version.pk, **ground})}")


@require_safe
@member_view()
def costs(request: HttpRequest, project: Project) -> HttpResponse:
    """Quality against latency and cost on one split of a version."""
    version = requested_version(request, project)
    if version is None:
        return render(request, "evaluation/costs.html", {**SECTION, "version": None})
    hit = requested_hit(request, version)
    split = requested_split(request, version, hit)
    scored = leaderboard.scored_runs(version, split, request.GET.get("measure", ""), hit)
    context = {**ground_context(version, split, hit), "costs": Costs(scored) if scored.runs else None}
    return render(request, "evaluation/costs.html", context)


@require_safe
@member_view()
def ledger(request: HttpRequest, project: Project) -> HttpResponse:
    """Every run: what was tried, its configuration, its cost, and the outcome."""
    version = requested_version(request, project)
    page = Paginator(leaderboard.ledger_runs(project), RUNS_A_PAGE).get_page(request.GET.get("page"))
    columns = ledger_columns(version, ledger_grounds(request, version)) if version else []
    context = {
        "section": LEDGER,
        "page": page,
        "ledger": Ledger(list(page.object_list), columns),
        "version": version,
    }
    return render(request, "evaluation/ledger.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def ledger_note(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Write the ledger entry of a run."""
    run = run_in(project, pk)
    note = leaderboard.notes_of([run]).get(run.pk)
    form = LedgerForm(request.POST or None, run=run, note=note)
    if request.method == "POST" and form.is_valid():
        write_ledger(run=run, **form.cleaned_data, actor=member_of(request).user, at=timezone.now())
        messages.success(request, f"The ledger entry of {run.tag} is saved.")
        return redirect("evaluation:ledger", slug=project.slug)
    evaluations = evaluations_in(project).filter(run=run).exclude(scored_at=None)
    context = {"section": LEDGER, "run": run, "form": form, "note": note, "evaluations": evaluations[:10]}
    return render(request, "evaluation/ledger_note.html", context, status=400 if form.errors else 200)
