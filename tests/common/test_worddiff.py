import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.text.worddiff import Piece, word_diff
from tests.growth import MOST, time_for_eight_times

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


def test_equal_text_between_longer_changes_belongs_to_the_change():
    pieces = word_diff("Report within 72 hours of it.", "Report not later than 24 working days of it.")

    assert pieces == [
        Piece("same", "Report "),
        Piece("del", "within 72 hours"),
        Piece("ins", "not later than 24 working days"),
        Piece("same", " of it."),
    ]


def test_lines_are_compared_before_words():
    pieces = word_diff("Keep it.\nTest it each month.\nEnd.", "Keep it.\nTest it each week.\nEnd.")

    assert pieces == [
        Piece("same", "Keep it.\nTest it each "),
        Piece("del", "month"),
        Piece("ins", "week"),
        Piece("same", ".\nEnd."),
    ]


def test_too_many_words_to_compare_are_shown_as_replaced():
    old, new = "a b " * 2000, "a c " * 2000

    assert word_diff(old, new) == [Piece("del", old), Piece("ins", new)]


@pytest.mark.parametrize(("one", "other"), [("a ", "b "), ("a b ", "b c "), ("a\nb\n", "b\nc\n"), ("x y\n", "y x\n")])
def test_eight_times_the_text_takes_about_eight_times_as_long(one, other):
    word_diff(one * 2000, other * 2000)

    assert time_for_eight_times(lambda size: word_diff(one * size, other * size), 1000) <= MOST
