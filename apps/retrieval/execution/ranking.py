"""Ranking the queries of a run with its system, in slices; each slice is written exactly once."""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from random import Random
from typing import Any

import numpy as np

from apps.common.database.bulk import chunks, insert_rows
from apps.common.digests import digest_of, digest_of_lines, sha256_hex
from apps.jobs.actions.jobs import enqueue
from apps.jobs.enums import JobState
from apps.jobs.execution.context import JobContext, JobFailed
from apps.jobs.models import Job
from apps.metrics.expected.rules import Returned
from apps.retrieval import workflow
from apps.retrieval.core import ranking
from apps.retrieval.core.engines.base import Hits, one_by_one
from apps.retrieval.core.ranking import as_stored
from apps.retrieval.enums import HELP, INDEXED, RunState, Step, SystemKind
from apps.retrieval.execution.indexes import engine_of, fusion_of, using_system
from apps.retrieval.execution.pool_building import ROWS_AT_ONCE
from apps.retrieval.models import Ranking, Run
from apps.retrieval.selectors.question_sets import IDS_AT_ONCE, query_texts
from apps.retrieval.selectors.runs import components_of, ranked_queries

QUERIES_AT_ONCE = 100
ENOUGH_TO_SHARE = 5
MOST_HELPERS = 15

Answer = Callable[[Sequence[int]], Hits]
"""Takes query ids and returns the hits of the run's system, in their order."""


class RunEnded(JobFailed):
    """The run ended while its queries were being answered, so the answers cannot be written."""


class Steps:
    """The progress of a job over all its parts, counted in queries."""

    def __init__(self, ctx: JobContext, total: int) -> None:
        self.ctx = ctx
        self.total = total
        self.done = 0

    def add(self, queries: int, text: str) -> None:
        self.done += queries
        self.ctx.progress(self.done, self.total, text)


def answer_queries(ctx: JobContext, run: Run, query_ids: Sequence[int], steps: Steps) -> None:
    """Rank the queries without a ranking, slice by slice, and complete the run.

    For a large run, idle workers are called as helpers. Each slice is written once, whoever answers it.
    """
    slices = list(chunks(query_ids, QUERIES_AT_ONCE))
    done = len(query_ids) - _queries_in(unanswered_slices(run, slices))
    steps.add(done, _progress_text(run))

    def on_progress(unanswered: Sequence[Sequence[int]]) -> None:
        nonlocal done
        now = len(query_ids) - _queries_in(unanswered)
        steps.add(now - done, _progress_text(run))
        done = now

    answer_slices(ctx, run, slices, on_progress)
    with ctx.chunk(f"run:{run.pk}:complete") as fresh:
        if fresh:
            complete_run(run, actor=ctx.actor, at=ctx.at)


def help_with(ctx: JobContext, run: Run, query_ids: Sequence[int], number: int) -> None:
    """Answer slices of another job's run until none is left, as its helper `number`. The other job completes it."""
    slices = list(chunks(query_ids, QUERIES_AT_ONCE))
    start = int(len(slices) * van_der_corput(number))
    try:
        answer_slices(ctx, run, slices, lambda unanswered: ctx.progress(0, None, _progress_text(run)), start)
    except RunEnded:
        return


def answer_slices(
    ctx: JobContext,
    run: Run,
    slices: Sequence[Sequence[int]],
    on_progress: Callable[[Sequence[Sequence[int]]], None],
    start: int = 0,
) -> None:
    """Answer slices until none is left. `on_progress` is called with the unanswered slices, first and after each slice.

    Begins at index `start` and goes forward; after a slice that another worker answered, it goes on at a random one.
    So two workers rarely choose the same slice. If they do, the lock on the run decides whose answer is written.
    """
    unanswered = unanswered_slices(run, slices)
    on_progress(unanswered)
    if not unanswered:
        return
    index_of, rng = {part[0]: number for number, part in enumerate(slices)}, Random(ctx.job_id)
    with answerer(run) as answer:
        request_helper(ctx, run, len(unanswered))
        last = start - 1
        while unanswered:
            free = {index_of[part[0]] for part in unanswered}
            last = last + 1 if last + 1 in free else rng.choice(sorted(free))
            answer_slice(ctx, run, slices[last], answer)
            unanswered = unanswered_slices(run, unanswered)
            if slices[last] in unanswered:
                raise RuntimeError(f"The queries from {slices[last][0]} on have results, but no ranking.")
            on_progress(unanswered)


def request_helper(ctx: JobContext, run: Run, unanswered: int) -> None:
    """Queue one helper job when enough slices are unanswered. Each helper queues the next, so as many take part as
    workers are idle; a helper that starts too late has nothing to do.
    """
    if unanswered < ENOUGH_TO_SHARE or run.system.kind not in INDEXED:
        return
    with ctx.chunk(f"run:{run.pk}:help:{ctx.attempt}") as fresh:
        helpers = Job.objects.filter(kind=HELP, project_id=run.project_id, params__run_id=run.pk)
        if fresh and not helpers.filter(state=JobState.QUEUED).exists() and helpers.open().count() < MOST_HELPERS:
            params = {"run_id": run.pk, "job_id": run.job_id, "number": helpers.count() + 1}
            title = f"Help with {run.tag}"
            enqueue(kind=HELP, params=params, project=run.project, actor=ctx.actor, at=ctx.at, title=title)


def answer_slice(ctx: JobContext, run: Run, query_ids: Sequence[int], answer: Answer) -> None:
    """Answer the queries; with the run locked, write the rankings of those that have none. Raises RunEnded."""
    hits = answer(query_ids)
    with ctx.chunk(f"run:{run.pk}:{query_ids[0]}") as fresh:
        if fresh:
            state = Run.objects.select_for_update(no_key=True).values_list("state", flat=True).get(pk=run.pk)
            if state != RunState.PENDING:
                raise RunEnded(f"The run {run.tag} is {RunState(state).label}; nothing is added to it.")
            ranked = set(Ranking.objects.filter(run=run, query__in=query_ids).values_list("query_id", flat=True))
            write_rankings(run, query_ids, hits, ranked)


def unanswered_slices(run: Run, slices: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """The slices without a ranking. A slice is written whole, so only its first and last query are checked.

    An older version may have cut the slices elsewhere, so every query is checked before the result is empty.
    """
    ends = {pk for part in slices for pk in (part[0], part[-1])}
    ranked: set[int] = set()
    for part in chunks(sorted(ends), IDS_AT_ONCE):
        ranked.update(Ranking.objects.filter(run=run, query__in=part).values_list("query_id", flat=True))
    unanswered = [part for part in slices if part[0] not in ranked or part[-1] not in ranked]
    if unanswered or not slices:
        return unanswered
    ranked = ranked_queries(run.pk)
    return [part for part in slices if not ranked.issuperset(part)]


def _queries_in(slices: Sequence[Sequence[int]]) -> int:
    return sum(map(len, slices))


def _progress_text(run: Run) -> str:
    return f"{run.system.name} answers the queries"


@contextmanager
def answerer(run: Run) -> Iterator[Answer]:
    """The function that answers the queries of a run; its index is open meanwhile."""
    if run.system.kind == SystemKind.FUSION:
        yield fusion_answer(run)
        return
    engine = engine_of(run.system)
    with using_system(run.system, run.snapshot) as handle:
        yield lambda query_ids: engine.search(handle, query_texts(query_ids), run.depth)


def fusion_answer(run: Run) -> Answer:
    """Fuses the rankings of the run's components, which must be complete. The time of a query is the sum of theirs."""
    fusion = fusion_of(run.system)
    components = components_of(run)
    column = {component.pk: number for number, component in enumerate(components)}

    def answer(query_ids: Sequence[int]) -> Hits:
        rows = Ranking.objects.filter(run__in=components, query__in=query_ids)
        tops = {pk: [np.zeros(0, dtype=np.int32)] * len(components) for pk in query_ids}
        seconds = dict.fromkeys(query_ids, 0.0)
        for run_id, query_id, packed, latency in rows.values_list("run_id", "query_id", "packed", "latency_ms"):
            tops[query_id][column[run_id]] = ranking.unpack(bytes(packed))[0]
            seconds[query_id] += np.nan if latency is None else latency / 1000
        hits = one_by_one(lambda pk: fusion.fuse(tops[pk], run.depth), query_ids, run.depth)
        return hits._replace(seconds=hits.seconds + np.array([seconds[pk] for pk in query_ids]))

    return answer


def write_rankings(
    run: Run,
    query_ids: Sequence[int],
    hits: Hits,
    ranked: Collection[int] = (),
    passages: Sequence[Sequence[Returned]] | None = None,
) -> None:
    """Write one row per query, an empty ranking for a query without hits. Queries in `ranked` are left out.

    Of a run that returns passages of its own, `passages` has those of each query.
    """
    rows = []
    for number, query_id in enumerate(query_ids):
        if query_id in ranked:
            continue
        positions, scores = hits.of(number)
        seconds = float(hits.seconds[number])
        milliseconds = None if np.isnan(seconds) else seconds * 1000
        own = None if passages is None else json.dumps(as_stored(passages[number]))
        length = len(positions) if passages is None else len(passages[number])
        rows.append((run.pk, query_id, ranking.pack(positions, scores), length, milliseconds, own))
    insert_rows(Ranking, ("run_id", "query_id", "packed", "length", "latency_ms", "passages"), rows)


def complete_run(run: Run, *, actor: Any, at: datetime) -> Run:
    """Complete a run: store its number of queries, digest and latencies. Its rankings never change afterwards."""
    rows = Ranking.objects.filter(run=run).values_list("query__outside_id", "packed", "passages", "latency_ms")
    lines, times = [], []
    for outside_id, packed, passages, latency in rows.iterator(chunk_size=ROWS_AT_ONCE):
        lines.append((outside_id, sha256_hex(bytes(packed)) if passages is None else digest_of(passages)))
        if latency is not None:
            times.append(latency)
    digest = rankings_digest(run.snapshot.digest, lines)
    summary = latency_summary(times)
    changes = {"digest": digest, "query_count": len(lines), "latency": summary, "completed_at": at, "failure": ""}
    return workflow.move_run(run.pk, Step.COMPLETE, actor=actor, at=at, **changes)


def rankings_digest(snapshot_digest: str, lines: Sequence[tuple[str, str]]) -> str:
    """SHA-256 over the snapshot's digest and the (outside id, digest of the ranking) of each query.

    The digest of a ranking is that of its packed bytes, or of its passages as canonical JSON.

    `lines` may be in any order; they are sorted by outside id, bytewise.
    """
    ordered = sorted(lines, key=lambda line: line[0].encode())
    return digest_of_lines([snapshot_digest, *(f"{query}\t{digest}" for query, digest in ordered)])


def latency_summary(times: Sequence[float]) -> dict[str, float]:
    """Percentiles (linear between neighbours), mean and n of times in milliseconds; empty without times."""
    if not times:
        return {}
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    values = {"p50": p50, "p95": p95, "p99": p99, "mean": np.mean(times)}
    return {key: round(float(value), 4) for key, value in values.items()} | {"n": len(times)}


def van_der_corput(number: int) -> float:
    """0, 1/2, 1/4, 3/4, 1/8, … (van der Corput 1935): each value is in the middle of the widest gap so far."""
    digit_value, value = 0.5, 0.0
    while number:
        number, digit = divmod(number, 2)
        value += digit * digit_value
        digit_value /= 2
    return value
