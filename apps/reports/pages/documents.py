"""Downloads of reports, as one self-contained HTML file or as Markdown. The API returns the same bytes."""

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.models import Project
from apps.reports.edges.documents import (
    FORMS,
    HTML,
    comparison_document,
    evaluation_document,
    file_of,
    version_document,
)


def _form(request: HttpRequest) -> str:
    """The value of `?format=`, HTML by default. Raises Http404 for another one."""
    form = request.GET.get("format", HTML)
    if form not in FORMS:
        raise Http404("A report is html or md.")
    return form


@require_safe
@member_view()
def evaluation(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    form = _form(request)
    return file_of(evaluation_document(member_of(request), pk), form)


@require_safe
@member_view()
def comparison(request: HttpRequest, project: Project, baseline: int, candidate: int) -> HttpResponse:
    form, measure = _form(request), request.GET.get("measure", "")
    return file_of(comparison_document(member_of(request), baseline, candidate, measure), form)


@require_safe
@member_view()
def version(request: HttpRequest, project: Project, version_pk: int) -> HttpResponse:
    form = _form(request)
    return file_of(version_document(member_of(request), version_pk), form)
