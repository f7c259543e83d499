"""Where a budget of judgements goes: which of the pairs that runs found are judged next.

Three ways, all of them pure and repeatable from their seed: by fused rank, which asks nobody; move to front and a
bandit, which read the judgements so far. A batch is chosen with what is known when it begins.
"""

from collections.abc import Mapping
from enum import IntEnum
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.core.pooling import Ints, Union

Floats = NDArray[np.float64]
Room = int | Mapping[int, int]

FUSION_CONSTANT = 60
BANDIT_CONSTANT = 20
PRIOR_STRENGTH = 4.0
SERVED_AT_ONCE = 0.1
MOST_TURNS = 500


class PoolStanding(IntEnum):
    """How a candidate stands to the pool: not in it; sampled into it at random; brought in by its runs."""

    OPEN = 0
    DRAWN = 1
    TAKEN = 2


class CandidateOutcome(IntEnum):
    UNKNOWN = -1
    NOT_RELEVANT = 0
    RELEVANT = 1


class KnownCandidates(NamedTuple):
    """What is known of each candidate, beside the pairs of a `Union`: its `PoolStanding` and its `CandidateOutcome`."""

    standing: Ints
    outcome: Ints


def allocate(method: str, candidates: Union, known: KnownCandidates, room: Room, seed: int) -> Ints:
    """The candidates to judge next, as places in `candidates`, in the order in which they were chosen.

    `room` is how many pairs may be added: a number in all, or one for each query. A pair that was sampled at random
    may be chosen too and takes no room: it is in the pool already, and from now on the runs account for it. `method`
    is `rrf`, `move_to_front` or `bandit`; another raises KeyError.
    """
    way = {"rrf": _by_fused_rank, "move_to_front": _move_to_front, "bandit": _bandit}[method]
    if not len(candidates.query):
        return np.zeros(0, dtype=np.int64)
    return way(candidates, known, room, np.random.default_rng(seed))


def fused_scores(candidates: Union, constant: float = FUSION_CONSTANT) -> Floats:
    """Reciprocal-rank fusion (Cormack, Clarke and Büttcher 2009): for each pair the sum of 1 / (constant + rank)."""
    return np.add.reduceat(1.0 / (constant + candidates.rank), candidates.offsets[:-1])


def _by_fused_rank(candidates: Union, known: KnownCandidates, room: Room, rng: np.random.Generator) -> Ints:
    """The best by reciprocal-rank fusion; ties fall as the seed has it."""
    ties = rng.permutation(len(candidates.query))
    order = np.lexsort((ties, -fused_scores(candidates)))
    order = order[known.standing[order] != PoolStanding.TAKEN]
    cost = (known.standing[order] == PoolStanding.OPEN).astype(np.int64)
    if isinstance(room, int):
        return order[np.cumsum(cost) - cost < room]
    by_query = np.argsort(candidates.query[order], kind="stable")
    order, cost = order[by_query], cost[by_query]
    queries, starts, sizes = np.unique(candidates.query[order], return_index=True, return_counts=True)
    spent = np.cumsum(cost) - cost
    rooms = np.array([room.get(query, 0) for query in queries.tolist()], dtype=np.int64)
    return order[spent - np.repeat(spent[starts], sizes) < np.repeat(rooms, sizes)]


def _move_to_front(candidates: Union, known: KnownCandidates, room: Room, rng: np.random.Generator) -> Ints:
    """Move-to-front pooling (Cormack, Palmer and Clarke 1998, "Efficient construction of large test collections").

    Every run of a query keeps its turn while it brings relevant blocks; at each block that is not relevant it steps
    back behind the runs with fewer such blocks. The whole walk is played again with what has been judged since; a
    block without a judgement counts as not relevant, so that one batch does not follow a single run down. Of runs as
    far back as each other, the one whose next block stands best by fused rank goes first.
    """
    arms, fused = _arms(candidates), fused_scores(candidates)
    if isinstance(room, int):
        return np.array(_walk(list(arms), arms, fused, known, room, rng), dtype=np.int64)
    chosen: list[int] = []
    by_query: dict[int, list[tuple[int, int]]] = {}
    for arm in arms:
        by_query.setdefault(arm[0], []).append(arm)
    for query, own in by_query.items():
        chosen += _walk(own, arms, fused, known, room.get(query, 0), rng)
    return np.array(chosen, dtype=np.int64)


def _walk(
    turns: list[tuple[int, int]],
    arms: Mapping[tuple[int, int], list[int]],
    fused: Floats,
    known: KnownCandidates,
    room: int,
    rng: np.random.Generator,
) -> list[int]:
    """The candidates that a queue of runs brings until `room` is used up; full ties go by the seed."""
    ties = rng.permutation(len(turns)).tolist()
    queue = [(0, -fused[arms[arm][0]], tie, 0, arm) for tie, arm in zip(ties, turns, strict=True)]
    heapify(queue)
    chosen: list[int] = []
    seen: set[int] = set()
    spent = 0
    while queue and spent < room:
        misses, _, tie, down, arm = heappop(queue)
        found = arms[arm]
        while down < len(found) and spent < room:
            pair = found[down]
            down += 1
            if pair in seen:
                continue
            seen.add(pair)
            if known.standing[pair] != PoolStanding.TAKEN:
                chosen.append(pair)
                spent += int(known.standing[pair] == PoolStanding.OPEN)
            if known.outcome[pair] != CandidateOutcome.RELEVANT:
                misses += 1
                break
        if down < len(found):
            heappush(queue, (misses, -fused[found[down]], tie, down, arm))
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


def _bandit(candidates: Union, known: KnownCandidates, room: Room, rng: np.random.Generator) -> Ints:
    """Thompson sampling over the runs of each query (Losada, Parapar and Barreiro 2016, "Feeling lucky? Multi-armed
    bandits for ordering judgements in pooling-based evaluation").

    What a run's blocks are worth for a query is a Beta distribution over the judgements there; where little is
    judged it leans on how the run did for all queries. Each turn draws a worth for every run and takes, for every
    query, the block with the greatest sum of worth / (20 + rank) over the runs that found it. Where the budget is
    one in all, the best tenth of the queries are served in a turn; more of them when there would be over 500 turns.
    """
    queries, number = np.unique(candidates.query, return_inverse=True)
    runs, run = np.unique(candidates.run, return_inverse=True)
    pair = np.repeat(np.arange(len(candidates.query)), candidates.found_by())
    place = (number[pair], run)
    good, bad = _believed(candidates, known, place, pair, (len(queries), len(runs)))
    starts = np.searchsorted(candidates.query, queries)
    lefts = _rooms(queries, room)
    in_all = room if isinstance(room, int) else int(lefts.sum())
    at_once = len(queries)
    if isinstance(room, int):
        at_once = min(at_once, max(1, round(at_once * SERVED_AT_ONCE), room // MOST_TURNS))
    is_free = known.standing != PoolStanding.TAKEN
    chosen: list[int] = []
    while in_all > 0:
        worth = rng.beta(good, bad)[place] / (BANDIT_CONSTANT + candidates.rank)
        score = np.where(is_free, np.add.reduceat(worth, candidates.offsets[:-1]), -1.0)
        best, value = _best_of_each(score, starts)
        value[lefts <= 0] = -1.0
        served = [at for at in np.argsort(-value, kind="stable")[:at_once].tolist() if value[at] >= 0]
        if not served:
            break
        for at in served:
            if in_all <= 0:
                break
            picked = int(best[at])
            chosen.append(picked)
            is_free[picked] = False
            cost = int(known.standing[picked] == PoolStanding.OPEN)
            lefts[at] -= cost
            in_all -= cost
    return np.array(chosen, dtype=np.int64)


def _believed(
    candidates: Union, known: KnownCandidates, place: tuple[Ints, Ints], pair: Ints, shape: tuple[int, int]
) -> tuple[Floats, Floats]:
    """The two parameters of each run's Beta distribution, by query and run."""
    relevant, judged = np.zeros(shape), np.zeros(shape)
    outcome = known.outcome[pair]
    np.add.at(relevant, place, outcome == CandidateOutcome.RELEVANT)
    np.add.at(judged, place, outcome != CandidateOutcome.UNKNOWN)
    usual = (relevant.sum(axis=0) + 1) / (judged.sum(axis=0) + 2)
    return PRIOR_STRENGTH * usual + relevant, PRIOR_STRENGTH * (1 - usual) + judged - relevant


def _rooms(queries: Ints, room: Room) -> Ints:
    """How many pairs each query may still get."""
    if isinstance(room, int):
        return np.full(len(queries), room, dtype=np.int64)
    return np.array([room.get(query, 0) for query in queries.tolist()], dtype=np.int64)


def _best_of_each(score: Floats, starts: Ints) -> tuple[Ints, Floats]:
    """For each query, whose candidates begin at `starts`, the place and the score of its best one."""
    highest = np.maximum.reduceat(score, starts)
    sizes = np.diff(np.append(starts, len(score)))
    matches = np.flatnonzero(score == np.repeat(highest, sizes))
    first = matches[np.searchsorted(matches, starts)]
    return first, highest
