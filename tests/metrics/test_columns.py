import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from apps.metrics.columns import in_rank_order, judged_columns, ranked_columns
from apps.metrics.vocabulary import Vocabulary


def ordered(rows: list[tuple[str, str, float]], queries: tuple[str, ...]) -> list[tuple[str, str, float]]:
    blocks = Vocabulary()
    ranked, _ = ranked_columns(rows, queries, blocks)
    ids = [block.decode() for block in blocks]
    columns = in_rank_order(ranked, ids)
    return [(queries[q], ids[b], s) for q, b, s in zip(*(column.tolist() for column in columns[:3]), strict=True)]


def test_judgements_keep_the_order_of_their_queries():
    blocks = Vocabulary()

    judged = judged_columns([("Q2", "a", 1), ("Q1", "b", 0), ("Q2", "b", 3)], blocks)

    assert judged.queries == ("Q2", "Q1")
    assert judged.query.tolist() == [0, 1, 0]
    assert judged.block.tolist() == [0, 1, 1]
    assert judged.grade.tolist() == [1, 0, 3]


def test_rows_of_queries_without_judgements_are_named_and_left_out():
    ranked, unjudged = ranked_columns([("Q9", "a", 1.0), ("Q1", "a", 1.0), ("Q8", "a", 1.0)], ("Q1",), Vocabulary())

    assert unjudged == ("Q8", "Q9")
    assert ranked.query.tolist() == [0]


def test_rows_fall_by_score_then_by_id():
    rows = [("Q1", "a", 1.0), ("Q1", "b", 2.0), ("Q1", "é", 1.0), ("Q1", "z", 1.0)]

    assert [block for _, block, _ in ordered(rows, ("Q1",))] == ["b", "é", "z", "a"]


def test_no_rows_have_an_order_too():
    assert ordered([], ("Q1",)) == []


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["q1", "q2", "q3"]), st.text("abé01", min_size=1, max_size=3)),
        st.sampled_from([0.0, -0.0, 1.0, 2.0]),
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_does_not_depend_on_the_order_of_the_file(scores, chance: random.Random):
    rows = [(query, block, score) for (query, block), score in scores.items()]
    chance.shuffle(rows)
    queries = ("q1", "q2", "q3")

    by_id = sorted(rows, key=lambda row: row[1].encode(), reverse=True)
    expected = sorted(by_id, key=lambda row: (row[0], -row[2]))

    assert ordered(rows, queries) == expected


def test_columns_are_whole_numbers_of_64_bits():
    judged = judged_columns([], Vocabulary())

    assert judged.query.dtype == np.int64


@given(
    st.lists(
        st.tuples(st.text("abé01", min_size=1, max_size=12), st.sampled_from([1.0, 2.0])), unique_by=lambda row: row[0]
    )
)
def test_packed_ids_and_plain_ones_break_ties_alike(rows):
    blocks = Vocabulary()
    ranked, _ = ranked_columns([("Q1", block, score) for block, score in rows], ("Q1",), blocks)

    packed, plain = in_rank_order(ranked, blocks.ids), in_rank_order(ranked, list(blocks))

    assert packed.block.tolist() == plain.block.tolist()


def test_ids_longer_than_a_packed_row_break_ties_as_a_whole():
    long, longer = "a" * 300 + "1", "a" * 300 + "2"
    rows = [("Q1", long, 1.0), ("Q1", longer, 1.0), ("Q1", "b", 1.0), ("Q2", "c", 1.0), ("Q2", long, 1.0)]

    assert [block for _, block, _ in ordered(rows, ("Q1", "Q2"))] == ["b", longer, long, "c", long]
    blocks = Vocabulary()
    ranked, _ = ranked_columns(rows, ("Q1", "Q2"), blocks)
    assert [blocks[number] for number in in_rank_order(ranked, blocks.ids).block.tolist()] == [
        text.encode() for text in ("b", longer, long, "c", long)
    ]
