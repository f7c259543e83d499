"""Pages of stability reports: does the order of the runs hold under everybody's grades?"""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.agreement.selectors.agreement import names_for
from apps.evaluation import rules
from apps.evaluation.edges.version_choice import version_asked
from apps.goldsets.models import Version
from apps.goldsets.selectors.versions import frozen_in
from apps.reports.actions import analyses
from apps.reports.forms import StabilityForm
from apps.reports.models import StabilityReport
from apps.reports.pages.list_context import list_context
from apps.reports.pages.stability_context import StabilitySheet
from apps.reports.rules import StabilityHidden, people_refusal
from apps.reports.selectors import reports

SECTION = {"section": "Runs", "kind": "Stability", "home": "reports:stability-reports"}


@require_safe
@member_view(Role.LEAD, Role.VIEWER)
def stability_reports(request: HttpRequest, project: Project) -> HttpResponse:
    """The stability reports of one version, and the form of the next."""
    version = version_asked(request, project)
    form = StabilityForm(version=version) if version and member_of(request).is_lead else None
    return _list(request, version, form)


def _list(request: HttpRequest, version: Version | None, form: StabilityForm | None, status: int = 200) -> HttpResponse:
    context = {**SECTION, **list_context(StabilityReport, member_of(request).project, version, form)}
    return render(request, "reports/stability_reports.html", context, status=status)


@require_POST
@member_view(Role.LEAD)
def ask_stability(request: HttpRequest, project: Project, version_pk: int) -> HttpResponse:
    version = frozen_in(project, version_pk)
    form = StabilityForm(request.POST, version=version)
    if not form.is_valid():
        return _list(request, version, form, status=400)
    values = form.cleaned_data
    report = analyses.request_stability_report(
        project=project,
        run_ids=values["runs"],
        version_id=version.pk,
        split=values["split"],
        measures=values["measures"],
        actor=member_of(request).user,
        at=timezone.now(),
    )
    return redirect("reports:stability", slug=project.slug, pk=report.pk)


@require_safe
@member_view(Role.LEAD, Role.VIEWER)
def stability_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """One report: the order under each person's grades. Leads read names, others letters."""
    report = reports.report_in(StabilityReport, project, pk)
    member = member_of(request)
    if reason := people_refusal(member, report.version):
        raise StabilityHidden(reason, code="round_open")
    context: dict[str, Any] = {**SECTION, "report": report, "split_words": rules.SPLIT_WORDS[report.split]}
    if not report.is_computed:
        return render(request, "reports/report_waiting.html", context)
    names = names_for(member, report.result["people"])
    sheet = StabilitySheet(report, names, request.GET.get("measure", ""))
    return render(request, "reports/stability.html", {**context, "sheet": sheet})
