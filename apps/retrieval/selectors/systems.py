"""The systems of a project, and the indexes that its snapshots were loaded into."""

from collections.abc import Iterator

from django.db.models import Count, QuerySet

from apps.accounts.models import Project
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.jobs.enums import ENDED
from apps.jobs.models import Job
from apps.retrieval.enums import INDEX, QUICK, IndexState, RunState, SystemKind
from apps.retrieval.models import LoadedIndex, Run, System
from apps.retrieval.selectors.question_sets import found_in


def loaded_in(project: Project) -> QuerySet[LoadedIndex]:
    """The project's loaded indexes, newest first, dropped ones too."""
    rows = LoadedIndex.objects.filter(project=project)
    return rows.select_related("snapshot__corpus", "dense", "job", "created_by").order_by("-pk")


def loaded_index_in(project: Project, pk: int) -> LoadedIndex:
    """The loaded index; Http404 for one of another project."""
    return found_in(loaded_in(project).filter(pk=pk))


def dense_systems_in(project: Project) -> QuerySet[System]:
    """The systems whose model can make the vectors of an index, by name."""
    return System.objects.filter(project=project, kind=SystemKind.DENSE).order_by("name")


def searching_systems(index: LoadedIndex) -> QuerySet[System]:
    systems = System.objects.filter(project_id=index.project_id, kind=SystemKind.LOADED)
    return systems.filter(config__engine__index=index.name, config__engine__url=index.url).order_by("name")


def ready_index_of(system: System) -> LoadedIndex | None:
    """The index that a system searches, while it is loaded."""
    engine = system.config["engine"]
    there = LoadedIndex.objects.filter(project_id=system.project_id, url=engine["url"], name=engine["index"])
    return there.filter(state=IndexState.READY).first()


def pending_run_of(index: LoadedIndex) -> Run | None:
    """A run that searches the index, or is about to."""
    return Run.objects.filter(system__in=searching_systems(index), state=RunState.PENDING).order_by("pk").first()


Row = tuple[int, str, str, list[str], str, str]


def rows_to_load(snapshot: Snapshot, first: int, most: int) -> list[Row]:
    """Of the passages from position `first` on: position, outside id, title, section path, text and digest."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot, position__gte=first).order_by("position")
    columns = ("block__outside_id", "version__title", "version__section_path", "version__text", "version__digest")
    return list(rows.values_list("position", *columns)[:most])


def sampled_digests(snapshot: Snapshot, most: int) -> Iterator[tuple[int, str]]:
    """The digests of at most `most` passages, evenly spread, with the first and the last one."""
    last = snapshot.block_count - 1
    steps = max(1, min(most, snapshot.block_count) - 1)
    places = sorted({round(step * last / steps) for step in range(steps + 1)})
    rows = SnapshotBlock.objects.filter(snapshot=snapshot, position__in=places).order_by("position")
    yield from rows.values_list("position", "version__digest")


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
