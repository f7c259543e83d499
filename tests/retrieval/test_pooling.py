"""Pools to a depth, their overlap, and which texts of a query are judged for others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.corpus.core.near_duplicates import resemblance, signature
from apps.retrieval.core import pooling
from apps.retrieval.core.pooling import Representative, representatives


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


LONG = " ".join(f"word{number}" for number in range(100))
NEARLY = LONG.replace("word50", "other")
FURTHER = NEARLY.replace("word20", "third")
ELSE = " ".join(f"thing{number}" for number in range(100))


def representatives_of(texts, new, judged=(), digests=None):
    """What stands for the new texts, by place in `texts`."""
    names = list(texts)
    return representatives(
        [names.index(each) for each in judged],
        [names.index(each) for each in new],
        digests or {place: texts[name] for place, name in enumerate(names)},
        {place: signature(texts[name]) for place, name in enumerate(names)},
        lambda one, other: resemblance(texts[names[one]], texts[names[other]]),
    )


def test_the_first_of_equal_texts_is_judged_for_all():
    texts = {"a": LONG, "b": LONG, "c": ELSE, "d": LONG}

    assert representatives_of(texts, "bacd") == {
        0: Representative(1, is_exact=True),
        3: Representative(1, is_exact=True),
    }
    assert representatives_of(texts, "dcab") == {
        0: Representative(3, is_exact=True),
        1: Representative(3, is_exact=True),
    }


def test_a_text_with_a_word_changed_is_near_and_not_exact():
    assert representatives_of({"a": LONG, "b": NEARLY}, "ab") == {1: Representative(0, is_exact=False)}


def test_the_same_text_under_another_title_is_near():
    assert representatives_of({"a": LONG, "b": LONG}, "ab", digests={0: "one title", 1: "another"}) == {
        1: Representative(0, is_exact=False)
    }


def test_likeness_does_not_carry_from_text_to_text():
    texts = {"a": LONG, "b": NEARLY, "c": FURTHER}
    assert resemblance(LONG, NEARLY) > 0.9
    assert resemblance(NEARLY, FURTHER) > 0.9 > resemblance(LONG, FURTHER)

    assert representatives_of(texts, "abc") == {1: Representative(0, is_exact=False)}


def test_a_text_may_be_near_to_two_and_goes_to_the_nearer():
    texts = {"a": LONG, "c": FURTHER, "b": FURTHER.replace("word80", "fourth").replace("word20", "third")}

    assert representatives_of(texts, "acb") == {2: Representative(1, is_exact=False)}


def test_a_judged_text_represents_new_texts_and_is_never_represented():
    texts = {"a": LONG, "b": LONG, "c": NEARLY, "d": LONG}

    assert representatives_of(texts, "d", judged="bac") == {3: Representative(1, is_exact=True)}


def test_an_estimate_that_promises_too_much_is_compared_word_by_word():
    alike = {0: np.zeros(64, dtype=np.uint32), 1: np.zeros(64, dtype=np.uint32)}

    assert representatives([], [0, 1], {0: "x", 1: "y"}, alike, lambda one, other: 0.89) == {}
    assert representatives([], [0, 1], {0: "x", 1: "y"}, alike, lambda one, other: 0.9) == {
        1: Representative(0, is_exact=False)
    }


@pytest.mark.parametrize("texts", [{}, {"a": LONG}, {"a": LONG, "b": ELSE}, {"a": "", "b": "."}])
def test_different_texts_are_all_judged(texts):
    assert representatives_of(texts, list(texts)) == {}
