import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.core import pooling


def pool_of(*rankings, depth):
    return pooling.union(pooling.columns((r, q, np.array(p)) for r, q, p in rankings), depth)


def rows(pool):
    return {
        (int(pool.query[i]), int(pool.position[i])): [
            [int(pool.run[j]), int(pool.rank[j])] for j in range(pool.offsets[i], pool.offsets[i + 1])
        ]
        for i in range(len(pool.query))
    }


def test_a_pool_is_the_union_of_the_top_results_with_their_provenance():
    pool = pool_of((11, 1, [4, 2, 9]), (12, 1, [2, 7, 4]), (11, 2, [5]), depth=2)

    assert rows(pool) == {
        (1, 2): [[11, 2], [12, 1]],
        (1, 4): [[11, 1]],
        (1, 7): [[12, 2]],
        (2, 5): [[11, 1]],
    }
    assert pool.found_by().tolist() == [2, 1, 1, 1]


def test_no_rankings_make_an_empty_pool():
    pool = pool_of(depth=10)

    assert rows(pool) == {}
    assert pool.offsets.tolist() == [0]


def test_a_run_that_names_a_block_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        pool_of((11, 1, [4, 4]), depth=2)


def test_depth_below_one_is_refused():
    with pytest.raises(ValueError, match="depth"):
        pool_of((11, 1, [4]), depth=0)


def test_selected_pairs_of_a_pool_keep_their_provenance():
    pool = pool_of((11, 1, [4, 2, 9]), (12, 1, [2, 7, 4]), (11, 2, [5]), depth=2)

    assert rows(pooling.only(pool, np.array([0, 2]))) == {(1, 2): [[11, 2], [12, 1]], (1, 7): [[12, 2]]}
    assert rows(pooling.only(pool, np.zeros(0, dtype=np.int64))) == {}


def test_pairs_are_counted_for_every_query_even_those_without_any():
    pool = pool_of((11, 1, [4, 2]), (11, 3, [1]), depth=5)

    counts = pooling.pairs_per_query(pool, np.array([3, 2, 1]))

    assert counts.tolist() == [1, 0, 2]
    assert pooling.spread(counts) == pooling.Spread(smallest=0, median=1.0, largest=2, total=3)


def test_spread_of_nothing_is_zero():
    assert pooling.spread(np.zeros(0, dtype=np.int64)) == pooling.Spread(0, 0.0, 0, 0)


def test_overlap_says_what_runs_share_and_what_each_adds():
    pool = pool_of((11, 1, [1, 2, 3]), (12, 1, [2, 3, 4]), (13, 1, [3]), depth=3)

    overlap = pooling.overlap(pool, np.array([13, 11, 12, 14]))

    assert overlap.runs.tolist() == [11, 12, 13, 14]
    assert overlap.shared.tolist() == [[3, 2, 1, 0], [2, 3, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0]]
    assert overlap.alone.tolist() == [1, 1, 0, 0]
    assert overlap.found_by.tolist() == [0, 2, 1, 1, 0]


def test_at_most_is_limited_by_the_results_by_the_depth_and_by_the_corpus():
    lengths = np.array([[3, 9, 0], [2, 9, 0]])

    assert pooling.at_most(lengths, depth=5, blocks=8) == 5 + 8 + 0
    assert pooling.at_most(np.zeros((0, 3), dtype=np.int64), depth=5, blocks=8) == 0


runs = st.dictionaries(
    st.tuples(st.integers(1, 4), st.integers(1, 3)),
    st.lists(st.integers(0, 9), unique=True, max_size=8),
    max_size=8,
)


@given(runs, st.integers(1, 6))
def test_a_pool_equals_the_sets_written_out(found, depth):
    expected = {}
    for (run, query), positions in sorted(found.items()):
        for rank, position in enumerate(positions[:depth], 1):
            expected.setdefault((query, position), []).append([run, rank])

    pool = pool_of(*((run, query, positions) for (run, query), positions in found.items()), depth=depth)

    assert rows(pool) == expected
    assert list(rows(pool)) == sorted(expected)
    sizes = np.array([[len(found.get((run, query), [])) for query in (1, 2, 3)] for run in (1, 2, 3, 4)])
    assert len(expected) <= pooling.at_most(sizes, depth, blocks=10)
