import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.metrics.statistics.places import front

VALUES = st.one_of(st.none(), st.integers(0, 5).map(float))


def test_what_is_worse_and_dearer_is_not_on_the_front():
    assert front([0.5, 0.6, 0.55, 0.7], [10.0, 20.0, 30.0, 80.0]) == [True, True, False, True]


def test_the_cheapest_and_the_best_are_always_on_it():
    assert front([0.1, 0.9], [1.0, 1_000.0]) == [True, True]


def test_equal_points_are_both_on_the_front():
    assert front([0.5, 0.5], [10.0, 10.0]) == [True, True]


def test_as_good_but_dearer_is_not_on_it():
    assert front([0.5, 0.5], [10.0, 11.0]) == [True, False]


def test_a_run_without_a_price_is_not_on_it_and_in_nobodys_way():
    assert front([0.5, 0.9, 0.4], [10.0, None, 5.0]) == [True, False, True]


def test_no_runs_have_no_front():
    assert front([], []) == []


def test_every_run_needs_both():
    with pytest.raises(ValueError, match="a quality and a price of every run"):
        front([0.5], [])


@given(st.lists(st.tuples(VALUES, VALUES), max_size=8))
def test_the_front_is_what_the_definition_says_run_by_run(runs):
    def beats(one, other):
        return one[0] >= other[0] and one[1] <= other[1] and one != other

    known = [run for run in runs if None not in run]
    expected = [None not in run and not any(beats(other, run) for other in known) for run in runs]

    assert front([run[0] for run in runs], [run[1] for run in runs]) == expected
