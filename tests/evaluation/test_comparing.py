import numpy as np
import pytest

from apps.evaluation.comparing import Regressions, Row, changes, compare, strata, tally, verdict
from apps.evaluation.statistics.significance import Difference

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


def test_the_bar_is_the_projects_own():
    rows = changes(["A", "B"], np.array([0.3, 0.4]), np.array([0.2, 0.2]), bar=0.15)

    assert {row.query_id: row.is_drop for row in rows} == {"A": False, "B": True}


def test_better_equal_and_worse_are_counted():
    assert tally(changes(IDS, LEFT["nDCG@10"], RIGHT["nDCG@10"])) == (2, 1, 1)


def said(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def row_of(mean: float, low: float, high: float, holm: float = 0.013) -> Row:
    return Row("nDCG@10", 0.5, 0.5 + mean, Difference(mean, (low, high), holm / 6, holm, 3, 0, 1, 4))


def test_a_settled_verdict_names_the_interval_p_its_family_and_what_fell():
    words = verdict("BM25", "Hybrid", row_of(0.021, 0.004, 0.038), 6, Regressions(4, 2))

    assert said(words) == (
        "Hybrid is better than BM25 by 0.021 nDCG@10, 95 % [0.004, 0.038], p = 0.013 after Holm over 6; "
        "4 regressions, 2 unexplained."
    )


def test_the_other_way_round_it_is_worse():
    words = verdict("Hybrid", "BM25", row_of(-0.021, -0.038, -0.004, holm=0.0006))

    assert said(words) == "BM25 is worse than Hybrid by 0.021 nDCG@10, 95 % [−0.038, −0.004], p = 0.0006."


def test_what_chance_may_have_done_among_many_measures_is_said():
    row = row_of(0.021, 0.004, 0.038, holm=0.08)

    assert "p = 0.080 after Holm over 6, so chance is not ruled out; no regression." in said(
        verdict("BM25", "Hybrid", row, 6, Regressions(0, 0))
    )
    assert row.verdict == "better, not after Holm"


def test_an_open_verdict_says_that_the_two_are_not_told_apart():
    row = row_of(0.01, -0.002, 0.02, holm=0.3)

    assert said(verdict("BM25", "Hybrid", row, 6)) == (
        "Hybrid and BM25 are not told apart on nDCG@10: difference +0.010, 95 % [−0.002, 0.020], "
        "p = 0.300 after Holm over 6."
    )
    assert row.verdict == "not settled"


@pytest.mark.parametrize(
    ("fell", "words"),
    [
        (Regressions(0, 0), "no regression"),
        (Regressions(1, 1), "1 regression, unexplained"),
        (Regressions(1, 0), "1 regression, explained"),
        (Regressions(4, 4), "4 regressions, none explained"),
        (Regressions(4, 2), "4 regressions, 2 unexplained"),
        (Regressions(4, 0), "4 regressions, all explained"),
    ],
)
def test_regressions_are_counted_in_words(fell, words):
    assert fell.words == words


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
