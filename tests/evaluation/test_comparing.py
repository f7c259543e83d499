import numpy as np
import pytest

from apps.evaluation.comparing import changes, compare, strata, tally, verdict

LEFT = {"nDCG@10": np.array([0.5, 0.6, 0.7, 0.4]), "AP": np.array([0.1, 0.1, 0.1, 0.1])}
RIGHT = {"nDCG@10": np.array([0.3, 0.6, 0.8, 0.5]), "AP": np.array([0.2, 0.2, 0.2, 0.2])}
IDS = ["Q1", "Q2", "Q3", "Q4"]


def test_only_measures_of_both_runs_are_compared():
    rows = compare(["nDCG@10", "AP", "RR"], LEFT, {**RIGHT, "RR": np.zeros(4)})

    assert [row.measure for row in rows] == ["nDCG@10", "AP"]


def test_a_measure_without_a_value_for_every_query_is_left_out():
    rows = compare(["AP"], {"AP": np.array([np.nan, 1.0])}, {"AP": np.array([0.0, 1.0])})

    assert rows == []


def test_p_is_corrected_over_all_measures():
    rows = compare(["nDCG@10", "AP"], LEFT, RIGHT)

    assert all(row.difference.holm >= row.difference.p for row in rows)
    assert rows[1].difference.holm == pytest.approx(2 * rows[1].difference.p)


def test_queries_stand_worst_first_and_equal_ones_by_id():
    rows = changes(["B", "A", "C"], np.array([0.5, 0.5, 0.9]), np.array([0.5, 0.5, 0.1]))

    assert [row.query_id for row in rows] == ["C", "A", "B"]


def test_a_fall_of_exactly_the_bar_is_no_drop():
    rows = changes(["A", "B"], np.array([0.3, 0.4]), np.array([0.2, 0.2999]))

    assert {row.query_id: row.is_drop for row in rows} == {"A": False, "B": True}


def test_better_equal_and_worse_are_counted():
    assert tally(changes(IDS, LEFT["nDCG@10"], RIGHT["nDCG@10"])) == (2, 1, 1)


def test_a_settled_verdict_names_the_interval():
    (row,) = compare(["AP"], LEFT, RIGHT)

    said = verdict("BM25", "Hybrid", row).replace("\N{NO-BREAK SPACE}", " ")
    assert said == "Hybrid is better than BM25 on AP by 0.100; the interval, 0.100 to 0.100, stays above zero."


def test_the_other_way_round_it_is_worse():
    (row,) = compare(["AP"], RIGHT, LEFT)

    said = verdict("Hybrid", "BM25", row).replace("\N{NO-BREAK SPACE}", " ")
    assert said == "BM25 is worse than Hybrid on AP by 0.100; the interval, −0.100 to −0.100, stays below zero."


def test_an_open_verdict_says_that_the_interval_holds_zero():
    (row,) = compare(["nDCG@10"], LEFT, RIGHT)

    assert verdict("BM25", "Hybrid", row) == (
        "Hybrid and BM25 are not told apart on nDCG@10: the difference is 0.000, and the interval, "
        "−0.125 to +0.100, holds zero."
    )
    assert row.verdict == "not settled"


def test_one_query_is_too_few():
    (row,) = compare(["AP"], {"AP": np.array([0.0])}, {"AP": np.array([1.0])})

    assert verdict("BM25", "Hybrid", row) == "One query is too few to compare Hybrid with BM25."


def test_strata_stand_largest_first_and_small_ones_are_counted():
    values = np.arange(10) / 10
    labels = ["a"] * 3 + ["b"] * 5 + ["", "c"]

    found, small = strata(labels, [values, values], fewest=3)

    assert [(one.name, one.n) for one in found] == [("b", 5), ("a", 3)]
    assert small == 1
    assert found[1].summaries[0].mean == pytest.approx(0.1)
    assert found[1].summaries[0].interval is not None
