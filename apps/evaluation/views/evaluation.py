"""The page of one run on one version."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.access import member_of, member_view
from apps.accounts.models import Project
from apps.evaluation import gates, rules, selectors
from apps.evaluation.comparing import is_lower_better
from apps.evaluation.models import Evaluation
from apps.evaluation.pages import sheets as pages
from apps.evaluation.pages.evaluation import Scores
from apps.evaluation.pages.sheets import Sheet
from apps.evaluation.pages.strata import strata_context
from apps.goldsets.actions import log_test_look

SECTION = {"section": "Runs"}
QUERIES_A_PAGE = 100


@require_safe
@member_view()
def evaluation_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """One run on one version: means with both intervals, splits, wording, strata, and every query."""
    evaluation = selectors.evaluation_in(project, pk)
    if not evaluation.is_scored:
        return render(request, "evaluation/waiting.html", {**SECTION, "evaluation": evaluation})
    sheet = Sheet(evaluation, member_of(request))
    log_look(sheet, "scores by query")
    measure = _measure(request, evaluation)
    context = {
        **SECTION,
        "evaluation": evaluation,
        "sheet": sheet,
        "measure": measure,
        "scores": Scores(sheet, measure),
        "beside": [(one, rules.SPLIT_WORDS[one.split]) for one in selectors.scored_beside(evaluation)],
        "gate_results": gates.results_on(evaluation),
        "conventions": pages.conventions_of(evaluation.measures),
        "queries": _query_rows(sheet, measure, request.GET.get("page", "")),
        "split_words": rules.SPLIT_WORDS[evaluation.split],
        "sealed": rules.SEALED if sheet.hidden_count else "",
        **strata_context(request.GET.get("by", ""), [sheet], measure, [evaluation.run.tag]),
    }
    return render(request, "evaluation/evaluation.html", context)


def _measure(request: HttpRequest, evaluation: Evaluation) -> str:
    asked = request.GET.get("measure", "")
    return asked if asked in evaluation.measures else evaluation.measures[0]


def _query_rows(sheet: Sheet, measure: str, page: str) -> dict[str, Any]:
    """The visible queries, worst first by the measure, a page of them."""
    places = [place for place, shown in enumerate(sheet.visible) if shown]
    values = -sheet.values[measure] if is_lower_better(measure) else sheet.values[measure]
    places.sort(key=lambda place: (values[place], place))
    found = Paginator(places, QUERIES_A_PAGE).get_page(page)
    rows = [
        (sheet.queries[place], [(name, sheet.values[name][place]) for name in sheet.evaluation.measures])
        for place in found.object_list
    ]
    return {"page": found, "rows": rows}


def log_look(sheet: Sheet, what: str) -> None:
    """Put it on record when its reader is laid open what is sealed to others."""
    if sheet.shows_test:
        version = sheet.evaluation.version
        log_test_look(version=version, actor=sheet.member.user, what=what, at=timezone.now())
