"""Negatives of one query, from literals."""

import numpy as np

from apps.corpus.core.near_duplicates import signatures
from apps.reports.core.negatives import Negative, NegativesChoice, alike_by, choose_negatives, sample_negatives


def ints(*values):
    return np.array(values, dtype=np.int64)


def unlike(candidates, relevant):
    return np.zeros(len(candidates), dtype=bool)


def propose(ranking, grades, *, tops=(), blocks=40, alike=unlike, query="Q1", **choice):
    chosen = NegativesChoice(**{"hard": 3, "easy": 2, "depth": 5, "seed": 4, **choice})
    sampled = sample_negatives(query, ints(*ranking), ints(*tops), grades, blocks, chosen)
    return choose_negatives(sampled, grades, alike, chosen)


def test_hard_ones_are_judged_0_and_sorted_by_rank():
    found = propose([9, 4, 7, 5, 6, 3], {9: 2, 4: 0, 5: 0, 6: -1, 3: 0}, easy=0)

    assert found == [
        Negative(4, "hard", "judged", 2, 0),
        Negative(5, "hard", "judged", 4, 0),
        Negative(6, "hard", "judged", 5, -1),
    ]


def test_there_are_no_more_hard_ones_than_requested():
    assert [one.position for one in propose(range(5), dict.fromkeys(range(5), 0), hard=2, easy=0)] == [0, 1]


def test_easy_ones_are_outside_every_top_and_say_whether_they_were_judged():
    grades = dict.fromkeys(range(0, 40, 2), 0) | {1: 3}

    found = propose([1, 3], grades, tops=[1, 3, 5, 7, 9], hard=0, easy=20, blocks=40)

    assert {one.position for one in found}.isdisjoint({1, 3, 5, 7, 9})
    assert len(found) == 20
    for one in found:
        judged = one.position in grades
        assert (one.kind, one.rank) == ("easy", None)
        assert (one.basis, one.grade) == (("judged", 0) if judged else ("assumed", None))
    assert {one.basis for one in found} == {"judged", "assumed"}


def test_the_seed_and_the_query_decide_the_easy_ones():
    asked = {"ranking": [1], "grades": {1: 1}, "hard": 0, "easy": 5, "blocks": 1_000}

    again = propose(**asked)

    assert propose(**asked) == again
    assert propose(**asked, seed=5) != again
    assert propose(**asked, query="Q2") != again


def test_a_relevant_block_is_never_proposed_and_a_small_snapshot_gives_what_it_has():
    found = propose([2, 0], {0: 1, 1: 3, 2: 0}, tops=[0, 2], blocks=4, easy=10)

    assert [(one.position, one.kind) for one in found] == [(2, "hard"), (3, "easy")]


def test_what_reads_like_a_relevant_block_is_passed_over():
    texts = {0: "d0", 1: "d1", 2: "d0", 3: "d3", 4: "d4"}
    words = [
        "the red key opens the red door of the old house by the lake",
        "green doors",
        "the red key opens the red door of the old house by the lake",
        "The red key opens the red door of the old house by the lake!",
        "blue windows",
    ]
    grades = {0: 2, 1: 0, 2: 0, 3: 0, 4: 0}
    asked = {"ranking": range(5), "grades": grades, "blocks": 5, "hard": 9, "easy": 0}

    by_digest = propose(**asked, alike=alike_by(texts, None))
    by_signature = propose(**asked, alike=alike_by(texts, signatures(words)))

    assert [one.position for one in by_digest] == [1, 3, 4]
    assert [one.position for one in by_signature] == [1, 4]
