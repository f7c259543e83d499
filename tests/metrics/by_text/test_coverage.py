"""Which blocks returned passages cover, and at which rank."""

import pytest

from apps.metrics.by_text.index import tokens_of
from tests.metrics.by_text.corpora import covered, made_up

TEN = " ".join(f"w{number}" for number in range(10))
OTHER = " ".join(f"v{number}" for number in range(10))
THIRD = " ".join(f"u{number}" for number in range(10))


def first(text, words):
    return " ".join(tokens_of(text)[:words])


def last(text, words):
    return " ".join(tokens_of(text)[-words:])


def covers(covering):
    """(query, rank, block) of each block that is covered."""
    columns = (covering.query, covering.rank, covering.block)
    return [tuple(int(value) for value in row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize(
    ("words", "share", "is_covered"),
    [(8, 0.8, True), (7, 0.8, False), (7, 0.7, True), (9, 1.0, False), (10, 1.0, True), (5, 0.5, True)],
)
def test_a_block_is_covered_by_a_passage_with_the_share_of_its_words(words, share, is_covered):
    assert covers(covered([[TEN, OTHER]], [[first(TEN, words)]], share)) == ([(0, 0, 0)] if is_covered else [])


def test_a_passage_covers_every_block_that_it_holds():
    assert covers(covered([[TEN, OTHER, THIRD]], [[f"{TEN} {OTHER} {first(THIRD, 4)}"]])) == [(0, 0, 0), (0, 0, 1)]


def test_chunks_smaller_than_a_block_cover_it_together_at_the_rank_that_completes_it():
    returned = [[first(TEN, 5), OTHER, last(TEN, 5)]]

    assert covers(covered([[TEN, OTHER]], returned)) == [(0, 1, 1), (0, 2, 0)]


def test_words_that_are_returned_twice_count_once():
    assert covers(covered([[TEN]], [[first(TEN, 5), first(TEN, 6)]])) == []


def test_a_block_counts_once_at_the_first_rank():
    assert covers(covered([[TEN]], [[TEN, TEN, f"{TEN} and more"]])) == [(0, 0, 0)]


def test_each_query_begins_anew():
    assert covers(covered([[TEN]], [[first(TEN, 5)], [last(TEN, 5)], [TEN]])) == [(2, 0, 0)]


def test_a_chunk_that_only_touches_a_block_covers_nothing():
    assert covers(covered([[TEN]], [[f"{last(TEN, 4)} {OTHER}"]])) == []


def test_all_of_the_marked_evidence_covers_a_block_and_a_part_of_it_does_not():
    evidence = {(0, 0): [(2, 6)], (1, 0): [(2, 6), (8, 9)], (2, 0): [(0, 5)]}
    returned = [[" ".join(tokens_of(TEN)[2:6])]] * 2 + [[" ".join(tokens_of(TEN)[1:6])]]

    assert covers(covered([[TEN]], returned, evidence=evidence)) == [(0, 0, 0)]


def test_evidence_is_held_together_too():
    returned = [[first(TEN, 4), OTHER, " ".join(tokens_of(TEN)[4:8])]]

    assert covers(covered([[TEN, OTHER]], returned, 1.0, evidence={(0, 0): [(2, 6)]})) == [(0, 1, 1), (0, 2, 0)]


def test_what_cannot_be_located_is_known_by_query_and_rank_and_holds_nothing():
    covering = covered([[TEN]], [[TEN, "a text from somewhere else altogether"], [f"{OTHER} {first(TEN, 4)}"]])

    assert list(zip(covering.lost_query.tolist(), covering.lost_rank.tolist(), strict=True)) == [(0, 1), (1, 0)]
    assert covers(covering) == [(0, 0, 0)]
    assert covering.returned.tolist() == [2, 1]


def test_a_query_without_results_has_none():
    covering = covered([[TEN]], [[], [TEN], []])

    assert (covering.returned.tolist(), covers(covering)) == ([0, 1, 0], [(1, 0, 0)])


def test_windows_over_all_words_cover_every_block_in_the_end():
    documents = made_up(5, 6, 4, 50)
    words = [tokens_of(" ".join(document)) for document in documents]
    windows = [" ".join(some[start : start + 12]) for some in words for start in range(0, len(some), 8)]

    covering = covered(documents, [windows], 1.0)

    long = [number for number, size in enumerate(covering.sizes.tolist()) if size >= 8]
    assert set(long) <= {block for _, _, block in covers(covering)}
