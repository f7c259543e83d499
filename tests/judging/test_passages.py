from hypothesis import given
from hypothesis import strategies as st

from apps.judging.passages import Paragraph, paragraphs, passage


def test_a_text_is_cut_at_blank_lines():
    assert paragraphs("One.\nStill one.\n\nTwo.\n \n\nThree.\n") == [
        Paragraph(0, "One.\nStill one."),
        Paragraph(17, "Two."),
        Paragraph(25, "Three.\n"),
    ]


@given(st.text(alphabet="ab \n\té😀", max_size=60))
def test_every_paragraph_stands_where_it_says(text):
    parts = paragraphs(text)

    assert all(text[part.start : part.end] == part.text for part in parts)
    assert "".join("".join(part.text.split()) for part in parts) == "".join(text.split())


def test_the_paragraph_with_the_rarest_shared_words_comes_first():
    text = "\n\n".join(["All about backups.", "Backups leave encrypted with a cipher.", "More backups."])

    assert passage(text, "Which cipher are backups encrypted with?").best == 1


def test_a_short_text_is_shown_whole():
    found = passage("a\n\nb\n\nc", "nothing in common")

    assert (found.before, found.after, found.best) == (0, 0, 0)


def test_a_long_text_is_opened_at_its_best_paragraph():
    text = "\n\n".join([f"filler {n}" for n in range(6)] + ["the cipher"] + [f"filler {n}" for n in range(6)])

    found = passage(text, "cipher")

    assert (found.best, found.before, found.after) == (6, 6, 3)


def test_an_empty_text_has_no_paragraphs():
    found = passage("", "cipher")

    assert (found.paragraphs, found.best, found.before, found.after) == ([], 0, 0, 0)
