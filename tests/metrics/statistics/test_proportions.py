import math

import pytest
from scipy.special import ndtr, stdtrit

from apps.metrics.statistics.proportions import freedom_of_spread, student_quantile, widened, wilson


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


@pytest.mark.parametrize("n", [0, 1])
def test_an_interval_needs_two_items(n):
    with pytest.raises(ValueError, match="two items"):
        widened(0.95, n)


def sums_of(values: list[float]) -> tuple[int, float, float]:
    mean = math.fsum(values) / len(values)
    return len(values), sum((value - mean) ** 2 for value in values), sum((value - mean) ** 4 for value in values)


def test_a_spread_that_few_values_make_is_known_with_few_degrees_of_freedom():
    """Shoemaker (2003): 2n / (kurtosis - (n - 3) / (n - 1)); one value in ten stands out, so the kurtosis is 8.11."""
    assert freedom_of_spread(*sums_of([1.0] * 5 + [0.0] * 45)) == math.floor(100 / (8.1111 - 47 / 49))


def test_a_normal_spread_is_known_with_n_less_one():
    assert freedom_of_spread(50, 50.0, 150.0) == 49
    assert freedom_of_spread(50, 50.0, 150.0, groups=3) == 47


def test_no_spread_is_known_better_than_a_normal_one():
    assert freedom_of_spread(*sums_of([0.0, 1.0] * 25)) == 49
    assert freedom_of_spread(*sums_of([0.0, 1.0])) == 1
    assert freedom_of_spread(*sums_of([0.3] * 9)) == 8


def test_one_outlier_leaves_two_degrees_of_freedom_of_many():
    assert freedom_of_spread(*sums_of([1.0] + [0.0] * 999)) == 2


def test_a_spread_needs_more_values_than_groups():
    with pytest.raises(ValueError, match="more items than groups"):
        freedom_of_spread(3, 1.0, 1.0, groups=3)
