from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.evaluation import actions, rules, selectors
from apps.evaluation.forms.requests import ScoreForm
from apps.evaluation.pages import boards as board_pages
from apps.goldsets.enums import Split
from apps.goldsets.models import Version
from apps.goldsets.selectors import frozen_in, latest_version, scorable_versions

SECTION = {"section": "Runs"}
WAITING_SHOWN = 20


@require_safe
@member_view()
def overview(request: HttpRequest, project: Project) -> HttpResponse:
    """The leaderboard of one version and split, and what to score next."""
    version = version_asked(request, project)
    if version is None:
        return render(request, "evaluation/overview.html", {**SECTION, "version": None})
    split = split_asked(request, version)
    form = ScoreForm(version=version, initial={"split": split}) if member_of(request).is_lead else None
    return render(request, "evaluation/overview.html", _board_context(request, version, split, form))


def version_asked(request: HttpRequest, project: Project) -> Version | None:
    """The frozen version named in the address, or the one released last; None when there is none to score against."""
    pk = request.GET.get("version", "")
    if pk.isdecimal() and len(pk) < 18:
        return frozen_in(project, int(pk))
    return latest_version(project) or scorable_versions(project).first()


def split_asked(request: HttpRequest, version: Version) -> str:
    """The side named in the address; else the dev side, unless only another one has scores."""
    if "split" in request.GET:
        if request.GET["split"] not in rules.SPLITS:
            raise Http404("No such split.")
        return request.GET["split"]
    scored = selectors.splits_scored(version)
    return next((split for split in (Split.DEV, rules.EVERY_SPLIT, Split.TEST) if split in scored), Split.DEV)


def ground_context(version: Version, split: str) -> dict[str, Any]:
    """What the form that chooses version and side needs."""
    return {
        **SECTION,
        "version": version,
        "versions": scorable_versions(version.gold_set.project),
        "split": split,
        "split_words": rules.SPLIT_WORDS[split],
        "splits": [(key, rules.SPLIT_WORDS[key]) for key in rules.SPLITS],
    }


def _board_context(request: HttpRequest, version: Version, split: str, form: ScoreForm | None) -> dict[str, Any]:
    waiting = selectors.evaluations_on(version, split).filter(scored_at=None)
    return {
        **ground_context(version, split),
        "board": board_pages.board(version, split, request.GET.get("measure", ""), request.GET.get("page")),
        "elsewhere": _scored_elsewhere(version, split),
        "waiting": waiting[:WAITING_SHOWN],
        "waiting_count": waiting.count(),
        "form": form,
    }


def _scored_elsewhere(version: Version, split: str) -> list[tuple[str, str]]:
    """The other sides of the version that have scores, each with its words."""
    scored = selectors.splits_scored(version)
    return [(side, rules.SPLIT_WORDS[side]) for side in rules.SPLITS if side in scored and side != split]


@require_POST
@member_view(Role.LEAD)
def score(request: HttpRequest, project: Project, version_pk: int) -> HttpResponse:
    version = frozen_in(project, version_pk)
    form = ScoreForm(request.POST, version=version)
    if not form.is_valid():
        split = request.POST.get("split", "")
        context = _board_context(request, version, split if split in rules.SPLITS else Split.DEV, form)
        return render(request, "evaluation/overview.html", context, status=400)
    values = form.cleaned_data
    asked = actions.request_evaluations(
        project=project,
        run_ids=values["runs"],
        version_id=version.pk,
        split=values["split"],
        measures=values["measures"],
        actor=member_of(request).user,
        at=timezone.now(),
    )
    if all(evaluation.is_scored for evaluation in asked):
        messages.info(request, "These scores are here already. Nothing was computed again.")
    page = reverse("evaluation:overview", args=[project.slug])
    return redirect(f"{page}?{urlencode({'version': version.pk, 'split': values['split']})}")
