import numpy as np
import pytest

from apps.metrics.statistics.strata import compare_strata


def test_strata_are_largest_first_and_small_ones_are_counted():
    values = np.arange(10) / 10
    labels = ["a"] * 3 + ["b"] * 5 + ["", "c"]

    found, small = compare_strata(labels, [values, values], fewest=3)

    assert [(one.name, one.n) for one in found] == [("b", 5), ("a", 3)]
    assert small == 1
    assert found[1].summaries[0].mean == pytest.approx(0.1)
    assert found[1].summaries[0].interval is not None
