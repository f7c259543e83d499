"""Spending the budget of a pool: choosing which pairs of its runs are added, from the judgements so far."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from apps.common.database.bulk import chunks
from apps.corpus.models import Snapshot
from apps.jobs.execution.context import JobContext
from apps.metrics.columns import Floats
from apps.metrics.statistics.pair_samples import (
    USUAL_SHARE,
    JudgementPlans,
    assumed_spread,
    judgements_needed,
    spread_of,
)
from apps.metrics.statistics.proportions import normal_quantile
from apps.retrieval.core import pooling
from apps.retrieval.core.allocation import Budget, CandidateOutcome, CandidateState, KnownCandidates, allocate
from apps.retrieval.core.pooling import Ints
from apps.retrieval.core.sampling import PAIRS, SAME, PoolPlan, sample_pairs
from apps.retrieval.enums import ADAPTIVE
from apps.retrieval.execution.passage_location import found_blocks
from apps.retrieval.models import Pool, PoolEntry, Run
from apps.retrieval.selectors import pools
from apps.retrieval.selectors.snapshots import version_ids

Write = Callable[[Pool, Sequence[int], pooling.Union, Ints], None]
QUERIES_AT_ONCE = 200
FEWEST_GRADES = 50
"""From so many grades on their scatter is used, and not the usual one."""
CONFIDENCE = 0.95


class StoredPairs(NamedTuple):
    """The pairs of a pool as columns: query, position, whether a run found it, whether it was chosen or sampled."""

    query: Ints
    position: Ints
    is_found: np.ndarray
    is_sampled: np.ndarray


def spend_budget(
    ctx: JobContext, pool: Pool, runs: Sequence[Run], query_ids: Sequence[int], plan: PoolPlan, write: Write
) -> None:
    """Add pairs until the budget is spent. All queries compete for it, so all pairs are written in one chunk.

    After a restart the budget is spent already, and nothing more is added.
    """
    versions = version_ids(pool.snapshot)
    candidates = candidates_of(runs, query_ids, pool.depth)
    stored = stored_pairs(pool, versions)
    budget = remaining_budget(stored, query_ids, plan)
    grades = pools.grades_of(pool) if plan.method in ADAPTIVE else {}
    known = known_of(candidates, stored, grades, versions)
    chosen = allocate(plan.method, candidates, known, budget, plan.seed + int(stored.is_found.sum()))
    places = np.union1d(chosen, np.flatnonzero(known.state == CandidateState.TAKEN))
    ctx.check()
    with ctx.chunk("pool:budget") as fresh:
        if fresh:
            pairs = pooling.only(candidates, places)
            for part in chunks(query_ids, QUERIES_AT_ONCE):
                write(pool, part, pooling.only(pairs, np.flatnonzero(np.isin(pairs.query, part))), versions)


def sample_budget(
    ctx: JobContext, pool: Pool, runs: Sequence[Run], query_ids: Sequence[int], plan: PoolPlan, write: Write
) -> None:
    """Add a random sample of the pairs of all queries together, each with its probability, in one chunk."""
    versions = version_ids(pool.snapshot)
    candidates = candidates_of(runs, query_ids, pool.depth)
    size = plan.pairs * len(query_ids) if plan.each else plan.pairs
    sampled = sample_pairs(candidates.query, size, plan.seed)
    ctx.check()
    with ctx.chunk("pool:budget") as fresh:
        if fresh:
            pairs = pooling.only(candidates, sampled.positions)
            for part in chunks(query_ids, QUERIES_AT_ONCE):
                write(pool, part, pooling.only(pairs, np.flatnonzero(np.isin(pairs.query, part))), versions)
            PoolEntry.objects.filter(pool=pool).update(sampled={"how": PAIRS, "p": sampled.probability})


class PairsForecast(NamedTuple):
    """What P@`depth` within ± `half_width` costs; `grades` is the number it is computed from, 0 where it is assumed.

    `share` is the share of relevant results that it rests on, `best` the half width with all pairs of all queries.
    """

    depth: int
    half_width: float
    needed: JudgementPlans
    grades: int
    share: float
    best: float


def forecast_pairs(
    snapshot: Snapshot,
    runs: Sequence[Run],
    query_ids: Sequence[int],
    depth: int,
    *,
    half_width: float,
    at_most: int,
    to_run: int = 0,
    sees_grades: bool = True,
) -> PairsForecast:
    """The judgements of whole queries and of sampled pairs, from the grades of these queries' results, if enough are
    known and may be seen; else as `USUAL_SHARE` and `USUAL_LIKENESS` say.

    `at_most` pairs are in the pool if the results of `to_run` systems are not known yet; else they are counted. What
    runs with passages of their own cover is not looked up for it.
    """
    by_id = [run for run in runs if not run.returns_passages]
    candidates = candidates_of(by_id, query_ids, depth)
    values, query = known_relevance(snapshot, candidates) if sees_grades else (np.zeros(0), _NOTHING)
    known = spread_of(values, query, depth) if len(values) >= FEWEST_GRADES else None
    share = float(values.mean()) if known else USUAL_SHARE
    spread = known or assumed_spread(USUAL_SHARE, depth)
    quantile, queries = normal_quantile(CONFIDENCE), len(query_ids)
    pooled = (at_most if to_run else len(candidates.query)) / queries
    needed = judgements_needed(half_width / quantile, spread, queries, pooled)
    best = quantile * spread.error_of_queries(queries)
    return PairsForecast(depth, half_width, needed, len(values) if known else 0, share, best)


def known_relevance(snapshot: Snapshot, candidates: pooling.Union) -> tuple[Floats, Ints]:
    """Of these results, those that are graded: 1 where relevant, else 0, and the query of each."""
    grades = pools.grades_of(Pool(project=snapshot.corpus.project, snapshot=snapshot)) if len(candidates.query) else {}
    nothing = StoredPairs(_NOTHING, _NOTHING, _NOTHING.astype(bool), _NOTHING.astype(bool))
    outcome = known_of(candidates, nothing, grades, version_ids(snapshot)).outcome
    is_known = outcome != CandidateOutcome.UNKNOWN
    return (outcome[is_known] == CandidateOutcome.RELEVANT).astype(np.float64), candidates.query[is_known]


def candidates_of(runs: Sequence[Run], query_ids: Sequence[int], depth: int) -> pooling.Union:
    """The union of the runs' results for the queries down to `depth`."""
    tops = [found_blocks(runs, part, depth) for part in chunks(query_ids, QUERIES_AT_ONCE)]
    return pooling.union(pooling.together(tops), depth)


def stored_pairs(pool: Pool, versions: Ints) -> StoredPairs:
    """The pairs of the pool, in any order. A duplicate text costs budget like any other pair, so it is not sampled."""
    rows = PoolEntry.objects.filter(pool=pool).values_list("query_id", "version_id", "found_by", "sampled")
    pairs = [
        (query, version, bool(found_by), sampled is not None and sampled["how"] != SAME)
        for query, version, found_by, sampled in rows.iterator()
    ]
    query, version, is_found, is_sampled = (
        (np.array(column) for column in zip(*pairs, strict=True)) if pairs else [_NOTHING] * 4
    )
    return StoredPairs(query, positions_of(version, versions), is_found.astype(bool), is_sampled.astype(bool))


_NOTHING = np.zeros(0, dtype=np.int64)


def positions_of(wanted: Ints, versions: Ints) -> Ints:
    """The positions of the block versions `wanted` in the snapshot; `versions` are its versions by position."""
    order = np.argsort(versions)
    return order[np.searchsorted(versions, wanted, sorter=order)]


def remaining_budget(stored: StoredPairs, query_ids: Sequence[int], plan: PoolPlan) -> Budget:
    """How many pairs the budget still allows, in total or by query. Sampled pairs cost nothing."""
    spent = stored.query[stored.is_found & ~stored.is_sampled]
    if not plan.each:
        return max(0, plan.pairs - len(spent))
    queries, counts = np.unique(spent, return_counts=True)
    spent_on = dict(zip(queries.tolist(), counts.tolist(), strict=True))
    return {query: max(0, plan.pairs - spent_on.get(query, 0)) for query in query_ids}


def known_of(
    candidates: pooling.Union, stored: StoredPairs, grades: Mapping[tuple[int, int], int], versions: Ints
) -> KnownCandidates:
    """The state of each candidate in the pool, and whether its grade is relevant."""
    size, width = len(candidates.query), len(versions)
    state = np.full(size, CandidateState.OPEN, dtype=np.int64)
    outcome = np.full(size, CandidateOutcome.UNKNOWN, dtype=np.int64)
    keys = candidates.query * width + candidates.position
    for is_found, new_state in ((True, CandidateState.TAKEN), (False, CandidateState.SAMPLED)):
        chosen = stored.is_found == is_found
        state[np.isin(keys, stored.query[chosen] * width + stored.position[chosen])] = new_state
    if grades:
        query, version = np.array(list(grades), dtype=np.int64).T
        graded = query * width + positions_of(version, versions)
        order = np.argsort(graded)
        at = order[np.searchsorted(graded, keys, sorter=order) % len(graded)]
        is_relevant = np.array(list(grades.values()))[at] >= pools.RELEVANT_FROM
        outcome = np.where(graded[at] == keys, is_relevant.astype(np.int64), outcome)
    return KnownCandidates(state, outcome)
