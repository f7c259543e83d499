import numpy as np
import pytest
from scipy import stats

from apps.metrics.comparison import RunValues, compare_runs
from apps.metrics.measures.registry import parse_measures
from apps.metrics.statistics.places import Places, RankRange, beats_by, lead_by_chance, places, tau_over_runs
from apps.metrics.statistics.significance import summaries

HARD = np.linspace(0.0, 0.7, 30)
"""How easy thirty queries are: it differs far more than the runs do."""


def runs(*leads, noise: float = 0.05, n: int = 30):
    """Runs that lead by so much on average, each with its own noise, on queries that differ far more than they do."""
    random = np.random.default_rng(5)
    return np.column_stack([HARD[:n] + lead + noise * random.standard_normal(n) for lead in leads])


def test_a_run_that_leads_query_by_query_is_first_though_the_intervals_of_the_means_overlap():
    values = runs(0.14, 0.07, 0.0)
    ends = [one.interval for one in summaries(parse_measures("nDCG@10 AP RR"), values)]
    assert max(low for low, _ in ends) < min(high for _, high in ends), "by their intervals all would be tied"

    found = places(values)

    assert found.ranges == [RankRange(1, 1), RankRange(2, 2), RankRange(3, 3)]
    assert found.pairs == 3


def test_runs_that_are_not_told_apart_share_their_places_and_that_does_not_carry_on():
    """The first is better than the last, and neither is told apart from the one between."""
    found = places(runs(0.04, 0.02, 0.0))

    assert [place.words for place in found.ranges] == ["1 to 2", "1 to 3", "2 to 3"]
    assert (found.worse_than(0), found.better_than(2), found.not_told_apart_from(1)) == ([2], [0], [0, 2])


@pytest.mark.parametrize(
    ("better", "brackets"),
    [
        ([], [(0, 4)]),
        ([(0, 3), (0, 4), (1, 3), (1, 4), (2, 4)], [(0, 2), (2, 3), (3, 4)]),
        ([(0, 1), (0, 2), (0, 3), (0, 4), (1, 4), (2, 4), (3, 4)], [(1, 3)]),
        ([(one, other) for one in range(5) for other in range(one + 1, 5)], []),
        ([(1, 3)], [(0, 2), (2, 4)]),
    ],
)
def test_a_bracket_joins_neighbours_of_which_none_is_better_than_another(better, brackets):
    found = np.zeros((5, 5), dtype=np.bool_)
    for one, other in better:
        found[one, other] = True

    assert Places(found, 10).brackets == brackets


def test_p_is_corrected_over_all_pairs_shown():
    """A pair that is told apart alone is not beside eight more runs."""
    values = runs(0.03, 0.0)
    assert not places(values).ranges[0].is_tied

    beside = np.column_stack([values, runs(*[0.0] * 10)[:, 2:]])

    assert places(beside).pairs == 45
    assert not places(beside).better[0, 1]


@pytest.mark.parametrize("lead", [0.0, 0.02, 0.05, 0.2])
def test_two_runs_have_the_places_that_their_comparison_gives_them(lead):
    values = runs(lead, 0.0)
    base, new = RunValues("base", {"RR": values[:, 1]}), RunValues("new", {"RR": values[:, 0]})

    (compared,) = compare_runs(base, [new], ["RR"], [str(query) for query in range(30)])

    assert places(values).ranges[0].is_tied is not compared.measures[0].is_sure


def test_where_less_is_better_the_lower_run_is_first():
    assert places(runs(0.3, 0.0), is_lower_better=True).ranges == [RankRange(2, 2), RankRange(1, 1)]


def test_a_handful_of_queries_tells_nothing_apart():
    few = np.zeros((100, 2))
    few[:5, 0] = 1.0
    assert places(few).ranges[0].is_tied, "five of a hundred differ: as likely as one in sixteen by chance"
    assert places(np.array([[1.0, 0.0]] * 5)).ranges[0].is_tied, "five queries in all"

    few[:8, 0] = 1.0
    assert not places(few).ranges[0].is_tied
    assert not places(np.array([[1.0, 0.0]] * 6)).ranges[0].is_tied, "the same difference everywhere has no spread"


def test_a_run_without_a_value_for_some_query_is_compared_with_none():
    values = runs(0.3, 0.15, 0.0)
    values[3, 1] = np.nan

    found = places(values)

    assert found.ranges == [RankRange(1, 2), RankRange(1, 3), RankRange(2, 3)]
    assert found.pairs == 1


def test_no_runs_and_no_queries_have_places_too():
    assert places(np.zeros((5, 0))).ranges == []
    assert places(np.zeros((0, 2))).ranges == [RankRange(1, 2), RankRange(1, 2)]
    assert places(np.zeros((9, 2))).ranges == [RankRange(1, 2), RankRange(1, 2)]


def test_the_lead_of_the_best_of_equal_runs_is_what_chance_gives():
    """Queries differ much more than runs do, as they do everywhere."""
    chance = np.random.default_rng(3)
    leads, said = [], []
    for _ in range(300):
        values = chance.random((40, 1)) + chance.normal(0, 0.1, (40, 8))
        leads.append(values.mean(axis=0).max() - values.mean())
        said.append(lead_by_chance(values))

    assert np.mean(said) == pytest.approx(np.mean(leads), rel=0.05)


@pytest.mark.parametrize("shape", [(40, 2), (1, 8), (0, 5)])
def test_two_runs_or_one_query_have_no_lead_by_chance(shape):
    assert lead_by_chance(np.zeros(shape)) is None


@pytest.mark.parametrize(
    ("value", "best", "is_lower_better", "is_published"),
    [
        (0.61, 0.6, False, True),
        (0.6099, 0.6, False, False),
        (0.82, 0.81, False, True),  # whose difference is 0.009999999999999898 to a computer
        (0.5, 0.51, True, True),
        (0.51, 0.5, True, False),
    ],
)
def test_a_score_is_published_from_exactly_one_step_above_the_best_on(value, best, is_lower_better, is_published):
    assert beats_by(0.01, value, best, is_lower_better=is_lower_better) is is_published


# Rank correlation over runs


def test_tau_over_runs_is_scipys_with_an_interval_on_fishers_scale():
    one, other = [1.0, 2, 3, 4, 5, 6, 7, 7], [2.0, 1, 4, 3, 6, 5, 8, 8]

    found = tau_over_runs(one, other)

    assert found.value == pytest.approx(stats.kendalltau(one, other).statistic)
    half = stats.t.ppf(0.975, 6) * np.sqrt(0.437 / 4)
    assert found.interval == pytest.approx(tuple(np.tanh(np.arctanh(found.value) + np.array([-half, half]))))
    assert (found.n, found.method) == (8, "fisher")
    assert tau_over_runs(other, one) == found


def test_runs_in_exactly_the_same_order_are_not_certain_to_be():
    found = tau_over_runs(range(8), range(8))

    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(np.tanh(np.arctanh(1 - 1 / 28) - stats.t.ppf(0.975, 6) * np.sqrt(0.437 / 4)))
    assert tau_over_runs(range(8), range(8, 0, -1)).interval == pytest.approx((-1.0, -found.low))


def test_too_few_runs_and_runs_that_are_all_equal_say_nothing():
    few, equal = tau_over_runs(range(4), range(4)), tau_over_runs(range(6), [0.5] * 6)

    assert (few.value, few.n, few.reason) == (None, 4, "Fewer than 5 runs have both figures: that says nothing.")
    assert (equal.value, equal.interval) == (None, None)
    assert "the same for all runs" in equal.reason


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("n", [5, 8, 20])
def test_the_interval_of_tau_covers_the_true_one(rho, n):
    """Drawn 600 times from two normal figures whose τ is 2 / π · arcsin ρ."""
    rng, truth = np.random.default_rng(11), 2 / np.pi * np.arcsin(rho)
    covered = 0
    for _ in range(600):
        one = rng.standard_normal(n)
        found = tau_over_runs(one, rho * one + np.sqrt(1 - rho**2) * rng.standard_normal(n))
        covered += found.low <= truth <= found.high

    assert covered >= 0.93 * 600
