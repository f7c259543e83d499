import pytest
from statsmodels.stats.power import TTestPower

from apps.metrics.statistics.power import (
    MOST_QUERIES,
    detectable_difference,
    more_needed_words,
    needed_words,
    queries_needed,
    queries_needed_by,
)


def test_a_medium_effect_needs_34_queries():
    """G*Power's textbook case: paired t, effect 0.5, level 0.05, power 0.8 (Faul et al., 2007)."""
    assert queries_needed(0.5, 1.0) == 34


@pytest.mark.parametrize("effect", [0.05, 0.11, 0.4, 1.2])
def test_queries_needed_are_those_of_statsmodels_rounded_up(effect):
    theirs = TTestPower().solve_power(effect, None, 0.05, 0.8, alternative="two-sided")

    assert queries_needed(-effect * 0.2, 0.2) == int(-(-theirs // 1))


@pytest.mark.parametrize("n", [3, 10, 50, 225, 10_000])
def test_a_detectable_difference_is_detected_with_a_power_of_80_percent(n):
    found = detectable_difference(0.21, n)

    assert TTestPower().power(found / 0.21, n, 0.05, alternative="two-sided") == pytest.approx(0.8, abs=1e-6)


def test_the_queries_needed_for_a_detectable_difference_are_those_there_are():
    assert queries_needed(detectable_difference(0.21, 50) * (1 + 1e-9), 0.21) == 50


def test_an_undefined_figure_is_none():
    assert detectable_difference(0.2, 1) is None
    assert detectable_difference(0.0, 50) is None
    assert queries_needed(0.0, 0.2) is None
    assert queries_needed(0.1, 0.0) is None


def test_a_difference_below_its_standard_error_promises_no_number():
    assert queries_needed_by(0.0199, 0.2, 100) is None
    assert queries_needed_by(-0.0201, 0.2, 100) == queries_needed(0.0201, 0.2)


def test_fewer_queries_are_needed_for_an_even_chance_than_for_nine_in_ten():
    assert queries_needed(0.5, 1.0, 0.5) < queries_needed(0.5, 1.0) < queries_needed(0.5, 1.0, 0.9) == 44


IF_SO = "If the true difference is {} too,"
TOO_SMALL = "The difference is too small against its scatter to say how many more queries would settle it."
ENOUGH = "more queries settle it in nine of ten cases"


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        (0.019, f"{TOO_SMALL} That does not mean that they are equal."),
        (-0.021, f"{IF_SO.format('−0.021')} 860 {ENOUGH}, and 260 more in half of the cases."),
        (0.04, f"{IF_SO.format('+0.040')} 170 {ENOUGH}."),
        (0.2, ""),
    ],
)
def test_more_queries_are_named_for_two_chances_and_never_for_less_than_a_standard_error(difference, words):
    assert more_needed_words(difference, 0.2, 100) == words


def test_a_difference_too_small_for_ten_million_queries_is_none():
    assert queries_needed(1e-6, 1.0) is None
    assert queries_needed(0.001, 1.0) < MOST_QUERIES


@pytest.mark.parametrize(
    ("needed", "words"),
    [(None, "not known yet"), (34, "34"), (1_201, "1,300"), (99_001, "100,000"), (711_818, "720,000")],
)
def test_a_forecast_of_queries_is_rounded_to_two_digits(needed, words):
    assert needed_words(needed) == words
