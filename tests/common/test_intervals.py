import pytest

from apps.common.intervals import wilson


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
def test_wilson_refuses_what_is_no_proportion(successes, n):
    with pytest.raises(ValueError, match="is not a proportion"):
        wilson(successes, n)
