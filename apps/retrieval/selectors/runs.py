"""The runs of a project, their rankings and results, and the runs that a fusion still needs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Max, QuerySet
from django.http import Http404
from numpy.typing import NDArray

from apps.accounts.models import Project
from apps.common.database.bulk import chunks
from apps.common.digests import sha256_hex
from apps.corpus.models import Document, Snapshot, SnapshotBlock
from apps.corpus.selectors.corpora import DocumentReach, reach_of, snapshots_in
from apps.jobs.models import Job, Upload
from apps.metrics.estimate import Estimate
from apps.metrics.expected.rules import Returned
from apps.metrics.measures.diversity import mean_distance, word_set
from apps.metrics.statistics.intervals import mean_interval
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE, Summary, mean_of
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


REACH_DEPTH = 10
TEXTS_OF = 300


class RunReach(NamedTuple):
    """What the first `depth` results of a run's queries hold, without grades.

    `documents` are those that are in at least one of them. `sources` is the mean number of different documents by that
    of the results, over queries with results; `distance` the mean distance of the texts (`diversity.mean_distance`),
    over at most TEXTS_OF of the queries with two results or more, chosen by a digest of their ids.
    """

    depth: int
    queries: int
    documents: DocumentReach
    sources: Estimate
    distance: Estimate


def reach_of_run(run: Run, depth: int = REACH_DEPTH) -> RunReach:
    """Reads the document of every passage of the snapshot: for a page of its own. Takes as many statements for any run.

    Of a run that returns passages of its own, documents that the snapshot does not have count as sources only.
    """
    lists = _own_lists(run, depth) if run.returns_passages else _block_lists(run, depth)
    words = ([word_set(text) for text in lists.texts[name]] for name in _some(lists.texts))
    distances = [far for one in words if (far := mean_distance(one)) is not None]
    shares = [len(set(top)) / len(top) for top in lists.sources if top]
    return RunReach(depth, lists.queries, reach_of(run.snapshot, lists.reached), _mean(shares), _mean(distances))


class _Lists(NamedTuple):
    """The first results of a run: the keys of their documents; for each query the documents, where all are known; and
    the texts of some queries by their ids.
    """

    queries: int
    reached: set[int]
    sources: list[list[Any]]
    texts: Mapping[str, Sequence[str]]


def _own_lists(run: Run, depth: int) -> _Lists:
    keys = dict(Document.objects.filter(corpus=run.snapshot.corpus_id).values_list("outside_id", "pk").iterator())
    rows = Ranking.objects.filter(run=run).values_list("query__outside_id", "passages")
    tops = {name: from_stored((stored or [])[:depth]) for name, stored in rows.iterator()}
    named = [[one.document_id for one in top] for top in tops.values()]
    return _Lists(
        sum(1 for top in tops.values() if top),
        {keys[one] for top in named for one in top if one in keys},
        [top for top in named if all(top)],
        {name: [one.text for one in top] for name, top in tops.items() if all(one.text for one in top)},
    )


def _block_lists(run: Run, depth: int) -> _Lists:
    rows = Ranking.objects.filter(run=run).values_list("query__outside_id", "packed")
    tops = {name: ranking.unpack(bytes(packed))[0][:depth] for name, packed in rows.iterator()}
    places = SnapshotBlock.objects.filter(snapshot=run.snapshot_id).order_by("position")
    owner = np.fromiter(places.values_list("block__document", flat=True).iterator(chunk_size=10_000), np.int64)
    named = [owner[top].tolist() for top in tops.values()]
    texts = _texts_of(run.snapshot, {name: tops[name].tolist() for name in _some(tops)})
    return _Lists(sum(map(bool, named)), {one for top in named for one in top}, named, texts)


def _some(tops: Mapping[str, Sized]) -> list[str]:
    """At most TEXTS_OF of the queries with two results or more, the same ones each time."""
    several = (name for name, top in tops.items() if len(top) > 1)
    return sorted(several, key=lambda name: sha256_hex(name.encode()))[:TEXTS_OF]


def _texts_of(snapshot: Snapshot, tops: Mapping[str, Sequence[int]]) -> dict[str, list[str]]:
    places = {place for top in tops.values() for place in top}
    rows = SnapshotBlock.objects.filter(snapshot=snapshot, position__in=places)
    texts = dict(rows.values_list("position", "version__text"))
    return {name: [texts[place] for place in top] for name, top in tops.items()}


def _mean(values: Sequence[float]) -> Estimate:
    return Summary(mean_of(values), mean_interval(np.array(values), DEFAULT_CONFIDENCE), len(values)).estimate


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
    """The complete runs on a snapshot, which can be pooled and scored, by tag."""
    runs = Run.objects.filter(snapshot=snapshot, state=RunState.COMPLETE)
    return runs.select_related("system", "snapshot").order_by("tag")


def newest_runs_on(snapshot: Snapshot) -> QuerySet[Run]:
    """The newest run of each system on the snapshot that can be pooled, newest first."""
    newest = complete_runs_on(snapshot).order_by().values("system").annotate(last=Max("pk"))
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


def reusable_run(
    system: System, snapshot: Snapshot, depth: int, query_ids: Sequence[int], as_role: str = ""
) -> Run | None:
    """The newest complete run of the system on the snapshot for the role that is deep enough and has every query, or
    None.
    """
    runs = complete_runs_on(snapshot).filter(system=system, depth__gte=depth, as_role=as_role)
    for run in runs.order_by("-pk"):
        if ranked_queries(run.pk).issuperset(query_ids):
            return run
    return None
