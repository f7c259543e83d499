"""Pages of bias reports: who is favoured by what was judged, and what to judge first."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.evaluation import rules
from apps.evaluation.edges.version_choice import version_asked
from apps.goldsets.actions import log_test_look
from apps.goldsets.enums import Split
from apps.goldsets.models import Version
from apps.goldsets.selectors.versions import frozen_in
from apps.reports.actions import analyses, judge_next
from apps.reports.forms import BiasForm, FirstForm
from apps.reports.models import BiasReport
from apps.reports.pages.bias_context import BiasSheet
from apps.reports.pages.list_context import list_context
from apps.reports.selectors import reports

SECTION = {"section": "Runs", "kind": "Bias", "home": "reports:bias-reports"}


@require_safe
@member_view(Role.LEAD, Role.VIEWER)
def bias_reports(request: HttpRequest, project: Project) -> HttpResponse:
    """The bias reports of one version, and the form of the next. `pool` stands for the version that rests on it."""
    version = _version(request, project)
    form = BiasForm(version=version) if version and member_of(request).is_lead else None
    return _list(request, version, form)


def _version(request: HttpRequest, project: Project) -> Version | None:
    """The version that rests on the pool in the address; without one, that of every page of scores."""
    pool = request.GET.get("pool", "")
    if not request.GET.get("version", "").isdecimal() and pool.isdecimal() and len(pool) < 18:
        return reports.version_resting_on(int(pool), project)
    return version_asked(request, project)


def _list(request: HttpRequest, version: Version | None, form: BiasForm | None, status: int = 200) -> HttpResponse:
    context = {**SECTION, **list_context(BiasReport, member_of(request).project, version, form)}
    return render(request, "reports/bias_reports.html", context, status=status)


@require_POST
@member_view(Role.LEAD)
def ask_bias(request: HttpRequest, project: Project, version_pk: int) -> HttpResponse:
    version = frozen_in(project, version_pk)
    form = BiasForm(request.POST, version=version)
    if not form.is_valid():
        return _list(request, version, form, status=400)
    values = form.cleaned_data
    report = analyses.request_bias_report(
        project=project,
        run_ids=values["runs"],
        version_id=version.pk,
        split=values["split"],
        measures=values["measures"],
        depth=values["depth"],
        actor=member_of(request).user,
        at=timezone.now(),
    )
    return redirect("reports:bias", slug=project.slug, pk=report.pk)


@require_safe
@member_view(Role.LEAD, Role.VIEWER)
def bias_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """One report. What to judge first is shown to leads; a look at blocks of the sealed test split is logged."""
    report = reports.report_in(BiasReport, project, pk)
    context: dict[str, Any] = {**SECTION, "report": report, "split_words": rules.SPLIT_WORDS[report.split]}
    if not report.is_computed:
        return render(request, "reports/report_waiting.html", context)
    sheet = BiasSheet(report, request.GET.get("measure", ""))
    is_lead = member_of(request).is_lead
    if is_lead and sheet.first_rows and report.split != Split.DEV:
        log_test_look(
            version=report.version, actor=member_of(request).user, what="what to judge first", at=timezone.now()
        )
    form = FirstForm(initial={"most": sheet.usual_first}) if is_lead else None
    return render(request, "reports/bias.html", {**context, "sheet": sheet, "form": form})


@require_POST
@member_view(Role.LEAD)
def judge_first(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """A pool of what could change the order most, and on to the plan of its round."""
    form = FirstForm(request.POST)
    pool = judge_next.choose_first(
        report=reports.report_in(BiasReport, project, pk),
        most=form.cleaned_data["most"] if form.is_valid() else 0,
        actor=member_of(request).user,
        at=timezone.now(),
    )
    page = reverse("judging:new-round", args=[project.slug])
    return redirect(f"{page}?{urlencode({'pool': pool.pk})}")
