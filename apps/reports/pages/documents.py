"""Reports to take away: one HTML file that needs nothing else, or Markdown. Pages and the API give the same bytes."""

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from apps.accounts.access import member_of, member_view
from apps.accounts.models import Project
from apps.accounts.selectors import Member
from apps.evaluation.selectors.comparisons import ComparisonRefused
from apps.evaluation.selectors import evaluations
from apps.evaluation.web.comparison import comparison_of
from apps.evaluation.web.sheets import Sheet
from apps.evaluation.web.test_looks import log_look
from apps.goldsets.selectors import revoked_sources
from apps.reports.core.document import Document
from apps.reports.formats.html import as_html
from apps.reports.formats.markdown import as_markdown
from apps.reports.web.negatives import visible_version
from apps.reports.web.score_reports import comparison_report, evaluation_report
from apps.reports.web.version_reports import version_report

HTML = "html"
FORMS = {HTML: (as_html, "text/html"), "md": (as_markdown, "text/markdown")}


# As far as a member may see them ------------------------------------------------------------------------------------


def evaluation_document(member: Member, pk: int) -> Document:
    """One run on one version; a look at test goes on record. Raises Http404 and ComparisonRefused."""
    found = evaluations.evaluation_in(member.project, pk)
    if not found.is_scored:
        raise ComparisonRefused(f"{found.run.tag} has not been scored yet. Its report comes with it.", code="waiting")
    sheet = Sheet(found, member)
    log_look(sheet, "report of scores by query")
    return evaluation_report(sheet)


def comparison_document(member: Member, baseline: int, candidate: int, measure: str) -> Document:
    """Two runs, with what was decided about the drops; as `evaluation_document`."""
    found = comparison_of(member, baseline, candidate, measure)
    log_look(found.candidate, "report of a comparison by query")
    return comparison_report(found)


def version_document(member: Member, version_pk: int) -> Document:
    """A gold version and the runs on it. Raises Http404, for others than leads also where it is not released yet."""
    found = visible_version(member, version_pk)
    return version_report(found, is_revoked=bool(revoked_sources(found, at=timezone.now())))


def file_of(document: Document, form: str) -> HttpResponse:
    """The report as a download; `form` is a key of FORMS."""
    write, kind = FORMS[form]
    answer = HttpResponse(write(document), content_type=f"{kind}; charset=utf-8")
    name = slugify(document.title)[:100] or "report"
    answer["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer


# Pages --------------------------------------------------------------------------------------------------------------


def _form(request: HttpRequest) -> str:
    """What `?format=` asks for, HTML unless it says `md`."""
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
