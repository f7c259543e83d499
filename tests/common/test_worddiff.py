import itertools

from hypothesis import given
from hypothesis import strategies as st

from apps.common.text.worddiff import Piece, word_diff

TEXTS = st.text(alphabet="ab c,.\n", max_size=40)


def test_a_changed_phrase_reads_as_one_change():
    pieces = word_diff("told at once", "told thirty days ahead")

    assert pieces == [Piece("same", "told "), Piece("del", "at once"), Piece("ins", "thirty days ahead")]


def test_two_equal_texts_have_no_change():
    assert word_diff("The same words.", "The same words.") == [Piece("same", "The same words.")]


def test_two_empty_texts_have_no_pieces():
    assert word_diff("", "") == []


def test_a_hyphenated_figure_is_one_word():
    assert word_diff("AES-256", "AES-256-GCM") == [Piece("del", "AES-256"), Piece("ins", "AES-256-GCM")]


@given(TEXTS, TEXTS)
def test_the_pieces_spell_both_texts(old, new):
    pieces = word_diff(old, new)

    assert "".join(piece.text for piece in pieces if piece.kind != "ins") == old
    assert "".join(piece.text for piece in pieces if piece.kind != "del") == new


@given(TEXTS, TEXTS)
def test_neighbouring_pieces_are_of_different_kinds(old, new):
    kinds = [piece.kind for piece in word_diff(old, new)]

    assert all(left != right for left, right in itertools.pairwise(kinds))
