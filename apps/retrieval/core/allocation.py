"""Allocation of a budget of judgements: which of the pairs that runs found are judged next.

Three methods, all deterministic for a given seed: `rrf` by fused rank, without judgements; `move_to_front` and
`bandit`, which use the judgements so far. A batch is chosen with the judgements at its start.
"""

from collections.abc import Mapping
from enum import IntEnum
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.core.pooling import Ints, Union

Floats = NDArray[np.float64]
Budget = int | Mapping[int, int]

FUSION_CONSTANT = 60
BANDIT_CONSTANT = 20
PRIOR_STRENGTH = 4.0
SERVED_AT_ONCE = 0.1
MOST_TURNS = 500


class CandidateState(IntEnum):
    """Whether a candidate is not in the pool, was sampled into it at random, or was taken from a run."""

    OPEN = 0
    SAMPLED = 1
    TAKEN = 2


class CandidateOutcome(IntEnum):
    UNKNOWN = -1
    NOT_RELEVANT = 0
    RELEVANT = 1


class KnownCandidates(NamedTuple):
    """The `CandidateState` and the `CandidateOutcome` of each pair of a `Union`, in its order."""

    state: Ints
    outcome: Ints


def allocate(method: str, candidates: Union, known: KnownCandidates, budget: Budget, seed: int) -> Ints:
    """The candidates to judge next, as indices in `candidates`, in the order of choice.

    `budget` is how many pairs may be added: in total, or for each query. A pair that was sampled at random may be
    chosen too and costs nothing, because it is in the pool already; from then on it counts as brought by runs.
    `method` is `rrf`, `move_to_front` or `bandit`; any other raises KeyError.
    """
    choose = {"rrf": _by_fused_rank, "move_to_front": _move_to_front, "bandit": _bandit}[method]
    if not len(candidates.query):
        return np.zeros(0, dtype=np.int64)
    return choose(candidates, known, budget, np.random.default_rng(seed))


def fused_scores(candidates: Union) -> Floats:
    """For each pair the sum of 1 / (constant + rank): reciprocal-rank fusion (Cormack, Clarke and Büttcher 2009)."""
    return np.add.reduceat(1.0 / (FUSION_CONSTANT + candidates.rank), candidates.offsets[:-1])


def _by_fused_rank(candidates: Union, known: KnownCandidates, budget: Budget, rng: np.random.Generator) -> Ints:
    """The best candidates by reciprocal-rank fusion; the seed decides ties."""
    ties = rng.permutation(len(candidates.query))
    order = np.lexsort((ties, -fused_scores(candidates)))
    order = order[known.state[order] != CandidateState.TAKEN]
    cost = (known.state[order] == CandidateState.OPEN).astype(np.int64)
    if isinstance(budget, int):
        return order[np.cumsum(cost) - cost < budget]
    by_query = np.argsort(candidates.query[order], kind="stable")
    order, cost = order[by_query], cost[by_query]
    queries, starts, sizes = np.unique(candidates.query[order], return_index=True, return_counts=True)
    spent = np.cumsum(cost) - cost
    budgets = np.array([budget.get(query, 0) for query in queries.tolist()], dtype=np.int64)
    return order[spent - np.repeat(spent[starts], sizes) < np.repeat(budgets, sizes)]


def _move_to_front(candidates: Union, known: KnownCandidates, budget: Budget, rng: np.random.Generator) -> Ints:
    """Move-to-front pooling (Cormack, Palmer and Clarke 1998, "Efficient construction of large test collections").

    A run of a query is read while it brings relevant blocks; after each block that is not relevant it goes behind the
    runs with fewer such blocks. Of runs with equally many, the one whose next block is best by fused rank is first.
    Each batch repeats the whole walk with the judgements made since. A block without a judgement counts as not
    relevant, so that one batch does not read a single run all the way down.
    """
    arms, fused = _arms(candidates), fused_scores(candidates)
    if isinstance(budget, int):
        return np.array(_walk(list(arms), arms, fused, known, budget, rng), dtype=np.int64)
    chosen: list[int] = []
    by_query: dict[int, list[tuple[int, int]]] = {}
    for arm in arms:
        by_query.setdefault(arm[0], []).append(arm)
    for query, own in by_query.items():
        chosen += _walk(own, arms, fused, known, budget.get(query, 0), rng)
    return np.array(chosen, dtype=np.int64)


def _walk(
    turns: list[tuple[int, int]],
    arms: Mapping[tuple[int, int], list[int]],
    fused: Floats,
    known: KnownCandidates,
    budget: int,
    rng: np.random.Generator,
) -> list[int]:
    """The candidates from a queue of runs until `budget` is used up; the seed decides what is still tied."""
    ties = rng.permutation(len(turns)).tolist()
    queue = [(0, -fused[arms[arm][0]], tie, 0, arm) for tie, arm in zip(ties, turns, strict=True)]
    heapify(queue)
    chosen: list[int] = []
    seen: set[int] = set()
    spent = 0
    while queue and spent < budget:
        misses, _, tie, down, arm = heappop(queue)
        pairs = arms[arm]
        while down < len(pairs) and spent < budget:
            pair = pairs[down]
            down += 1
            if pair in seen:
                continue
            seen.add(pair)
            if known.state[pair] != CandidateState.TAKEN:
                chosen.append(pair)
                spent += int(known.state[pair] == CandidateState.OPEN)
            if known.outcome[pair] != CandidateOutcome.RELEVANT:
                misses += 1
                break
        if down < len(pairs):
            heappush(queue, (misses, -fused[pairs[down]], tie, down, arm))
    return chosen


def _arms(candidates: Union) -> dict[tuple[int, int], list[int]]:
    """For each (query, run) its candidates, best rank first."""
    pair = np.repeat(np.arange(len(candidates.query)), candidates.found_by())
    query = candidates.query[pair]
    order = np.lexsort((candidates.rank, candidates.run, query))
    arms: dict[tuple[int, int], list[int]] = {}
    columns = (query[order].tolist(), candidates.run[order].tolist(), pair[order].tolist())
    for key, run, place in zip(*columns, strict=True):
        arms.setdefault((key, run), []).append(place)
    return arms


def _bandit(candidates: Union, known: KnownCandidates, budget: Budget, rng: np.random.Generator) -> Ints:
    """Thompson sampling over the runs of each query (Losada, Parapar and Barreiro 2016, "Feeling lucky? Multi-armed
    bandits for ordering judgements in pooling-based evaluation").

    The precision of a run on a query has a Beta distribution given its judgements; with few of them it depends mostly
    on the run's judgements for all queries. Each turn samples a precision for every run and takes, for every query,
    the block with the largest sum of precision / (20 + rank) over the runs that found it. With one budget for all
    queries, each turn takes a block for the best tenth of the queries, or for more when there would be over 500 turns.
    """
    queries, number = np.unique(candidates.query, return_inverse=True)
    runs, run = np.unique(candidates.run, return_inverse=True)
    pair = np.repeat(np.arange(len(candidates.query)), candidates.found_by())
    place = (number[pair], run)
    good, bad = _beta_parameters(known, place, pair, (len(queries), len(runs)))
    starts = np.searchsorted(candidates.query, queries)
    remaining = _budget_by_query(queries, budget)
    total = budget if isinstance(budget, int) else int(remaining.sum())
    at_once = len(queries)
    if isinstance(budget, int):
        at_once = min(at_once, max(1, round(at_once * SERVED_AT_ONCE), budget // MOST_TURNS))
    is_free = known.state != CandidateState.TAKEN
    chosen: list[int] = []
    while total > 0:
        gain = rng.beta(good, bad)[place] / (BANDIT_CONSTANT + candidates.rank)
        score = np.where(is_free, np.add.reduceat(gain, candidates.offsets[:-1]), -1.0)
        best, value = _best_of_each(score, starts)
        value[remaining <= 0] = -1.0
        served = [at for at in np.argsort(-value, kind="stable")[:at_once].tolist() if value[at] >= 0]
        if not served:
            break
        for at in served:
            if total <= 0:
                break
            picked = int(best[at])
            chosen.append(picked)
            is_free[picked] = False
            cost = int(known.state[picked] == CandidateState.OPEN)
            remaining[at] -= cost
            total -= cost
    return np.array(chosen, dtype=np.int64)


def _beta_parameters(
    known: KnownCandidates, place: tuple[Ints, Ints], pair: Ints, shape: tuple[int, int]
) -> tuple[Floats, Floats]:
    """Both parameters of the Beta distributions, as tables of queries × runs."""
    relevant, judged = np.zeros(shape), np.zeros(shape)
    outcome = known.outcome[pair]
    np.add.at(relevant, place, outcome == CandidateOutcome.RELEVANT)
    np.add.at(judged, place, outcome != CandidateOutcome.UNKNOWN)
    usual = (relevant.sum(axis=0) + 1) / (judged.sum(axis=0) + 2)
    return PRIOR_STRENGTH * usual + relevant, PRIOR_STRENGTH * (1 - usual) + judged - relevant


def _budget_by_query(queries: Ints, budget: Budget) -> Ints:
    """How many pairs may be added for each query."""
    if isinstance(budget, int):
        return np.full(len(queries), budget, dtype=np.int64)
    return np.array([budget.get(query, 0) for query in queries.tolist()], dtype=np.int64)


def _best_of_each(score: Floats, starts: Ints) -> tuple[Ints, Floats]:
    """For each query, whose candidates begin at `starts`, the index and the score of the best one."""
    highest = np.maximum.reduceat(score, starts)
    sizes = np.diff(np.append(starts, len(score)))
    matches = np.flatnonzero(score == np.repeat(highest, sizes))
    first = matches[np.searchsorted(matches, starts)]
    return first, highest
