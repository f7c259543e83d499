"""Reports to take away: one HTML file that needs nothing else, or Markdown."""

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from apps.accounts.access import member_of, member_view
from apps.accounts.models import Project
from apps.evaluation import selectors
from apps.evaluation.compare_views import ComparisonRefused, comparison_asked
from apps.evaluation.evaluation_views import log_look
from apps.evaluation.negatives_views import visible_version
from apps.evaluation.pages import Sheet
from apps.evaluation.release_reports import version_report
from apps.evaluation.reporting.document import Document
from apps.evaluation.reporting.html import as_html
from apps.evaluation.reporting.markdown import as_markdown
from apps.evaluation.reports import comparison_report, evaluation_report
from apps.goldsets.selectors import revoked_sources

FORMS = {"html": (as_html, "text/html"), "md": (as_markdown, "text/markdown")}


def _file(request: HttpRequest, document: Document) -> HttpResponse:
    """The report as a download; `?format=md` for Markdown."""
    form = request.GET.get("format", "html")
    if form not in FORMS:
        raise Http404("A report is html or md.")
    write, kind = FORMS[form]
    answer = HttpResponse(write(document), content_type=f"{kind}; charset=utf-8")
    name = slugify(document.title)[:100] or "report"
    answer["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer


@require_safe
@member_view()
def evaluation(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """One run on one version."""
    found = selectors.evaluation_in(project, pk)
    if not found.is_scored:
        raise ComparisonRefused(f"{found.run.tag} has not been scored yet. Its report comes with it.", code="waiting")
    sheet = Sheet(found, member_of(request))
    log_look(request, sheet, "report of scores by query")
    return _file(request, evaluation_report(sheet))


@require_safe
@member_view()
def comparison(request: HttpRequest, project: Project, baseline: int, candidate: int) -> HttpResponse:
    """Two runs, with what was decided about the drops."""
    found = comparison_asked(request, project, baseline, candidate)
    log_look(request, found.candidate, "report of a comparison by query")
    return _file(request, comparison_report(found))


@require_safe
@member_view()
def version(request: HttpRequest, project: Project, version_pk: int) -> HttpResponse:
    """A gold version and the runs on it; one that is not released yet is shown to leads only."""
    found = visible_version(member_of(request), version_pk)
    return _file(request, version_report(found, is_revoked=bool(revoked_sources(found, at=timezone.now()))))
