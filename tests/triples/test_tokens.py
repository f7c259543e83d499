import pytest

from apps.common.text.words import content_words, words
from apps.triples.core.tokens import Figure, figures, unit_of


def figures_of(text):
    return [(figure.shown, figure.plain, figure.unit) for figure in figures(text)]


def test_figures_come_in_the_order_of_the_text_each_form_once():
    assert figures_of("Keys live 90 days, ninety days, under AES-256; ninety people hold 2 keys.") == [
        ("90 days", "90", "day"),
        ("AES-256", "aes-256", ""),
        ("ninety people", "90", "people"),
        ("2", "2", ""),
    ]


def test_a_text_without_figures_has_none():
    assert figures("") == figures("Nobody may, and one of them says so.") == []


@pytest.mark.parametrize("text", ["10 to 20 days", "10, 20 days", "10–20 days"])
def test_numbers_of_a_range_or_a_list_share_the_unit_behind_them(text):
    assert [(plain, unit) for _, plain, unit in figures_of(text)] == [("10", "day"), ("20", "day")]


def test_a_name_before_a_number_can_match_in_parts():
    (figure,) = figures("TLS 1.2")

    assert figure == Figure("TLS 1.2", "tls-1.2", parts=(Figure("TLS", "tls"), Figure("1.2", "1.2")))


def test_number_words_that_make_no_one_number_are_numbers_of_their_own():
    assert figures_of("two, three files") == [("two", "2", ""), ("three", "3", "")]


def test_a_number_inside_a_date_belongs_to_the_date():
    assert figures_of("on 1 March 2026 at 8:30 p.m.") == [
        ("1 March 2026", "2026-03-01", ""),
        ("8:30 p.m.", "20:30", ""),
    ]


@pytest.mark.parametrize(
    ("word", "unit"), [("hrs", "hour"), ("DAYS", "day"), ("MB", "megabyte"), ("Mb", "megabit"), ("archive", "")]
)
def test_a_unit_has_one_name_however_it_is_written(word, unit):
    assert unit_of(word) == unit


def test_words_keep_joining_characters_and_are_lowercased():
    assert words("The A/B-test’s 1.2, again") == ["the", "a/b-test's", "1.2", "again"]


def test_content_words_are_alike_in_singular_and_plural():
    assert content_words("Which policies cover a backup?") == content_words("the policy covers backups of")
