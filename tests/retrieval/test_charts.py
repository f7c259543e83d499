from apps.retrieval.pages.pools import Bin, bins, sizes_chart


def test_queries_are_counted_by_their_number_of_pairs():
    assert bins([1, 0, 4]) == [Bin(0, 0, 1), Bin(1, 1, 0), Bin(2, 2, 4)]


def test_many_sizes_share_at_most_twelve_bins_of_one_width():
    drawn = bins([0] * 5 + [1] * 30)

    assert len(drawn) == 10
    assert drawn[0] == Bin(5, 7, 3)
    assert sum(bar.queries for bar in drawn) == 30


def test_nothing_to_draw_is_nothing():
    assert bins([]) == bins([0, 0]) == []
    assert sizes_chart([]) == ""


def test_every_bar_says_in_words_what_it_shows():
    drawn = sizes_chart([0, 3])

    assert "<title>1 pairs: 3 queries</title>" in drawn
    assert "Pairs per query</th>" in drawn
