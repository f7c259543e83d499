import math

import pytest
from scipy.special import ndtr, stdtrit

from apps.metrics.statistics.proportions import student_quantile, widened, wilson


def test_wilson_equals_the_published_example():
    """Newcombe (1998), Statistics in Medicine 17:857-872, table I, method 3: 81 of 263."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)


def test_wilson_ends_are_exact_when_none_or_all_succeeded():
    """Newcombe (1998), table I: 0 of 20 gives an upper limit of 0.1611."""
    low, high = wilson(0, 20)

    assert low == 0.0
    assert high == pytest.approx(0.1611, abs=5e-5)
    assert wilson(20, 20) == pytest.approx((1 - 0.1611, 1.0), abs=5e-5)


def test_wilson_of_nothing_is_none():
    assert wilson(0, 0) is None


@pytest.mark.parametrize(("successes", "n"), [(3, 2), (-1, 4), (0, -1)])
def test_wilson_rejects_what_is_not_a_proportion(successes, n):
    with pytest.raises(ValueError, match="is not a proportion"):
        wilson(successes, n)


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 30, 31, 199, 200, 201, 5000])
def test_students_quantile_equals_scipys(confidence, freedom):
    assert student_quantile(confidence, freedom) == pytest.approx(stdtrit(freedom, (1 + confidence) / 2), rel=1e-9)


def test_student_has_a_degree_of_freedom():
    with pytest.raises(ValueError, match="degree of freedom"):
        student_quantile(0.95, 0)


def test_a_bootstrap_of_few_is_read_further_out():
    """Hesterberg (2015): the tail is the normal's below -sqrt(n / (n - 1)) t."""
    tail = ndtr(-math.sqrt(10 / 9) * stdtrit(9, 0.975))

    assert widened(0.95, 10) == pytest.approx(1 - 2 * tail, abs=1e-12)
    assert widened(0.95, 100_000) == pytest.approx(0.95, abs=1e-5)
    assert widened(0.95, 50) < widened(0.95, 50, groups=10) < 1


@pytest.mark.parametrize(("n", "groups"), [(1, 1), (0, 1), (5, 5)])
def test_an_interval_needs_more_items_than_groups(n, groups):
    with pytest.raises(ValueError, match="more items than groups"):
        widened(0.95, n, groups)
