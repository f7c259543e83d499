"""Which new passages are judged for which queries: those that contain much of their words, rare words first."""

from apps.editions.core.comparison import likely_pairs

QUERIES = {1: "how are keys rotated", 2: "how are visitors signed in"}


def test_a_passage_with_the_rare_words_of_a_query_is_judged_for_it():
    found = likely_pairs(QUERIES, {"a": "Keys are rotated every 90 days.", "b": "The canteen is closed."})

    assert found == [(1, "a")]


def test_words_that_every_query_has_are_not_enough():
    assert likely_pairs(QUERIES, {"a": "How are you?"}) == []


def test_the_best_passages_come_first_and_at_most_so_many():
    passages = {f"p{n}": "keys rotated" for n in range(4)} | {"q": "how are keys rotated"}

    assert likely_pairs(QUERIES, passages, per_query=2) == [(1, "q"), (1, "p0")]


def test_without_queries_or_passages_there_is_nothing_to_judge():
    assert likely_pairs({}, {"a": "text"}) == []
    assert likely_pairs({1: "text", 2: ""}, {}) == []
