from collections import Counter

from apps.queries.pages.balance_board import StratumShare, shares, tally

ROWS = [("log", "easy", 3), ("log", "hard", 1), ("", "easy", 4)]


def test_tally_and_crossed_add_up():
    assert tally(ROWS, 0) == Counter({"log": 4, "": 4})
    assert tally(ROWS, 0, 1) == Counter({("log", "easy"): 3, ("log", "hard"): 1, ("", "easy"): 4})


def test_shares_put_the_largest_first_and_the_unnamed_last():
    found = shares({"": 5, "a": 2, "b": 3})

    assert [(share.value, share.number, share.share) for share in found] == [
        ("b", 3, 0.3),
        ("a", 2, 0.2),
        ("", 5, 0.5),
    ]


def test_shares_keep_a_given_order():
    assert [share.value for share in shares({"hard": 9, "easy": 1}, order=["easy", "medium", "hard"])] == [
        "easy",
        "hard",
    ]


def test_a_target_without_queries_is_listed_as_short():
    assert shares({"a": 10}, {"a": 0.5, "b": 0.3}) == [
        StratumShare("a", 10, 1.0, 0.5, 0),
        StratumShare("b", 0, 0.0, 0.3, 3),
    ]


def test_no_queries_have_no_shares():
    assert shares({}, {"a": 0.4}) == [StratumShare("a", 0, 0.0, 0.4, 0)]
