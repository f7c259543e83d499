from apps.metrics.statistics.rank_intervals import RankRange, places


def test_runs_whose_intervals_overlap_share_their_places():
    assert places([(0.6, 0.8), (0.5, 0.7), (0.1, 0.2)]) == [RankRange(1, 2), RankRange(1, 2), RankRange(3, 3)]


def test_overlap_does_not_carry_on_from_one_to_the_next():
    """The first surely leads the last, though both are tied with the one between."""
    assert places([(0.6, 0.8), (0.5, 0.65), (0.4, 0.55)]) == [RankRange(1, 2), RankRange(1, 3), RankRange(2, 3)]


def test_intervals_that_touch_are_a_tie():
    assert [place.words for place in places([(0.5, 0.6), (0.4, 0.5)])] == ["1 to 2", "1 to 2"]


def test_intervals_apart_give_each_run_one_place():
    found = places([(0.1, 0.2), (0.7, 0.9)])

    assert [place.words for place in found] == ["2", "1"]
    assert not any(place.is_tied for place in found)


def test_a_run_without_an_interval_may_have_any_rank():
    assert places([(0.6, 0.8), None, (0.1, 0.2)]) == [RankRange(1, 2), RankRange(1, 3), RankRange(2, 3)]


def test_no_runs_have_no_ranks():
    assert places([]) == []
