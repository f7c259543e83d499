"""Snapshots in search servers: the indexes that Karat loaded, and the systems that search them."""

from collections.abc import Iterator

from django.db.models import QuerySet

from apps.accounts.models import Project
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.retrieval.enums import IndexState, RunState, SystemKind
from apps.retrieval.models import LoadedIndex, Run, System
from apps.retrieval.selectors.finding import found_in


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
    """The systems that search the index, by name."""
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
