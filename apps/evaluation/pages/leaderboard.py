"""The leaderboard of one split of a version, and the request for scores."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.evaluation import rules
from apps.evaluation.actions.scoring import request_evaluations
from apps.evaluation.edges.hit_sheets import LOWER_END
from apps.evaluation.edges.version_choice import (
    SECTION,
    ground_context,
    requested_hit,
    requested_part,
    requested_split,
    requested_version,
)
from apps.evaluation.forms import ScoreForm
from apps.evaluation.pages import leaderboard_context as board_pages
from apps.evaluation.selectors import evaluations
from apps.evaluation.selectors.grounds import grounds_of
from apps.goldsets.enums import Split
from apps.goldsets.models import Version
from apps.goldsets.selectors.versions import frozen_in
from apps.metrics.expected.rules import HitRuleError
from apps.retrieval.selectors.runs import is_ready_for_runs

IN_PROGRESS_SHOWN = 20


@require_safe
@member_view()
def overview(request: HttpRequest, project: Project) -> HttpResponse:
    """The leaderboard of one version and split, and what to score next."""
    version = requested_version(request, project)
    if version is None:
        can_upload = member_of(request).is_lead and is_ready_for_runs(project)
        return render(request, "evaluation/overview.html", {**SECTION, "version": None, "can_upload": can_upload})
    hit = requested_hit(request, version)
    part = requested_part(request, version)
    split = Split.DEV.value if part else requested_split(request, version, hit)
    form = None
    if member_of(request).is_lead:
        form = ScoreForm(version=version, hit=hit, part=part, initial={"split": split, "run": request.GET.get("run")})
    return render(request, "evaluation/overview.html", _board_context(request, version, split, hit, form, part))


def _board_context(
    request: HttpRequest,
    version: Version,
    split: str,
    hit: str,
    form: ScoreForm | None,
    part: evaluations.SlicePart | None = None,
) -> dict[str, Any]:
    requested = evaluations.requested_on(version, split, hit, part)
    measure, page = request.GET.get("measure", ""), request.GET.get("page")
    return {
        **ground_context(version, split, hit, part),
        "lower_end": LOWER_END if hit else "",
        "board": board_pages.board(version, split, hit, measure, page, part),
        "elsewhere": _scored_elsewhere(version, split, hit),
        "in_progress": evaluations.in_progress(requested, IN_PROGRESS_SHOWN),
        "in_progress_count": sum(not one.is_scored for one in requested),
        "form": form,
    }


def _scored_elsewhere(version: Version, split: str, hit: str) -> list[tuple[str, str]]:
    """The other splits of the version with scores, as key and words."""
    scored = grounds_of(version).splits(hit)
    return [(other, rules.SPLIT_WORDS[other]) for other in rules.SPLITS if other in scored and other != split]


@require_POST
@member_view(Role.LEAD)
def score(request: HttpRequest, project: Project, version_pk: int) -> HttpResponse:
    version = frozen_in(project, version_pk)
    try:
        hit = rules.canonical_hit(request.POST.get("hit", ""))
    except HitRuleError as fault:
        raise Http404(str(fault)) from fault
    form = ScoreForm(request.POST, version=version, hit=hit)
    if not form.is_valid():
        split = request.POST.get("split", "")
        context = _board_context(request, version, split if split in rules.SPLITS else Split.DEV, hit, form)
        return render(request, "evaluation/overview.html", context, status=400)
    values = form.cleaned_data
    requested = request_evaluations(
        project=project,
        run_ids=values["runs"],
        version_id=version.pk,
        split=values["split"],
        hit=hit,
        slice_name=values["slice"],
        measures=values["measures"],
        actor=member_of(request).user,
        at=timezone.now(),
    )
    if all(evaluation.is_scored for evaluation in requested):
        messages.info(request, "These runs are scored already.")
    page = reverse("evaluation:overview", args=[project.slug])
    ground = {"version": version.pk, "split": values["split"], "hit": hit}
    ground |= {"slice": values["slice"]} if values["slice"] else {}
    return redirect(f"{page}?{urlencode(ground)}")
