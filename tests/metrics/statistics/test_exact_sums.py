import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.metrics.statistics.exact_bootstrap import on_grid

FINITE = st.floats(-1e12, 1e12, allow_subnormal=False)


@given(st.lists(FINITE, min_size=1, max_size=60))
def test_a_sum_is_exact_in_any_order(values):
    whole, _ = on_grid(np.array(values), len(values))

    assert whole.sum() == math.fsum(whole) == whole[::-1].sum() == np.sort(whole).sum()


@given(st.lists(FINITE, min_size=1, max_size=60))
def test_a_value_moves_by_half_a_step_at_most(values):
    array = np.array(values)
    whole, scale = on_grid(array, len(values))

    assert np.all(np.abs(whole / scale - array) <= 0.5 / scale)
    assert 0.5 / scale <= 64 * 2.0**-50 * np.abs(array).max() or np.abs(array).max() < 1e-280


def test_values_drawn_as_often_as_there_are_terms_stay_below_2_to_the_53():
    whole, _ = on_grid(np.array([0.999999]), 1000)

    assert 1000 * whole[0] < 2**53


def test_nothing_and_zeros_stay_as_they_are():
    assert on_grid(np.empty(0), 0).whole.shape == (0,)
    assert on_grid(np.zeros(3), 3).whole.tolist() == [0, 0, 0]


def test_each_column_has_a_scale_of_its_own():
    values = np.array([[1.0, 1e-9, 0.0], [0.3, 3e-10, 0.0]])

    together = on_grid(values, 2)

    for column in range(3):
        alone = on_grid(values[:, column], 2)
        assert alone.whole.tolist() == together.whole[:, column].tolist()
        assert alone.scale == together.scale[column]


@pytest.mark.parametrize("value", [1e-320, 1e-300, 1e300])
def test_very_small_and_very_large_values_are_accepted(value):
    whole, scale = on_grid(np.array([value, -value]), 2)

    assert whole.sum() == 0
    assert whole[0] / scale == pytest.approx(value, rel=1e-12) or whole[0] == 0


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match="finite"):
        on_grid(np.array([value]), 1)


def test_more_terms_than_the_grid_has_room_for_are_refused():
    with pytest.raises(ValueError, match="too many"):
        on_grid(np.ones(1), 2**52)
