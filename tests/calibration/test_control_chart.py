"""The p-chart against a published example and figures worked by hand."""

import pytest

from apps.calibration.core.control_chart import OUTSIDE, RUN, Count, Group, groups_of, limits, mean_of, signal_of

# NIST/SEMATECH e-Handbook of Statistical Methods, 6.3.3.2 (after Montgomery): defectives in 30 samples of 50.
SAMPLES = [12, 15, 8, 10, 4, 7, 16, 9, 14, 10, 5, 6, 17, 12, 22, 8, 10, 5, 13, 11, 20, 18, 24, 15, 9, 12, 7, 13, 9, 6]
PUBLISHED = [Count(f"{number:02}", hits, 50) for number, hits in enumerate(SAMPLES, start=1)]


def test_mean_and_limits_are_those_of_the_published_example():
    mean = mean_of(PUBLISHED)

    low, high = limits(mean, 50)

    assert mean == pytest.approx(347 / 1500)
    assert (round(mean, 4), round(low, 4), round(high, 4)) == (0.2313, 0.0524, 0.4102)


def test_the_published_example_has_two_samples_above_the_limit():
    groups = groups_of(PUBLISHED, mean_of(PUBLISHED), 50)

    assert [group.first for group in groups if group.is_outside] == ["15", "23"]


@pytest.mark.parametrize(
    ("mean", "n", "low", "high"),
    [(0.5, 9, 0.0, 1.0), (0.1, 100, 0.01, 0.19), (0.1, 25, 0.0, 0.28), (0.9, 100, 0.81, 0.99), (0.9, 25, 0.72, 1.0)],
)
def test_limits_follow_n_and_stay_within_nought_and_one(mean, n, low, high):
    assert limits(mean, n) == (pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_a_mean_at_the_edge_leaves_no_room(mean):
    assert limits(mean, 20) == (mean, mean)


def test_a_group_without_reviews_has_no_limits():
    with pytest.raises(ValueError, match="no limits"):
        limits(0.1, 0)


def test_nothing_counted_has_no_mean():
    assert mean_of([]) is None


def test_small_months_are_joined_until_they_are_large_enough():
    counts = [Count("2026-01", 1, 8), Count("2026-02", 2, 12), Count("2026-03", 3, 25), Count("2026-04", 1, 3)]

    groups = groups_of(counts, 0.1, 20)

    assert [(g.first, g.last, g.hits, g.n, g.is_full) for g in groups] == [
        ("2026-01", "2026-02", 3, 20, True),
        ("2026-03", "2026-03", 3, 25, True),
        ("2026-04", "2026-04", 1, 3, False),
    ]
    assert [group.label for group in groups] == ["2026-01 to 2026-02", "2026-03", "2026-04"]


def test_months_come_in_their_order_and_empty_ones_are_left_out():
    groups = groups_of([Count("2026-02", 0, 20), Count("2025-12", 0, 20), Count("2026-01", 0, 0)], 0.1, 20)

    assert [group.first for group in groups] == ["2025-12", "2026-02"]


def group(hits: int, n: int = 100, *, mean: float = 0.1, is_full: bool = True) -> Group:
    return Group("2026-01", "2026-01", hits, n, mean, is_full)


def test_a_point_above_the_limit_fires_and_one_on_it_does_not():
    assert signal_of([group(20)]).rule == OUTSIDE
    assert signal_of([group(25, n=100, mean=0.5)]) is None
    assert signal_of([Group("a", "a", 13, 20, 0.5, True)]) is None
    assert Group("a", "a", 100, 100, 1.0, True).is_outside is False


def test_a_group_with_too_few_reviews_fires_nothing():
    assert signal_of([group(2, n=2, is_full=False)]) is None
    assert signal_of([]) is None


def test_eight_in_a_row_above_the_mean_fire_and_seven_do_not():
    assert signal_of([group(11)] * 7) is None
    fired = signal_of([group(11)] * 8)
    assert (fired.rule, fired.run) == (RUN, 8)


def test_a_point_on_the_mean_ends_the_run():
    assert signal_of([group(11)] * 7 + [group(10)] + [group(11)] * 7) is None


def test_only_the_newest_group_speaks():
    assert signal_of([group(40), group(5)]) is None


def test_a_group_that_is_not_full_neither_speaks_nor_ends_the_run():
    assert signal_of([*[group(11)] * 8, group(0, n=3, is_full=False)]).rule == RUN
