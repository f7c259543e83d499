"""The page of one run on one version."""

from typing import Any

import numpy as np
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.models import Project
from apps.evaluation import rules
from apps.evaluation.edges import sheets as pages
from apps.evaluation.edges.hit_charts import kind_chart, kind_figures, rank_chart, rank_figures
from apps.evaluation.edges.hit_sheets import LOWER_END, HitSheet, is_yes_or_no, kind_rows, right_of, rule_name
from apps.evaluation.edges.panels import panels_of
from apps.evaluation.edges.sheets import EvaluationSheet, log_look, shallow_words
from apps.evaluation.edges.strata import strata_context
from apps.evaluation.models import Evaluation
from apps.evaluation.pages.evaluation_context import Scores
from apps.evaluation.selectors import evaluations, rankings
from apps.goldsets.models import VersionQuery
from apps.metrics.comparison import is_lower_better
from apps.metrics.measures.registry import parse_measure

SECTION = {"section": "Scores"}
QUERIES_A_PAGE = 100


@require_safe
@member_view()
def evaluation_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """One run on one version: means with both intervals, splits, wording, strata, and every query."""
    (evaluation,) = evaluations.evaluations_with_values(project, pk)
    if not evaluation.is_scored:
        return render(request, "evaluation/in_progress.html", {**SECTION, "evaluation": evaluation})
    if evaluation.hit:
        return by_hits(request, evaluation)
    sheet = EvaluationSheet(evaluation, member_of(request))
    log_look(sheet, "scores by query")
    measure = _measure(request, evaluation)
    context = {
        **SECTION,
        "evaluation": evaluation,
        "sheet": sheet,
        "measure": measure,
        "scores": Scores(sheet, measure),
        "shallow": shallow_words(evaluation.measures, evaluation),
        "others": others_of(evaluation),
        "panels": panels_of(evaluation),
        "conventions": pages.conventions_of(evaluation.measures),
        "queries": _query_rows(sheet, measure, request.GET.get("page", "")),
        "split_words": rules.ground_words(evaluation),
        **strata_context(request.GET.get("by", ""), [sheet], measure, [evaluation.run.tag]),
    }
    return render(request, "evaluation/evaluation.html", context)


def others_of(evaluation: Evaluation) -> list[tuple[Evaluation, str]]:
    """The other evaluations of the run, each with what it is on in words."""
    others = evaluations.other_evaluations(evaluation)
    return [(one, ", ".join([rules.ground_words(one), *_against(one)])) for one in others]


def _against(evaluation: Evaluation) -> list[str]:
    return [f"Q&As: {rule_name(evaluation.hit).lower()}"] if evaluation.hit else []


def by_hits(request: HttpRequest, evaluation: Evaluation) -> HttpResponse:
    """One run on the triples of a version: measures, first right ranks, kinds of questions, every question."""
    sheet = HitSheet(evaluation, member_of(request))
    log_look(sheet, "scores by question")
    measure = _measure(request, evaluation)
    names = [evaluation.run.system.name]
    kinds = kind_rows([sheet], measure)
    context = {
        **SECTION,
        "evaluation": evaluation,
        "sheet": sheet,
        "measure": measure,
        "figures": [(score, is_yes_or_no(score.measure), right_of(score)) for score in sheet.measures],
        "others": others_of(evaluation),
        "rank_chart": rank_chart(names, [sheet.bins], parse_measure(measure).cutoff),
        "rank_figures": rank_figures(names, [sheet.bins]),
        "kind_chart": kind_chart(measure, names, kinds),
        "kind_figures": kind_figures(measure, names, kinds),
        "questions": _question_rows(sheet, measure, request.GET.get("page", "")),
        "misses": len(sheet.missed(measure)),
        "lower_end": LOWER_END,
        "split_words": rules.ground_words(evaluation),
    }
    return render(request, "evaluation/by_hits.html", context)


def _question_rows(sheet: HitSheet, measure: str, page: str) -> dict[str, Any]:
    """The visible questions, worst first by the measure, then by first right rank, one page of them."""
    places = [place for place, shown in enumerate(sheet.visible) if shown]
    values = -sheet.values[measure] if is_lower_better(measure) else sheet.values[measure]
    ranks = np.where(sheet.ranks == 0, np.iinfo(np.int64).max, sheet.ranks)
    places.sort(key=lambda place: (values[place], -ranks[place], place))
    places_page = Paginator(places, QUERIES_A_PAGE).get_page(page)
    names = sheet.evaluation.measures
    rows = [
        (sheet.triples[place], int(sheet.ranks[place]), [(name, sheet.values[name][place]) for name in names])
        for place in places_page.object_list
    ]
    return {"page": places_page, "rows": rows}


def _measure(request: HttpRequest, evaluation: Evaluation) -> str:
    measure = request.GET.get("measure", "")
    return measure if measure in evaluation.measures else evaluation.measures[0]


def _query_rows(sheet: EvaluationSheet, measure: str, page: str) -> dict[str, Any]:
    """The visible queries, worst first by the measure, one page of them.

    Those without a relevant block are last, as `bare`: no ranking could score better on them.
    """
    places = [place for place, shown in enumerate(sheet.visible) if shown]
    values = -sheet.values[measure] if is_lower_better(measure) else sheet.values[measure]
    bare = rankings.without_relevant(sheet.evaluation.version)
    is_bare = [query.pk in bare for query in sheet.queries]
    places.sort(key=lambda place: (is_bare[place], values[place], place))
    places_page = Paginator(places, QUERIES_A_PAGE).get_page(page)
    parts: dict[bool, list[tuple[VersionQuery, list[tuple[str, float]]]]] = {False: [], True: []}
    for place in places_page.object_list:
        figures = [(name, sheet.values[name][place]) for name in sheet.evaluation.measures]
        parts[is_bare[place]].append((sheet.queries[place], figures))
    bare_count = sum(is_bare[place] for place in places)
    return {"page": places_page, "rows": parts[False], "bare": parts[True], "bare_count": bare_count}
