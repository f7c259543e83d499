"""Spending a pool's budget: which pairs its runs may add, given what has been judged."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from apps.jobs.execution.context import JobContext
from apps.retrieval import selectors
from apps.retrieval.core import pooling, ranking
from apps.retrieval.core.allocation import CandidateOutcome, KnownCandidates, PoolStanding, Room, allocate
from apps.retrieval.core.pooling import Ints
from apps.retrieval.core.sampling import SAME, PoolPlan
from apps.retrieval.enums import ADAPTIVE
from apps.retrieval.models import Pool, PoolEntry, Ranking, Run
from apps.retrieval.selectors import known_grades

Write = Callable[[Pool, Sequence[int], pooling.Union, Ints], None]
QUERIES_AT_ONCE = 200


class Stored(NamedTuple):
    """The pairs a pool has, as columns: query, position, whether runs brought it, whether it was sampled at random."""

    query: Ints
    position: Ints
    is_found: np.ndarray
    is_drawn: np.ndarray


def spend_budget(
    ctx: JobContext, pool: Pool, runs: Sequence[Run], query_ids: Sequence[int], plan: PoolPlan, write: Write
) -> None:
    """Bring the pool to its budget, once: all queries compete for it, so all of it is written in one go.

    A restart finds the budget spent and chooses nothing more.
    """
    versions = selectors.version_ids(pool.snapshot)
    candidates = candidates_of(runs, query_ids, pool.depth)
    stored = stored_pairs(pool, versions)
    room = room_left(stored, query_ids, plan)
    grades = known_grades.grades_of(pool) if plan.method in ADAPTIVE else {}
    known = known_of(candidates, stored, grades, versions)
    chosen = allocate(plan.method, candidates, known, room, plan.seed + int(stored.is_found.sum()))
    kept = np.union1d(chosen, np.flatnonzero(known.standing == PoolStanding.TAKEN))
    ctx.check()
    with ctx.chunk("pool:budget") as fresh:
        if fresh:
            taken = pooling.only(candidates, kept)
            for part in selectors.in_parts(query_ids, QUERIES_AT_ONCE):
                write(pool, part, pooling.only(taken, np.flatnonzero(np.isin(taken.query, part))), versions)


def candidates_of(runs: Sequence[Run], query_ids: Sequence[int], depth: int) -> pooling.Union:
    """Everything the runs found for the queries down to `depth`."""
    tops = []
    for part in selectors.in_parts(query_ids, QUERIES_AT_ONCE):
        rows = Ranking.objects.filter(run__in=runs, query__in=part).values_list("run_id", "query_id", "packed")
        tops += [(run, query, ranking.unpack(bytes(packed))[0][:depth]) for run, query, packed in rows.iterator()]
    return pooling.union(pooling.columns(tops), depth)


def stored_pairs(pool: Pool, versions: Ints) -> Stored:
    """The pairs of the pool, in no particular order. What says the same as another was paid for like any other."""
    rows = PoolEntry.objects.filter(pool=pool).values_list("query_id", "version_id", "found_by", "sampled")
    kept = [
        (query, version, bool(found), sampled is not None and sampled["how"] != SAME)
        for query, version, found, sampled in rows.iterator()
    ]
    query, version, found, sampled = (
        (np.array(column) for column in zip(*kept, strict=True)) if kept else [_NOTHING] * 4
    )
    return Stored(query, positions_of(version, versions), found.astype(bool), sampled.astype(bool))


_NOTHING = np.zeros(0, dtype=np.int64)


def positions_of(wanted: Ints, versions: Ints) -> Ints:
    """Where each block version stands in its snapshot."""
    order = np.argsort(versions)
    return order[np.searchsorted(versions, wanted, sorter=order)]


def room_left(stored: Stored, query_ids: Sequence[int], plan: PoolPlan) -> Room:
    """How many pairs the budget still allows. Pairs that chance brought in were not paid from it."""
    spent = stored.query[stored.is_found & ~stored.is_drawn]
    if not plan.each:
        return max(0, plan.pairs - len(spent))
    queries, counts = np.unique(spent, return_counts=True)
    had = dict(zip(queries.tolist(), counts.tolist(), strict=True))
    return {query: max(0, plan.pairs - had.get(query, 0)) for query in query_ids}


def known_of(
    candidates: pooling.Union, stored: Stored, grades: Mapping[tuple[int, int], int], versions: Ints
) -> KnownCandidates:
    """How each candidate stands to the pool, and what its grade says."""
    size, width = len(candidates.query), len(versions)
    standing = np.full(size, PoolStanding.OPEN, dtype=np.int64)
    outcome = np.full(size, CandidateOutcome.UNKNOWN, dtype=np.int64)
    keys = candidates.query * width + candidates.position
    for is_found, as_what in ((True, PoolStanding.TAKEN), (False, PoolStanding.DRAWN)):
        chosen = stored.is_found == is_found
        standing[np.isin(keys, stored.query[chosen] * width + stored.position[chosen])] = as_what
    if grades:
        query, version = np.array(list(grades), dtype=np.int64).T
        graded = query * width + positions_of(version, versions)
        order = np.argsort(graded)
        at = order[np.searchsorted(graded, keys, sorter=order) % len(graded)]
        is_relevant = np.array(list(grades.values()))[at] >= known_grades.RELEVANT_FROM
        outcome = np.where(graded[at] == keys, is_relevant.astype(np.int64), outcome)
    return KnownCandidates(standing, outcome)
