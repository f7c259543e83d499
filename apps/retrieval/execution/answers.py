"""Answering the queries of a run, in slices that each take effect exactly once."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from random import Random
from typing import Any

import numpy as np

from apps.common.database.bulk import insert_rows
from apps.common.digests import digest_of_lines, sha256_hex
from apps.jobs.actions.jobs import enqueue
from apps.jobs.enums import JobState
from apps.jobs.execution.context import JobContext, JobFailed
from apps.jobs.models import Job
from apps.retrieval import selectors, workflow
from apps.retrieval.core import ranking
from apps.retrieval.core.engines import Hits
from apps.retrieval.core.engines.base import one_by_one
from apps.retrieval.enums import HELP, INDEXED, RunState, Step, SystemKind
from apps.retrieval.execution.indexes import engine_of, fusion_of, using_system
from apps.retrieval.execution.pool_building import ROWS_AT_ONCE
from apps.retrieval.models import Ranking, Run

QUERIES_AT_ONCE = 100
ENOUGH_TO_SHARE = 5
MOST_HELPERS = 15

Answer = Callable[[Sequence[int]], Hits]
"""From queries, by id, to what the run's system found for each."""


class RunEnded(JobFailed):
    """Raised when there is an answer to write for a run that has ended meanwhile."""


class Steps:
    """Progress over all the parts of one job, counted in queries."""

    def __init__(self, ctx: JobContext, total: int) -> None:
        self.ctx = ctx
        self.total = total
        self.done = 0

    def take(self, queries: int, text: str) -> None:
        self.done += queries
        self.ctx.progress(self.done, self.total, text)


def answer_queries(ctx: JobContext, run: Run, query_ids: Sequence[int], steps: Steps) -> None:
    """Rank the queries that have no ranking yet, slice by slice, and complete the run.

    When much is waiting, idle workers are called to help. Whoever they are, each slice is written once.
    """
    slices = list(selectors.in_parts(query_ids, QUERIES_AT_ONCE))
    done = len(query_ids) - _queries_of(waiting_of(run, slices))
    steps.take(done, _answering(run))

    def tell(waiting: Sequence[Sequence[int]]) -> None:
        nonlocal done
        now = len(query_ids) - _queries_of(waiting)
        steps.take(now - done, _answering(run))
        done = now

    work_through(ctx, run, slices, tell)
    with ctx.chunk(f"run:{run.pk}:complete") as fresh:
        if fresh:
            complete_run(run, actor=ctx.actor, at=ctx.at)


def help_with(ctx: JobContext, run: Run, query_ids: Sequence[int], number: int) -> None:
    """Answer slices of a run that another job has in hand, until none is waiting. The other job completes it."""
    slices = list(selectors.in_parts(query_ids, QUERIES_AT_ONCE))
    start = int(len(slices) * spread(number))
    try:
        work_through(ctx, run, slices, lambda waiting: ctx.progress(0, None, _answering(run)), start)
    except RunEnded:
        return


def work_through(
    ctx: JobContext,
    run: Run,
    slices: Sequence[Sequence[int]],
    tell: Callable[[Sequence[Sequence[int]]], None],
    start: int = 0,
) -> None:
    """Answer slices while any is waiting. `tell` hears before and after each which ones those are.

    From `start` it goes forward, away from the others; where somebody has been already, it goes on anywhere. So two
    workers rarely choose the same slice, and when they do, the row of the run decides whose answer is written.
    """
    waiting = waiting_of(run, slices)
    tell(waiting)
    if not waiting:
        return
    place, draw = {part[0]: number for number, part in enumerate(slices)}, Random(ctx.job_id)
    with answerer(run) as answer:
        call_help(ctx, run, len(waiting))
        last = start - 1
        while waiting:
            open_places = {place[part[0]] for part in waiting}
            last = last + 1 if last + 1 in open_places else draw.choice(sorted(open_places))
            answer_slice(ctx, run, slices[last], answer)
            waiting = waiting_of(run, waiting)
            if slices[last] in waiting:
                raise RuntimeError(f"The queries from {slices[last][0]} on have results, but no ranking.")
            tell(waiting)


def call_help(ctx: JobContext, run: Run, waiting: int) -> None:
    """Ask for one more worker when there is enough to share. Each that comes calls the next: as many take part as
    are idle, and one that comes too late finds nothing to do.
    """
    if waiting < ENOUGH_TO_SHARE or run.system.kind not in INDEXED:
        return
    with ctx.chunk(f"run:{run.pk}:help:{ctx.attempt}") as fresh:
        helpers = Job.objects.filter(kind=HELP, project_id=run.project_id, params__run_id=run.pk)
        if fresh and not helpers.filter(state=JobState.QUEUED).exists() and helpers.open().count() < MOST_HELPERS:
            params = {"run_id": run.pk, "job_id": run.job_id, "number": helpers.count() + 1}
            title = f"Help with {run.tag}"
            enqueue(kind=HELP, params=params, project=run.project, actor=ctx.actor, at=ctx.at, title=title)


def answer_slice(ctx: JobContext, run: Run, query_ids: Sequence[int], answer: Answer) -> None:
    """Answer the queries and write those that have no ranking, decided under the run's lock."""
    found = answer(query_ids)
    with ctx.chunk(f"run:{run.pk}:{query_ids[0]}") as fresh:
        if fresh:
            state = Run.objects.select_for_update(no_key=True).values_list("state", flat=True).get(pk=run.pk)
            if state != RunState.PENDING:
                raise RunEnded(f"The run {run.tag} is {RunState(state).label}; nothing is added to it.")
            ranked = set(Ranking.objects.filter(run=run, query__in=query_ids).values_list("query_id", flat=True))
            write_rankings(run, query_ids, found, ranked)


def waiting_of(run: Run, slices: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """The slices that lack a ranking. A slice is written whole, so its ends tell; should the slices of an older
    version have lain elsewhere, every query is looked at before the run is taken for answered.
    """
    ends = {pk for part in slices for pk in (part[0], part[-1])}
    ranked: set[int] = set()
    for part in selectors.in_parts(sorted(ends)):
        ranked.update(Ranking.objects.filter(run=run, query__in=part).values_list("query_id", flat=True))
    waiting = [part for part in slices if part[0] not in ranked or part[-1] not in ranked]
    if waiting or not slices:
        return waiting
    ranked = selectors.ranked_queries(run.pk)
    return [part for part in slices if not ranked.issuperset(part)]


def _queries_of(slices: Sequence[Sequence[int]]) -> int:
    return sum(map(len, slices))


def _answering(run: Run) -> str:
    return f"{run.system.name} answers the queries"


@contextmanager
def answerer(run: Run) -> Iterator[Answer]:
    """What answers the queries of a run, ready for work, by the kind of its system."""
    if run.system.kind == SystemKind.FUSION:
        yield fusing(run)
        return
    engine = engine_of(run.system)
    with using_system(run.system, run.snapshot) as handle:
        yield lambda query_ids: engine.search(handle, selectors.query_texts(query_ids), run.depth)


def fusing(run: Run) -> Answer:
    """Fuses what the run's components found, which are complete. A query takes as long as with all of them in turn."""
    fusion = fusion_of(run.system)
    components = selectors.components_of(run)
    column = {component.pk: number for number, component in enumerate(components)}

    def answer(query_ids: Sequence[int]) -> Hits:
        rows = Ranking.objects.filter(run__in=components, query__in=query_ids)
        tops = {pk: [np.zeros(0, dtype=np.int32)] * len(components) for pk in query_ids}
        seconds = dict.fromkeys(query_ids, 0.0)
        for run_id, query_id, packed, latency in rows.values_list("run_id", "query_id", "packed", "latency_ms"):
            tops[query_id][column[run_id]] = ranking.unpack(bytes(packed))[0]
            seconds[query_id] += np.nan if latency is None else latency / 1000
        found = one_by_one(lambda pk: fusion.fuse(tops[pk], run.depth), query_ids, run.depth)
        return found._replace(seconds=found.seconds + np.array([seconds[pk] for pk in query_ids]))

    return answer


def write_rankings(run: Run, query_ids: Sequence[int], found: Hits, ranked: Collection[int] = ()) -> None:
    """One row a query, an empty one where nothing was found; queries that are `ranked` already are left out."""
    rows = []
    for number, query_id in enumerate(query_ids):
        if query_id in ranked:
            continue
        positions, scores = found.of(number)
        taken = float(found.seconds[number])
        milliseconds = None if np.isnan(taken) else taken * 1000
        rows.append((run.pk, query_id, ranking.pack(positions, scores), len(positions), milliseconds))
    insert_rows(Ranking, ("run_id", "query_id", "packed", "length", "latency_ms"), rows)


def complete_run(run: Run, *, actor: Any, at: datetime) -> Run:
    """Seal a run: count it, take its digest and its latencies. Nothing about its rankings changes afterwards."""
    rows = Ranking.objects.filter(run=run).values_list("query__outside_id", "packed", "latency_ms")
    lines, times = [], []
    for outside_id, packed, latency in rows.iterator(chunk_size=ROWS_AT_ONCE):
        lines.append((outside_id, sha256_hex(bytes(packed))))
        if latency is not None:
            times.append(latency)
    digest = rankings_digest(run.snapshot.digest, lines)
    summary = latency_summary(times)
    changes = {"digest": digest, "query_count": len(lines), "latency": summary, "completed_at": at, "failure": ""}
    return workflow.move_run(run.pk, Step.COMPLETE, actor=actor, at=at, **changes)


def rankings_digest(snapshot_digest: str, lines: Sequence[tuple[str, str]]) -> str:
    """SHA-256 over the snapshot's digest and, by outside id bytewise, each query with its packed ranking's."""
    ordered = sorted(lines, key=lambda line: line[0].encode())
    return digest_of_lines([snapshot_digest, *(f"{query}\t{digest}" for query, digest in ordered)])


def latency_summary(times: Sequence[float]) -> dict[str, float]:
    """Percentiles (linear between neighbours) and mean in milliseconds, of n queries; empty when none was timed."""
    if not times:
        return {}
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    values = {"p50": p50, "p95": p95, "p99": p99, "mean": np.mean(times)}
    return {key: round(float(value), 4) for key, value in values.items()} | {"n": len(times)}


def spread(number: int) -> float:
    """0, 1/2, 1/4, 3/4, 1/8, …: each start lies in the middle of the widest stretch between those before it
    (van der Corput 1935).
    """
    share, place = 0.5, 0.0
    while number:
        number, digit = divmod(number, 2)
        place += digit * share
        share /= 2
    return place
