"""Pages of bias reports: which systems the grades favour, and what to judge first."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.evaluation.edges.version_choice import requested_version
from apps.goldsets.edges.sealed import open_test
from apps.goldsets.enums import Split
from apps.goldsets.models import Version
from apps.reports.actions.judge_next import choose_first
from apps.reports.forms import BiasForm, FirstForm
from apps.reports.models import BiasReport
from apps.reports.pages.analyses import ReportPages, answer_request, list_page, progress_page, report_page
from apps.reports.pages.bias_context import BiasSheet
from apps.reports.selectors.analyses import latest_version_of_pool, report_in, visible_report

PAGES = ReportPages("bias", "Bias", BiasReport, BiasForm)


@require_safe
@member_view(Role.LEAD, Role.VIEWER)
def bias_reports(request: HttpRequest, project: Project) -> HttpResponse:
    """The list of reports; the parameter `pool` selects the latest version whose rounds judged that pool."""
    return list_page(request, PAGES, _version(request, project))


def _version(request: HttpRequest, project: Project) -> Version | None:
    """The version selected by `pool`; without a pool, by `version` as on every page of scores."""
    pool = request.GET.get("pool", "")
    if not request.GET.get("version", "").isdecimal() and pool.isdecimal() and len(pool) < 18:
        return latest_version_of_pool(int(pool), project)
    return requested_version(request, project)


@require_POST
@member_view(Role.LEAD)
def request_bias(request: HttpRequest, project: Project, version_pk: int) -> HttpResponse:
    return answer_request(request, PAGES, version_pk)


@require_safe
@member_view(Role.LEAD, Role.VIEWER)
def bias_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """One report. Leads also see what to judge first; if that shows blocks of the test split, the look is logged."""
    member = member_of(request)
    report = visible_report(BiasReport, member, pk)
    if not report.is_computed:
        return progress_page(request, PAGES, report)
    sheet = BiasSheet(report, request.GET.get("measure", ""))
    if member.is_lead and sheet.first_rows and report.split != Split.DEV:
        open_test(report.version, member, "what to judge first")
    form = FirstForm(initial={"most": sheet.usual_first}) if member.is_lead else None
    return report_page(request, PAGES, sheet, form=form)


@require_POST
@member_view(Role.LEAD)
def judge_first(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Make a pool of what could change the order most, and redirect to the plan of its round."""
    form = FirstForm(request.POST)
    pool = choose_first(
        report=report_in(BiasReport, project, pk),
        most=form.cleaned_data["most"] if form.is_valid() else 0,
        actor=member_of(request).user,
        at=timezone.now(),
    )
    page = reverse("judging:new-round", args=[project.slug])
    return redirect(f"{page}?{urlencode({'pool': pool.pk})}")
