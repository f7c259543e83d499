"""Bias and stability reports, scoped to a project and to what a member may see."""

from collections.abc import Iterable
from typing import TypeVar

from django.db.models import QuerySet
from django.http import Http404

from apps.accounts.models import Project
from apps.accounts.selectors import Member
from apps.goldsets.models import Version
from apps.goldsets.selectors.versions import scorable_versions
from apps.reports.models import NegativesReport, Report
from apps.reports.rules import ReportHidden, people_refusal
from apps.retrieval.models import Run

AnyReport = TypeVar("AnyReport", bound=Report)


def reports_on(kind: type[AnyReport], version: Version) -> QuerySet[AnyReport]:
    """The reports of one kind on a version, newest first."""
    return _with_related(kind._default_manager.filter(version=version)).order_by("-pk")


def report_in(kind: type[AnyReport], project: Project, pk: int) -> AnyReport:
    """A report of the project. Raises Http404."""
    report = _with_related(kind._default_manager.filter(project=project, pk=pk)).first()
    if report is None:
        raise Http404(f"No such {kind._meta.verbose_name}.")
    return report


def _with_related(reports: QuerySet[AnyReport]) -> QuerySet[AnyReport]:
    return reports.select_related("version__gold_set__project", "version__snapshot__corpus", "job", "requested_by")


def visible_report(kind: type[AnyReport], member: Member, pk: int) -> AnyReport:
    """A report that the member may see. Raises Http404 and ReportHidden."""
    report = report_in(kind, member.project, pk)
    if reason := people_refusal(member, report):
        raise ReportHidden(reason, code="round_open")
    return report


def runs_of(report: Report) -> list[Run]:
    """The runs of a report, ascending by key."""
    return list(Run.objects.filter(pk__in=report.runs).select_related("system").order_by("pk"))


def latest_version_of_pool(pool_id: int, project: Project) -> Version | None:
    """Of the versions with a round on the pool, the one frozen last."""
    versions = scorable_versions(project).filter(rounds__pool=pool_id)
    return versions.order_by("-frozen_at", "-pk").first()


def negatives_reports(version: Version) -> QuerySet[NegativesReport]:
    """The reports on hard negatives of a version with their baselines, computed or not, newest first."""
    return reports_on(NegativesReport, version).select_related("baseline")


def latest_negatives(version: Version) -> dict[str, NegativesReport]:
    """The newest computed report on hard negatives of each split."""
    return latest_by_split(negatives_reports(version).filter(computed_at__isnull=False))


def latest_by_split(reports: Iterable[NegativesReport]) -> dict[str, NegativesReport]:
    """The newest computed one of each split among these."""
    computed = (report for report in reports if report.computed_at is not None)
    return {report.split: report for report in sorted(computed, key=lambda report: report.pk)}
