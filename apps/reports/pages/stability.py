"""Pages of stability reports: is the order of the runs the same under each person's grades?"""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.agreement.selectors.agreement import names_for
from apps.evaluation.edges.version_choice import requested_version
from apps.reports.forms import StabilityForm
from apps.reports.models import StabilityReport
from apps.reports.pages.analyses import ReportPages, answer_request, list_page, progress_page, report_page
from apps.reports.pages.stability_context import StabilitySheet
from apps.reports.selectors.analyses import visible_report

PAGES = ReportPages("stability", "Stability", StabilityReport, StabilityForm)


@require_safe
@member_view(Role.LEAD, Role.VIEWER)
def stability_reports(request: HttpRequest, project: Project) -> HttpResponse:
    return list_page(request, PAGES, requested_version(request, project))


@require_POST
@member_view(Role.LEAD)
def request_stability(request: HttpRequest, project: Project, version_pk: int) -> HttpResponse:
    return answer_request(request, PAGES, version_pk)


@require_safe
@member_view(Role.LEAD, Role.VIEWER)
def stability_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """One report: the order under each person's grades. Leads read names, others letters."""
    member = member_of(request)
    report = visible_report(StabilityReport, member, pk)
    if not report.is_computed:
        return progress_page(request, PAGES, report)
    names = names_for(member, report.result["people"])
    return report_page(request, PAGES, StabilitySheet(report, request.GET.get("measure", ""), names))
