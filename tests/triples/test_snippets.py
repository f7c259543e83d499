from apps.triples.core.evidence import Piece, snippet


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
