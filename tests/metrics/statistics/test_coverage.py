"""The claims about thin evidence, on a part of the samples of `benchmarks/coverage.py`: seeded, so never by chance."""

import numpy as np
import pytest

from benchmarks.coverage import (
    AHEAD,
    GATES,
    RUNS,
    SIZES,
    STEPS,
    boards,
    coverage,
    false_positives,
    lines_of_means,
    outcomes,
    overstated,
)

TRIALS = 400


@pytest.mark.parametrize(
    ("group", "least", "mean"),
    [
        ("mean", 0.88, (0.94, 0.965)),
        ("stratified", 0.9, (0.93, 0.97)),
        ("traffic", 0.85, (0.93, 0.97)),
        ("variants", 0.86, (0.93, 0.985)),
        ("difference", 0.79, (0.94, 0.98)),
    ],
)
def test_intervals_hold_the_truth_about_as_often_as_they_say(group, least, mean):
    """The lowest cell of differences is that of ten queries, of which three differ and mostly to one side."""
    lines = [line for line in lines_of_means().values() if line.group == group]

    shares = [coverage(line.truth, line.make, n, TRIALS) for line in lines for n in SIZES]

    assert min(shares) >= least
    assert mean[0] <= np.mean(shares) <= mean[1]


def test_intervals_over_people_hold_the_truth_about_as_often_as_they_say():
    lines = [line for line in lines_of_means().values() if line.group == "people"]

    shares = [coverage(line.truth, line.make, n, 100) for line in lines for n in (10, 50)]

    assert min(shares) >= 0.88
    assert 0.94 <= np.mean(shares) <= 0.985


@pytest.mark.parametrize("name", [name for name in GATES if "true .9" not in name])
def test_a_gate_hardly_ever_passes_a_run_that_is_on_the_wrong_side(name):
    passes, fails = zip(*(outcomes(GATES[name], n, TRIALS) for n in (5, 6, 10, 30)), strict=True)

    if "equal runs" in name:
        assert passes[0] == 0
        assert max(fails) <= 0.05
    else:
        assert max(passes) <= 0.025


def test_a_good_run_passes_a_gate_on_enough_queries():
    passed, failed = outcomes(GATES["Success of .9 at least; true .97"], 100, 200)

    assert passed > 0.7
    assert failed == 0


def test_a_step_on_test_lowers_what_the_best_of_equal_runs_gains_by_chance():
    gains = {runs: [overstated(step, runs, 200) for step in STEPS] for runs in RUNS}

    assert all(best_first == sorted(best_first, reverse=True) for best_first in gains.values())
    assert gains[20][0] > 0.045  # 1.87 standard errors, the expected maximum of 20 normal values
    assert gains[20][2] < gains[20][0] - 0.005
    assert gains[20][3] < gains[5][0]


def test_the_randomisation_test_sees_nothing_where_nothing_differs():
    assert 0.02 <= false_positives(20, TRIALS) <= 0.08


@pytest.mark.parametrize("runs", [5, 10])
def test_of_a_board_of_equal_runs_a_corrected_list_hardly_ever_calls_one_better(runs):
    alone, by_holm, by_fdr, by_evidence = boards(runs, 200).anything

    assert alone > 0.25
    assert max(by_holm, by_fdr) <= 0.08
    assert by_evidence <= 0.01


def test_where_half_of_a_board_is_better_few_of_the_differences_called_are_false():
    seen = boards(10, 100, AHEAD)

    assert seen.false[0] > 0.05
    assert max(seen.false[1:]) <= 0.05
    assert seen.found[1] < seen.found[2] < seen.found[0]
