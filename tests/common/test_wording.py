from datetime import UTC, date, datetime, timedelta

import pytest

from apps.common.text import wording

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0471, "0.047"),
        (-0.31, "−0.310"),
        (-0.0001, "0.000"),
        (None, "not defined"),
        (float("nan"), "not defined"),
    ],
)
def test_a_number_has_a_real_minus_and_says_when_it_is_undefined(value, words):
    assert wording.number(value) == words


@pytest.mark.parametrize(("value", "words"), [(0.047, "+0.047"), (-0.31, "−0.310"), (0.0, "0.000")])
def test_a_difference_has_its_sign(value, words):
    assert wording.signed(value) == words


def test_an_interval_is_two_numbers_and_a_word():
    assert wording.interval((0.66, 0.76)) == "0.66 to 0.76"
    assert wording.interval((-0.02, 0.07), 3, differences=True) == "−0.020 to +0.070"
    assert wording.interval(None) == "no interval"


@pytest.mark.parametrize(("first", "last", "words"), [(31, 32, "pp. 31–32"), (24, 24, "p. 24"), (None, None, "")])
def test_pages_are_written_as_in_a_book(first, last, words):
    assert wording.pages(first, last) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(5, "less than a minute"), (61, "1 minute"), (7300, "2 hours"), (4 * 86400 + 5, "4 days")]
)
def test_an_age_is_its_largest_whole_unit(seconds, words):
    assert wording.age(NOW - timedelta(seconds=seconds), NOW) == words


def test_a_day_names_the_year_only_when_it_is_another():
    assert wording.day(date(2026, 11, 7), NOW.date()) == "7 November"
    assert wording.day(date(2025, 11, 7), NOW.date()) == "7 November 2025"


def test_a_digest_is_cut_so_that_eyes_can_compare_it():
    assert wording.short_digest("sha256:9f2c41d0" + "0" * 52 + "7be8") == "9f2c 41d0 … 7be8"


def test_counts_have_thousands_and_none_is_not_zero():
    assert wording.count(12345) == "12,345"
    assert wording.count(None) == "not counted"


def test_a_share_is_a_percentage_with_a_space_that_does_not_break():
    assert wording.percent(0.107) == "10.7\N{NO-BREAK SPACE}%"


@pytest.mark.parametrize(("p", "said"), [(1.0, "1.0000"), (0.0132, "0.0132"), (5e-5, "0.0001"), (4e-5, "below 0.0001")])
def test_no_p_is_written_as_zero(p, said):
    assert wording.p_value(p) == said


@pytest.mark.parametrize(
    ("octets", "words"),
    [
        (0, "0 bytes"),
        (850, "850 bytes"),
        (1_000, "1.0 kB"),
        (999_600, "1.0 MB"),
        (4_200_000_000, "4.2 GB"),
        (138_600_000_000, "139 GB"),
        (2_500_000_000_000_000, "2,500 TB"),
    ],
)
def test_a_size_has_three_digits_and_its_unit(octets, words):
    assert wording.size(octets).replace("\N{NO-BREAK SPACE}", " ") == words
