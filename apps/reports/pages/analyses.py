"""Reports as files, and what the pages of all analyses share: the list with the form, and the page of one report."""

from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.web.requests import key_in
from apps.evaluation import rules
from apps.evaluation.forms import RunsForm
from apps.evaluation.presenters.score_tables import conventions_of
from apps.evaluation.presenters.version_choice import requested_version
from apps.goldsets.models import Version
from apps.goldsets.selectors.versions import frozen_in, scorable_versions
from apps.reports.actions import request_report
from apps.reports.models import Report
from apps.reports.presenters.documents import (
    FORMS,
    HTML,
    comparison_document,
    evaluation_document,
    file_of,
    version_document,
)
from apps.reports.selectors.analyses import AnyReport, latest_version_of_pool, reports_on


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


class ReportPages(NamedTuple):
    """One kind of analysis: `slug` begins its URL names and templates, `kind` is its name on pages."""

    slug: str
    kind: str
    model: type[Report]
    form: type[RunsForm]

    @property
    def context(self) -> dict[str, Any]:
        return {"kind": self.kind, "home": f"reports:{self.slug}-reports"}


@dataclass
class ReportSheet(Generic[AnyReport]):
    """A computed report, read from its stored result; `wanted` is the measure to show, the first one if unknown."""

    report: AnyReport
    wanted: str

    @property
    def measure(self) -> str:
        measures = self.report.measures
        return self.wanted if self.wanted in measures else measures[0]

    @property
    def measure_place(self) -> int:
        return self.report.measures.index(self.measure)

    @property
    def conventions(self) -> str:
        return conventions_of(self.report.measures)


@require_safe
@member_view(Role.LEAD, Role.VIEWER)
def reports(request: HttpRequest, project: Project, pages: ReportPages) -> HttpResponse:
    """The reports of one version, and for leads the form for a new one.

    The version is that of `?version=`; without it, `?pool=` selects the latest one whose rounds judged that pool.
    """
    version_key, pool = (key_in(request.GET.get(name, "")) for name in ("version", "pool"))
    if version_key is None and pool is not None:
        version = latest_version_of_pool(pool, project)
    else:
        version = requested_version(request, project)
    form = pages.form(version=version) if version and member_of(request).is_lead else None
    return _listed(request, pages, version, form)


def _listed(
    request: HttpRequest, pages: ReportPages, version: Version | None, form: RunsForm | None, status: int = 200
) -> HttpResponse:
    """Lists computed reports and those still in progress separately."""
    listed = list(reports_on(pages.model, version)) if version else []
    context = {
        **pages.context,
        "version": version,
        "versions": scorable_versions(member_of(request).project),
        "reports": [(report, rules.SPLIT_WORDS[report.split]) for report in listed if report.is_computed],
        "in_progress": [report for report in listed if not report.is_computed],
        "form": form,
    }
    return render(request, f"reports/{pages.slug}_reports.html", context, status=status)


@require_POST
@member_view(Role.LEAD)
def request_new(request: HttpRequest, project: Project, version_pk: int, pages: ReportPages) -> HttpResponse:
    """Request the report and redirect to its page, or show the form again with its errors."""
    version = frozen_in(project, version_pk)
    form = pages.form(request.POST, version=version)
    if not form.is_valid():
        return _listed(request, pages, version, form, status=400)
    values = dict(form.cleaned_data)
    report = request_report(
        kind=pages.model,
        project=project,
        run_ids=values.pop("runs"),
        version_id=version.pk,
        **values,
        actor=user_of(request),
        at=timezone.now(),
    )
    return redirect(f"reports:{pages.slug}", slug=project.slug, pk=report.pk)


def progress_page(request: HttpRequest, pages: ReportPages, report: Report) -> HttpResponse:
    return render(request, "reports/report_in_progress.html", {**pages.context, "report": report})


def report_page(request: HttpRequest, pages: ReportPages, sheet: ReportSheet[Any], **more: Any) -> HttpResponse:
    """The page of a computed report; `more` is context that only its analysis needs."""
    report = sheet.report
    shown = {"report": report, "sheet": sheet, "split_words": rules.SPLIT_WORDS[report.split]}
    return render(request, f"reports/{pages.slug}.html", {**pages.context, **shown, **more})
