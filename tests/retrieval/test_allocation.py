"""Budgets: where the next judgements go."""

from itertools import pairwise

import numpy as np
import pytest

from apps.metrics.files.trec_rows import read_qrel_rows, read_run_rows
from apps.retrieval.core import pooling
from apps.retrieval.core.allocation import CandidateOutcome, CandidateState, KnownCandidates, allocate

ADAPTIVE = ("move_to_front", "bandit")
METHODS = ("rrf", *ADAPTIVE)


def pool_of(*rankings, depth=100):
    return pooling.union(pooling.columns((r, q, np.array(p)) for r, q, p in rankings), depth)


def nothing_known(pool):
    size = len(pool.query)
    return KnownCandidates(np.full(size, CandidateState.OPEN), np.full(size, CandidateOutcome.UNKNOWN))


def known_of(pool, relevant=(), other=(), drawn=()):
    """The pairs named by (query, position) are taken, judged relevant or not; those in `drawn` came by chance."""
    known = nothing_known(pool)
    for place, pair in enumerate(zip(pool.query.tolist(), pool.position.tolist(), strict=True)):
        if pair in relevant or pair in other:
            known.state[place] = CandidateState.TAKEN
            known.outcome[place] = CandidateOutcome.RELEVANT if pair in relevant else CandidateOutcome.NOT_RELEVANT
        if pair in drawn:
            known.state[place] = CandidateState.SAMPLED
    return known


def pairs(pool, places):
    return [(int(pool.query[place]), int(pool.position[place])) for place in places]


def test_the_fused_budget_takes_what_several_runs_rank_high():
    pool = pool_of((11, 1, [5, 6, 7]), (12, 1, [6, 8, 5]), (11, 2, [3]))

    chosen = allocate("rrf", pool, nothing_known(pool), 3, seed=0)

    assert pairs(pool, chosen)[:2] == [(1, 6), (1, 5)]
    assert len(chosen) == 3


def test_a_fused_budget_for_each_query_is_full_in_each():
    pool = pool_of((11, 1, [5, 6, 7]), (12, 1, [6, 8, 5]), (11, 2, [3, 4]))

    chosen = allocate("rrf", pool, nothing_known(pool), {1: 2, 2: 1}, seed=0)

    assert sorted(pairs(pool, chosen)) == [(1, 5), (1, 6), (2, 3)]


def test_a_run_keeps_its_turn_while_it_brings_relevant_blocks():
    pool = pool_of((11, 1, [1, 2, 3, 4]), (12, 1, [5, 6, 7, 8]))
    known = known_of(pool, relevant=[(1, 1), (1, 2)], other=[(1, 5)])

    chosen = allocate("move_to_front", pool, known, 1, seed=4)

    assert pairs(pool, chosen) == [(1, 3)]


def test_a_run_steps_back_at_a_block_that_is_not_relevant():
    pool = pool_of((11, 1, [1, 2, 3, 4]), (12, 1, [5, 6, 7, 8]))
    known = known_of(pool, relevant=[(1, 1)], other=[(1, 2), (1, 3), (1, 5)])

    chosen = allocate("move_to_front", pool, known, 1, seed=4)

    assert pairs(pool, chosen) == [(1, 6)]


def test_the_bandit_leans_to_the_run_that_was_right():
    good, bad = list(range(60)), list(range(100, 160))
    pool = pool_of((11, 1, good), (12, 1, bad))
    known = known_of(pool, relevant=[(1, at) for at in range(10)], other=[(1, at) for at in range(100, 110)])

    chosen = pairs(pool, allocate("bandit", pool, known, 20, seed=1))

    assert sum(position < 100 for _, position in chosen) > 15


def test_the_bandit_learns_about_a_run_from_other_queries():
    tops = [(11, query, list(range(40))) for query in range(1, 9)] + [
        (12, query, list(range(100, 140))) for query in range(1, 9)
    ]
    pool = pool_of(*tops)
    judged = [(query, at) for query in range(1, 8) for at in range(10)]
    known = known_of(pool, relevant=judged, other=[(query, at + 100) for query, at in judged])

    chosen = pairs(pool, allocate("bandit", pool, known, {8: 10}, seed=1))

    assert {query for query, _ in chosen} == {8}
    assert sum(position < 100 for _, position in chosen) >= 7


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("budget", [7, {1: 2, 2: 3, 3: 99}])
def test_a_budget_is_used_to_the_full_and_no_further(method, budget):
    pool = pool_of(
        (11, 1, [1, 2, 3, 4]), (12, 1, [4, 5, 6]), (11, 2, [1, 2, 3, 9]), (12, 2, [7, 2]), (13, 3, [5, 6, 7])
    )

    chosen = pairs(pool, allocate(method, pool, nothing_known(pool), budget, seed=5))

    assert len(chosen) == len(set(chosen))
    counts = {query: sum(each == query for each, _ in chosen) for query in (1, 2, 3)}
    assert len(chosen) == 7 if isinstance(budget, int) else counts == {1: 2, 2: 3, 3: 3}


@pytest.mark.parametrize("method", METHODS)
def test_what_the_pool_has_is_not_chosen_again(method):
    pool = pool_of((11, 1, [1, 2, 3, 4]), (12, 1, [4, 5, 6]))
    known = known_of(pool, relevant=[(1, 1)], other=[(1, 4)])

    chosen = pairs(pool, allocate(method, pool, known, 100, seed=5))

    assert sorted(chosen) == [(1, 2), (1, 3), (1, 5), (1, 6)]


@pytest.mark.parametrize("method", METHODS)
def test_a_pair_that_chance_brought_in_takes_no_room(method):
    pool = pool_of((11, 1, [1, 2, 3, 4]))
    known = known_of(pool, drawn=[(1, 1)])

    chosen = pairs(pool, allocate(method, pool, known, 2, seed=5))

    assert chosen == [(1, 1), (1, 2), (1, 3)]


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_chooses_the_same(method):
    pool = pool_of(*((run, query, [query * 7 + run * at for at in range(1, 9)]) for run in (1, 2) for query in (1, 2)))

    first, again = (allocate(method, pool, nothing_known(pool), 9, seed=3) for _ in range(2))

    assert first.tolist() == again.tolist()


@pytest.mark.parametrize("method", METHODS)
def test_no_candidates_and_no_room_choose_nothing(method):
    pool = pool_of((11, 1, [1, 2]))

    assert allocate(method, pool_of(), nothing_known(pool_of()), 5, seed=0).tolist() == []
    assert allocate(method, pool, nothing_known(pool), 0, seed=0).tolist() == []
    assert allocate(method, pool, nothing_known(pool), {1: 0}, seed=0).tolist() == []


RUNS = ("org_convdr", "org_convdr_bert", "org_manual_ance", "org_manual_ance_bert", "org_manual_bm25")


@pytest.fixture(scope="module")
def cast(shared_data):
    """The candidates of the five runs over the judged turns of CAsT 2021, and which of them are relevant."""
    folder = shared_data / "cast2021_runs"
    qrels = read_qrel_rows(folder / "trec-cast-qrels-docs.2021.qrel")
    grades = {(row.query_id, row.block_id): row.grade for row in qrels}
    queries = {name: at for at, name in enumerate(sorted({query for query, _ in grades}))}
    blocks: dict[str, int] = {}
    rankings = []
    for number, name in enumerate(RUNS):
        tops: dict[str, list] = {}
        for row in read_run_rows(folder / f"{name}.run"):
            if row.query_id in queries:
                tops.setdefault(row.query_id, []).append((-row.score, row.block_id))
        for query, found in tops.items():
            places = [blocks.setdefault(block, len(blocks)) for _, block in sorted(found)]
            rankings.append((number, queries[query], np.array(places)))
    pool = pooling.union(pooling.columns(rankings), 1000)
    names, asked = list(blocks), list(queries)
    relevant = np.array(
        [grades.get((asked[query], names[position]), 0) >= 1
         for query, position in zip(pool.query.tolist(), pool.position.tolist(), strict=True)]
    )  # fmt: skip
    return pool, relevant


def judged_in_batches(method, pool, relevant, budget, batches=10, seed=1, room_of=int):
    """How many relevant pairs a budget finds when it is judged batch by batch; `room_of` divides a batch's share."""
    known = nothing_known(pool)
    for batch in range(batches):
        step = budget * (batch + 1) // batches - budget * batch // batches
        chosen = allocate(method, pool, known, room_of(step), seed=seed + batch)
        known.state[chosen] = CandidateState.TAKEN
        known.outcome[chosen] = relevant[chosen]
    taken = known.state == CandidateState.TAKEN
    assert taken.sum() == budget or room_of is not int
    return int(relevant[taken].sum())


def depth_k(pool, relevant, budget):
    """The same budget spent from the top of every run down, rank by rank; within a rank by what several found."""
    best = np.minimum.reduceat(pool.rank, pool.offsets[:-1])
    order = np.lexsort((-pool.found_by(), best))[:budget]
    return int(relevant[order].sum())


@pytest.mark.slow
@pytest.mark.parametrize("budget", [790, 1_580, 3_160, 4_740, 7_900])
def test_adaptive_pooling_finds_more_than_a_depth_at_the_same_budget(cast, budget):
    """158 turns, five runs; the judge knows the track's grades, and what the track did not judge is not relevant."""
    pool, relevant = cast

    by_depth = depth_k(pool, relevant, budget)
    found = {method: judged_in_batches(method, pool, relevant, budget) for method in ADAPTIVE}

    assert all(hits > by_depth for hits in found.values()), (by_depth, found)


@pytest.mark.parametrize("each", [5, 20, 50])
def test_adaptive_pooling_finds_more_than_a_depth_in_each_query_too(cast, each):
    """The same number of pairs for every turn, so that nothing is won by giving more to the easy ones."""
    pool, relevant = cast
    queries, starts = np.unique(pool.query, return_index=True)
    best = np.minimum.reduceat(pool.rank, pool.offsets[:-1])
    by_depth = 0
    for start, end in pairwise([*starts.tolist(), len(pool.query)]):
        order = np.lexsort((-pool.found_by()[start:end], best[start:end]))[:each]
        by_depth += int(relevant[start:end][order].sum())

    found = {
        method: judged_in_batches(
            method, pool, relevant, each, batches=5, room_of=lambda step: dict.fromkeys(queries.tolist(), step)
        )
        for method in ADAPTIVE
    }

    assert all(hits > by_depth for hits in found.values()), (by_depth, found)
