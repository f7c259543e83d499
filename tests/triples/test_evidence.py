from hypothesis import given
from hypothesis import strategies as st

from apps.triples.core.evidence import Piece, holds, moved, placed, quoted, snippet, spans_of

TEXT = "First line.\n\nSecond one\nruns on.\n- an item"


def test_a_pasted_quote_is_located_across_line_ends():
    assert spans_of(TEXT, ["Second one runs on.", "not there", "  "]) == [(13, 32), None, None]


def test_evidence_moves_with_its_words_and_lost_words_are_left_out():
    assert moved("Keep it for 90 days. Then delete.", [(12, 19), (21, 33)], "So: keep for 90 days.") == [(13, 20)]


PIECES = st.lists(st.sampled_from(["a", "b", "ab", " ", "\n", "\u00a0", "\x1f", "."]), max_size=8).map("".join)


@given(old=PIECES, new=PIECES, start=st.integers(0, 8), length=st.integers(0, 8))
def test_a_text_holds_exactly_the_evidence_that_finds_a_place_in_it(old, new, start, length):
    assert holds(new, [old[start : start + length]]) == (None not in placed(old, [(start, start + length)], new))


def test_quoted_passages_are_in_the_order_of_the_text():
    assert quoted(TEXT, [(13, 23), (0, 5)]) == "First\nSecond one"


def test_sought_words_are_hits_in_any_case_and_ending():
    assert snippet("The archives are encrypted.", "ENCRYPTION archive") == [
        Piece("The ", False),
        Piece("archives", True),
        Piece(" are ", False),
        Piece("encrypted", True),
        Piece(".", False),
    ]


def test_a_long_text_is_cut_around_the_first_hit():
    text = "word " * 100 + "needle " + "word " * 100

    pieces = snippet(text, "needle")

    assert Piece("needle", True) in pieces
    assert pieces[0] == Piece("… ", False)
    assert pieces[-1] == Piece(" …", False)
    assert sum(len(piece.text) for piece in pieces) < 160


def test_nothing_sought_shows_the_beginning():
    assert snippet("One two", "") == [Piece("One two", False)]
    assert snippet("", "x") == []
