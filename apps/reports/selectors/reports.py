from typing import TypeVar

from django.db.models import QuerySet
from django.http import Http404

from apps.accounts.models import Project
from apps.goldsets.models import Version
from apps.goldsets.selectors.versions import scorable_versions
from apps.reports.models import BiasReport, Report, StabilityReport
from apps.retrieval.models import Run

AnyReport = TypeVar("AnyReport", BiasReport, StabilityReport)


def reports_in(kind: type[AnyReport], project: Project) -> QuerySet[AnyReport]:
    """The project's reports of one kind, newest first."""
    found = kind.objects.filter(project=project)
    found = found.select_related("version__gold_set__project", "version__snapshot__corpus", "job", "requested_by")
    return found.order_by("-pk")


def report_in(kind: type[AnyReport], project: Project, pk: int) -> AnyReport:
    found = reports_in(kind, project).filter(pk=pk).first()
    if found is None:
        raise Http404(f"No such {kind._meta.verbose_name}.")
    return found


def runs_of(report: Report) -> list[Run]:
    """The runs of a report, ascending by key."""
    return list(Run.objects.filter(pk__in=report.runs).select_related("system").order_by("pk"))


def version_resting_on(pool_id: int, project: Project) -> Version | None:
    """The version last frozen whose rounds judged the pool."""
    found = scorable_versions(project).filter(rounds__pool=pool_id)
    return found.order_by("-frozen_at", "-pk").first()
