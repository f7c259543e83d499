import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.text.worddiff import Piece, word_diff
from tests.growth import MOST, time_for_eight_times

SIGNS = {"same": "", "del": "-", "ins": "+"}
TEXTS = st.text(alphabet="ab c,.\n", max_size=40)


@pytest.mark.parametrize(
    ("old", "new", "pieces"),
    [
        pytest.param("", "", [], id="two empty texts have no pieces"),
        pytest.param("The same words.", "The same words.", ["The same words."], id="two equal texts have no change"),
        pytest.param("AES-256", "AES-256-GCM", ["-AES-256", "+AES-256-GCM"], id="a hyphenated figure is one word"),
        pytest.param(
            "told at once",
            "told thirty days ahead",
            ["told ", "-at once", "+thirty days ahead"],
            id="a changed phrase is one change",
        ),
        pytest.param(
            "Report within 72 hours of it.",
            "Report not later than 24 working days of it.",
            ["Report ", "-within 72 hours", "+not later than 24 working days", " of it."],
            id="equal text between longer changes belongs to the change",
        ),
        pytest.param(
            "Keep it.\nTest it each month.\nEnd.",
            "Keep it.\nTest it each week.\nEnd.",
            ["Keep it.\nTest it each ", "-month", "+week", ".\nEnd."],
            id="lines are compared before words",
        ),
    ],
)
def test_a_change_reads_as_people_would_tell_it(old, new, pieces):
    assert [SIGNS[piece.kind] + piece.text for piece in word_diff(old, new)] == pieces


@given(TEXTS, TEXTS)
def test_the_pieces_spell_both_texts(old, new):
    pieces = word_diff(old, new)

    assert "".join(piece.text for piece in pieces if piece.kind != "ins") == old
    assert "".join(piece.text for piece in pieces if piece.kind != "del") == new


@given(TEXTS, TEXTS)
def test_neighbouring_pieces_are_of_different_kinds(old, new):
    kinds = [piece.kind for piece in word_diff(old, new)]

    assert all(left != right for left, right in itertools.pairwise(kinds))


def test_too_many_words_to_compare_are_shown_as_replaced():
    old, new = "a b " * 2000, "a c " * 2000

    assert word_diff(old, new) == [Piece("del", old), Piece("ins", new)]


@pytest.mark.parametrize(("one", "other"), [("a ", "b "), ("a b ", "b c "), ("a\nb\n", "b\nc\n"), ("x y\n", "y x\n")])
def test_eight_times_the_text_takes_about_eight_times_as_long(one, other):
    word_diff(one * 2000, other * 2000)

    assert time_for_eight_times(lambda size: word_diff(one * size, other * size), 1000) <= MOST
