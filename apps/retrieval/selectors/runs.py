"""The runs of a project, their rankings and results, and the runs that a fusion still needs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from django.db.models import Max, QuerySet
from django.http import Http404
from numpy.typing import NDArray

from apps.accounts.models import Project
from apps.common.database.bulk import chunks
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.corpus.selectors.corpora import snapshots_in
from apps.jobs.models import Job, Upload
from apps.metrics.expected.rules import Returned
from apps.retrieval.core import ranking
from apps.retrieval.core.ranking import from_stored
from apps.retrieval.enums import IMPORT_FILE, Returns, RunState
from apps.retrieval.models import Ranking, Run, System
from apps.retrieval.selectors.question_sets import IDS_AT_ONCE, found_in, queries_in

RANKINGS_AT_ONCE = 500


def returned_of(
    run: Run, query_ids: Sequence[int], *, with_text: bool = False, depth: int | None = None
) -> Iterator[tuple[int, list[Returned]]]:
    """Those of the queries that have a ranking, in their order, with what was returned, best first, at most `depth`.

    Documents and pages of blocks are those of the run's snapshot. Texts are "" unless `with_text`: they are read
    anew for every few hundred queries, everything else once.
    """
    known: dict[int, Returned] = {}
    for part in chunks(query_ids, RANKINGS_AT_ONCE):
        rankings = Ranking.objects.filter(run=run, query__in=part)
        if run.returns_passages:
            passages = dict(rankings.values_list("query_id", "passages"))
            own = ((query_id, passages[query_id] or []) for query_id in part if query_id in passages)
            yield from ((query_id, _own(stored[:depth], with_text)) for query_id, stored in own)
            continue
        packed = dict(rankings.values_list("query_id", "packed"))
        ranked = [query_id for query_id in part if query_id in packed]
        tops = {query_id: ranking.unpack(bytes(packed[query_id]))[0][:depth].tolist() for query_id in ranked}
        known = {} if with_text else known
        known |= _blocks(run.snapshot_id, {place for top in tops.values() for place in top} - known.keys(), with_text)
        yield from ((query_id, [known[place] for place in top]) for query_id, top in tops.items())


def _own(stored: list[dict[str, Any]], with_text: bool) -> list[Returned]:
    passages = from_stored(stored)
    return passages if with_text else [one._replace(text="") for one in passages]


def _blocks(snapshot_id: int, positions: Iterable[int], with_text: bool) -> dict[int, Returned]:
    columns = ["position", "block__outside_id", "block__document__outside_id", "version__page_start"]
    columns += ["version__page_end", *(["version__text"] if with_text else [])]
    found = {}
    for part in chunks(sorted(positions), IDS_AT_ONCE):
        rows = SnapshotBlock.objects.filter(snapshot=snapshot_id, position__in=part).values_list(*columns)
        for position, block, document, first, last, *text in rows:
            found[position] = Returned(block, document, _pages(first, last), *text)
    return found


def _pages(first: int | None, last: int | None) -> tuple[int, int] | None:
    """The range of pages; of one end where only that is known."""
    start, end = (first if first is not None else last), (last if last is not None else first)
    return None if start is None or end is None else (start, end)


def runs_in(project: Project) -> QuerySet[Run]:
    """The project's runs, newest first."""
    runs = Run.objects.filter(project=project)
    return runs.select_related("system", "snapshot__corpus", "created_by", "job").order_by("-pk")


def run_in(project: Project, pk: int) -> Run:
    """The run in any state; Http404 for a run of another project."""
    return found_in(runs_in(project).select_related("project", "snapshot__corpus__project").filter(pk=pk))


def is_ready_for_runs(project: Project) -> bool:
    """Whether the project has what a run needs: a snapshot and queries."""
    return snapshots_in(project).exists() and queries_in(project).exists()


def complete_runs_on(snapshot: Snapshot) -> QuerySet[Run]:
    """The complete runs on a snapshot, which can be scored, by tag."""
    runs = Run.objects.filter(snapshot=snapshot, state=RunState.COMPLETE)
    return runs.select_related("system", "snapshot").order_by("tag")


def poolable_runs_on(snapshot: Snapshot) -> QuerySet[Run]:
    """Those that returned blocks of the snapshot, which alone can be pooled and joined with grades."""
    return complete_runs_on(snapshot).filter(returns=Returns.BLOCKS)


def newest_runs_on(snapshot: Snapshot) -> QuerySet[Run]:
    """The newest run of each system on the snapshot that can be pooled, newest first."""
    newest = poolable_runs_on(snapshot).order_by().values("system").annotate(last=Max("pk"))
    return Run.objects.filter(pk__in=newest.values("last")).order_by("-pk")


def stored_tops(snapshot: Snapshot, query_id: int, depth: int) -> list[tuple[System, NDArray[np.int32]]]:
    """The top positions for the query in the newest complete run of each system on the snapshot, by system name."""
    runs = Run.objects.filter(snapshot=snapshot, state=RunState.COMPLETE, returns=Returns.BLOCKS)
    rows = Ranking.objects.filter(query=query_id, run__in=runs)
    newest = {row.run.system_id: row for row in rows.select_related("run__system").order_by("run_id")}
    tops = [(row.run.system, ranking.unpack(bytes(row.packed))[0][:depth]) for row in newest.values()]
    return sorted(tops, key=lambda top: top[0].name)


def job_of_upload(upload: Upload) -> Job | None:
    """The latest job for a run file; None for a small file, which needs no job."""
    job = upload.options.get("job")
    return None if job is None else Job.objects.filter(project_id=upload.project_id, pk=job).first()


def push_in(project: Project, pk: int) -> Job:
    """The job that imports a pushed run; Http404 for any other job."""
    try:
        return Job.objects.get(project=project, kind=IMPORT_FILE, pk=pk)
    except Job.DoesNotExist:
        raise Http404("No such push.") from None


def components_of(run: Run) -> list[Run]:
    """The runs that a fused run uses, in the order of its system's components; none for other runs."""
    ids = (run.report or {}).get("components", [])
    runs = Run.objects.select_related("system", "snapshot", "project").in_bulk(ids)
    return [runs[pk] for pk in ids]


def runs_to_make(run: Run) -> list[Run]:
    """The runs that have to be made for this one, in order: pending components first, this run last."""
    if run.state != RunState.PENDING:
        return []
    before = [part for component in components_of(run) for part in runs_to_make(component)]
    return list({part.pk: part for part in [*before, run]}.values())


def ranked_queries(run_id: int) -> set[int]:
    """The ids of the queries that have a ranking in the run."""
    return set(Ranking.objects.filter(run_id=run_id).values_list("query_id", flat=True))


def names_of_ranked(run: Run) -> dict[int, str]:
    """The outside id of each query that has a ranking in the run, by its key, in the order of outside ids."""
    rows = Ranking.objects.filter(run=run).order_by("query__outside_id", "query_id")
    return dict(rows.values_list("query_id", "query__outside_id"))


def result_counts(run_id: int) -> dict[int, int]:
    """The number of results of each ranking of a run, by query id."""
    return dict(Ranking.objects.filter(run_id=run_id).values_list("query_id", "length"))


def reusable_run(system: System, snapshot: Snapshot, depth: int, query_ids: Sequence[int]) -> Run | None:
    """The newest complete run of the system on the snapshot that is deep enough and has every query, or None."""
    runs = poolable_runs_on(snapshot).filter(system=system, depth__gte=depth)
    for run in runs.order_by("-pk"):
        if ranked_queries(run.pk).issuperset(query_ids):
            return run
    return None
