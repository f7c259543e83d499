import pytest
from statsmodels.stats.power import TTestPower

from apps.metrics.statistics.power import MOST_QUERIES, detectable_difference, needed_words, power_of, queries_needed


@pytest.mark.parametrize(("effect", "n"), [(0.1, 30), (0.2, 50), (0.5, 34), (0.8, 5), (1.5, 3), (0.02, 5000)])
@pytest.mark.parametrize("level", [0.05, 0.01])
def test_power_equals_that_of_statsmodels(effect, n, level):
    theirs = TTestPower().power(effect, n, level, alternative="two-sided")

    assert power_of(effect * 0.3, 0.3, n, level=level) == pytest.approx(theirs, abs=1e-6)


def test_a_medium_effect_needs_34_queries():
    """G*Power's textbook case: paired t, effect 0.5, level 0.05, power 0.8 (Faul et al., 2007)."""
    assert queries_needed(0.5, 1.0) == 34


@pytest.mark.parametrize("effect", [0.05, 0.11, 0.4, 1.2])
@pytest.mark.parametrize("power", [0.8, 0.95])
def test_queries_needed_are_those_of_statsmodels_rounded_up(effect, power):
    theirs = TTestPower().solve_power(effect, None, 0.05, power, alternative="two-sided")

    assert queries_needed(-effect * 0.2, 0.2, power=power) == int(-(-theirs // 1))


@pytest.mark.parametrize("n", [2, 3, 10, 50, 225, 10_000])
def test_a_detectable_difference_is_detected_with_the_requested_power(n):
    found = detectable_difference(0.21, n)

    assert power_of(found, 0.21, n) == pytest.approx(0.8, abs=1e-6)


def test_a_detectable_difference_equals_that_of_statsmodels():
    theirs = TTestPower().solve_power(None, 50, 0.05, 0.8, alternative="two-sided")

    assert detectable_difference(0.21, 50) == pytest.approx(theirs * 0.21, abs=1e-7)


def test_the_queries_needed_for_a_detectable_difference_are_those_there_are():
    assert queries_needed(detectable_difference(0.21, 50) * (1 + 1e-9), 0.21) == 50


def test_an_undefined_figure_is_none():
    assert detectable_difference(0.2, 1) is None
    assert detectable_difference(0.0, 50) is None
    assert queries_needed(0.0, 0.2) is None
    assert queries_needed(0.1, 0.0) is None


def test_a_difference_too_small_for_ten_million_queries_is_none():
    assert queries_needed(1e-6, 1.0) is None
    assert queries_needed(0.001, 1.0) < MOST_QUERIES


def test_power_of_one_query_is_refused():
    with pytest.raises(ValueError, match="two queries or more"):
        power_of(0.1, 0.2, 1)


@pytest.mark.parametrize(("level", "power"), [(0.05, 0.05), (0.0, 0.8), (0.05, 1.0)])
def test_level_and_power_have_to_make_sense(level, power):
    with pytest.raises(ValueError, match="the power is above the level"):
        queries_needed(0.1, 0.2, level=level, power=power)


@pytest.mark.parametrize(
    ("needed", "words"),
    [(None, "none would do"), (34, "34"), (1_201, "1,300"), (99_001, "100,000"), (711_818, "over 100,000")],
)
def test_a_forecast_of_queries_is_rounded_to_two_digits(needed, words):
    assert needed_words(needed) == words
