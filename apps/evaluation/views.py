from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.evaluation import actions, charts, pages, rules, selectors
from apps.evaluation.forms import ScoreForm
from apps.evaluation.models import Evaluation
from apps.evaluation.pages import Sheet
from apps.goldsets.actions import log_test_look
from apps.goldsets.enums import Split
from apps.goldsets.models import Version
from apps.goldsets.selectors import frozen_in, latest_version, scorable_versions

SECTION = {"section": "Runs"}
QUERIES_A_PAGE = 100


@require_safe
@member_view()
def overview(request: HttpRequest, project: Project) -> HttpResponse:
    """The leaderboard of one version and split, and what to score next."""
    version = _version(project, request.GET.get("version", ""))
    if version is None:
        return render(request, "evaluation/overview.html", {**SECTION, "version": None})
    split = request.GET.get("split", _usual_split(version))
    form = ScoreForm(version=version, initial={"split": split}) if _is_lead(request) else None
    return render(request, "evaluation/overview.html", _board_context(request, version, split, form))


def _is_lead(request: HttpRequest) -> bool:
    return request.member.is_lead  # type: ignore[attr-defined]


def _version(project: Project, pk: str) -> Version | None:
    if pk.isdecimal() and len(pk) < 18:
        return frozen_in(project, int(pk))
    return latest_version(project) or scorable_versions(project).first()


def _usual_split(version: Version) -> str:
    """The dev side, unless only another one has scores."""
    scored = selectors.splits_scored(version)
    return next((split for split in (Split.DEV, rules.EVERY_SPLIT, Split.TEST) if split in scored), Split.DEV)


def _board_context(request: HttpRequest, version: Version, split: str, form: ScoreForm | None) -> dict[str, Any]:
    if split not in rules.SPLITS:
        raise Http404("No such split.")
    evaluations = selectors.evaluations_on(version, split)
    return {
        **SECTION,
        "version": version,
        "versions": scorable_versions(version.gold_set.project),
        "split": split,
        "split_words": rules.SPLIT_WORDS[split],
        "splits": [(key, rules.SPLIT_WORDS[key]) for key in rules.SPLITS],
        "board": pages.board(evaluations, request.GET.get("measure", "")),
        "waiting": [one for one in evaluations if not one.is_scored],
        "form": form,
    }


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
        actor=request.user,  # type: ignore[arg-type]
        at=timezone.now(),
    )
    if all(evaluation.is_scored for evaluation in asked):
        messages.info(request, "These scores are here already. Nothing was computed again.")
    page = reverse("evaluation:overview", args=[project.slug])
    return redirect(f"{page}?{urlencode({'version': version.pk, 'split': values['split']})}")


@require_safe
@member_view()
def evaluation_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """One run on one version: means, strata, and every query."""
    evaluation = selectors.evaluation_in(project, pk)
    if not evaluation.is_scored:
        return render(request, "evaluation/waiting.html", {**SECTION, "evaluation": evaluation})
    sheet = Sheet(evaluation, request.member)  # type: ignore[attr-defined]
    log_look(request, sheet, "scores by query")
    measure = _measure(request, evaluation)
    context = {
        **SECTION,
        "evaluation": evaluation,
        "sheet": sheet,
        "measure": measure,
        "drawn": _drawn_scores(sheet),
        "conventions": pages.conventions_of(evaluation.measures),
        "queries": _query_rows(sheet, measure, request.GET.get("page", "")),
        "split_words": rules.SPLIT_WORDS[evaluation.split],
        "sealed": rules.SEALED if sheet.hidden_count else "",
        **strata_context(request, sheet.queries, [sheet.values[measure]], [evaluation.run.tag]),
    }
    return render(request, "evaluation/evaluation.html", context)


def _measure(request: HttpRequest, evaluation: Evaluation) -> str:
    asked = request.GET.get("measure", "")
    return asked if asked in evaluation.measures else evaluation.measures[0]


def _drawn_scores(sheet: Sheet) -> dict[str, Any]:
    bounds = charts.Bounds(0.0, 1.0)
    scores = [sheet.scores[name] for name in sheet.evaluation.measures]
    rows = [(score, charts.score_cell(sheet.evaluation.run.tag, score, bounds)) for score in scores if score.n]
    return {"head": charts.head_cell(bounds), "rows": rows}


def _query_rows(sheet: Sheet, measure: str, page: str) -> dict[str, Any]:
    """The visible queries, worst first by the measure, a page of them."""
    places = [place for place, shown in enumerate(sheet.visible) if shown]
    values = sheet.values[measure]
    places.sort(key=lambda place: (values[place], place))
    found = Paginator(places, QUERIES_A_PAGE).get_page(page)
    rows = [
        (sheet.queries[place], [sheet.values[name][place] for name in sheet.evaluation.measures])
        for place in found.object_list
    ]
    return {"page": found, "rows": rows}


def strata_context(request: HttpRequest, queries: list, runs: list, names: list[str]) -> dict[str, Any]:
    fields = pages.strata_fields(queries)
    asked = request.GET.get("by", "")
    field = asked if asked in fields else next(iter(fields), "")
    found, small = pages.strata_of(queries, field, runs) if field else ([], 0)
    bounds = charts.stratum_bounds(found)
    return {
        "strata_fields": fields,
        "strata_field": field,
        "strata": [(one, charts.stratum(one, names, bounds)) for one in found],
        "strata_figures": charts.strata_figures(found, names),
        "small_strata": small,
        "fewest": pages.comparing.FEWEST_IN_STRATUM,
    }


def log_look(request: HttpRequest, sheet: Sheet, what: str) -> None:
    if sheet.shows_test:
        version, actor = sheet.evaluation.version, request.user
        log_test_look(version=version, actor=actor, what=what, at=timezone.now())  # type: ignore[arg-type]
