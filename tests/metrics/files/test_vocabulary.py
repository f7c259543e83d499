import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from apps.metrics import vocabulary
from apps.metrics.vocabulary import Ids, Vocabulary, distinct

IDS = st.lists(st.text("ab é", min_size=1, max_size=3), max_size=30)


@given(st.lists(IDS, max_size=5))
def test_ids_are_numbered_in_the_order_of_their_first_use(calls):
    blocks, numbers = Vocabulary(), {}

    for ids in calls:
        expected = [numbers.setdefault(text, len(numbers)) for text in ids]
        assert blocks.numbers_of(ids).tolist() == expected

    assert list(blocks) == [text.encode() for text in numbers]
    assert len(blocks) == len(numbers)
    assert [blocks[number] for number in range(len(blocks))] == list(blocks)


def test_looking_up_a_number_assigns_none():
    blocks = Vocabulary()
    blocks.numbers_of(["a", "b"])

    assert blocks.known(Ids.of(["b", "c", "a", "a" * 500])).tolist() == [1, -1, 0, -1]
    assert len(blocks) == 2


@given(IDS)
def test_ids_with_the_same_hash_are_distinguished_by_their_text(ids):
    column = Ids.of(ids)
    column.__dict__["marks"] = np.zeros(len(ids), dtype=np.uint64)

    firsts, which = distinct(column)

    assert [ids[row] for row in firsts.tolist()] == list(dict.fromkeys(ids))
    assert [ids[firsts[place]] for place in which.tolist()] == ids


def test_known_ids_with_the_same_hash_are_distinguished_by_their_text(monkeypatch):
    monkeypatch.setattr(Ids, "marks", property(lambda ids: np.zeros(len(ids), dtype=np.uint64)))
    blocks = Vocabulary()

    assert blocks.numbers_of(["a", "b", "a", "c"]).tolist() == [0, 1, 0, 2]
    assert blocks.numbers_of(["c", "d", "b", "a"]).tolist() == [2, 3, 1, 0]


def test_long_ids_are_known_again():
    blocks = Vocabulary()
    long = [f"{'x' * 400}{number}" for number in range(3)]

    assert blocks.numbers_of([*long, "y"]).tolist() == [0, 1, 2, 3]
    assert blocks.numbers_of(["y", *reversed(long)]).tolist() == [3, 2, 1, 0]


def test_many_ids_keep_their_numbers():
    blocks = Vocabulary()
    ids = [f"block-{number:06}" for number in range(100_000)]

    assert blocks.numbers_of(ids).tolist() == list(range(100_000))
    assert blocks.numbers_of(ids[::-1]).tolist() == list(range(99_999, -1, -1))
    assert vocabulary.distinct(Ids.of([]))[0].tolist() == []
