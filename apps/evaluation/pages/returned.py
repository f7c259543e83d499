"""What a run by text returned for a query and what each passage earns, and the passages that were not located."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from apps.accounts.access.pages import member_of, member_view
from apps.accounts.models import Project
from apps.evaluation.core.basis import rule_name
from apps.evaluation.presenters.returned_passages import ReturnedPassages, lost_passages, shown_on_dev
from apps.evaluation.presenters.score_tables import EvaluationSheet
from apps.evaluation.selectors.evaluations import evaluations_with_values
from apps.goldsets.models import VersionQuery


@require_safe
@member_view()
def returned(request: HttpRequest, project: Project, pk: int, query_pk: int) -> HttpResponse:
    """The first passages for one query of dev beside the passages of ours that they touch; `j` and `k` go on."""
    sheet = _by_text(request, project, pk)
    if sheet is None:
        return redirect("evaluation:evaluation", slug=project.slug, pk=pk)
    queries = shown_on_dev(sheet)
    place = next((place for place, query in enumerate(queries) if query.pk == query_pk), None)
    if place is None:
        raise Http404("No such query here.")
    context = {
        **_context(sheet),
        "query": queries[place],
        "passages": ReturnedPassages(sheet.evaluation, queries[place]).passages,
        "before": _at(queries, place - 1),
        "after": _at(queries, place + 1),
    }
    return render(request, "evaluation/returned.html", context)


@require_safe
@member_view()
def not_located(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The passages of a run that are in no document of the snapshot, as far as the reader may see them."""
    sheet = _by_text(request, project, pk)
    if sheet is None:
        return redirect("evaluation:evaluation", slug=project.slug, pk=pk)
    context = {**_context(sheet), "sheet": sheet, "lost": lost_passages(sheet)}
    return render(request, "evaluation/not_located.html", context)


def _by_text(request: HttpRequest, project: Project, pk: int) -> EvaluationSheet | None:
    (evaluation,) = evaluations_with_values(project, pk)
    if not (evaluation.is_scored and evaluation.is_by_text):
        return None
    return EvaluationSheet(evaluation, member_of(request))


def _context(sheet: EvaluationSheet) -> dict[str, Any]:
    evaluation = sheet.evaluation
    return {"evaluation": evaluation, "rule": evaluation.rule, "rule_name": rule_name(evaluation.hit)}


def _at(queries: list[VersionQuery], place: int) -> VersionQuery | None:
    return queries[place] if 0 <= place < len(queries) else None
