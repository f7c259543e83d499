"""The systems of a project."""

from django.db.models import Count, QuerySet

from apps.accounts.models import Project
from apps.corpus.models import Snapshot
from apps.jobs.enums import ENDED
from apps.jobs.models import Job
from apps.retrieval.enums import INDEX, QUICK, SystemKind
from apps.retrieval.models import System
from apps.retrieval.selectors.finding import found_in


def systems_in(project: Project) -> QuerySet[System]:
    """The project's systems by name, each with `run_count`."""
    return System.objects.filter(project=project).annotate(run_count=Count("runs")).order_by("name")


def system_in(project: Project, pk: int) -> System:
    """The system; Http404 for a system of another project."""
    return found_in(System.objects.filter(project=project, pk=pk))


def engines_in(project: Project) -> QuerySet[System]:
    """The systems that Karat can run or query, by name; uploaded systems are left out."""
    return System.objects.filter(project=project).exclude(kind=SystemKind.UPLOADED).order_by("name")


def fused_systems(system: System) -> list[System]:
    """The systems that a fusion combines, by name."""
    digests = system.config["engine"]["systems"]
    return list(System.objects.filter(project_id=system.project_id, digest__in=digests).order_by("name"))


def indexed_in(project: Project) -> QuerySet[System]:
    """The systems with an index in Karat that is fast enough for a request, by name."""
    return System.objects.filter(project=project, kind__in=QUICK).order_by("name")


def indexing_job(snapshot: Snapshot) -> Job | None:
    """The unfinished job that builds the indexes of the snapshot, or None."""
    jobs = Job.objects.filter(kind=INDEX, params__snapshot_id=snapshot.pk).exclude(state__in=ENDED)
    return jobs.order_by("-pk").first()
