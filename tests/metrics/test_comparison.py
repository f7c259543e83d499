import numpy as np
import pytest
from scipy import stats
from statsmodels.stats import contingency_tables

from apps.metrics.comparison import (
    JUDGED,
    MeasureComparison,
    Regressions,
    RunValues,
    changes,
    compare_runs,
    handfuls,
    tally,
    verdict_lines,
)
from apps.metrics.estimate import QUESTIONS
from apps.metrics.statistics.intervals import difference_interval
from apps.metrics.statistics.significance import EQUAL, Difference, WinTally, change_of, paired_tests, sign_test_p
from tests.metrics.compared import compare, stated

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


def test_queries_are_worst_first_and_ties_by_id():
    rows = changes(["B", "A", "C"], np.array([0.5, 0.5, 0.9]), np.array([0.5, 0.5, 0.1]))

    assert [row.query_id for row in rows] == ["C", "A", "B"]


def test_a_fall_of_exactly_the_bar_is_not_a_drop():
    rows = changes(["A", "B"], np.array([0.3, 0.4]), np.array([0.2, 0.2999]))

    assert {row.query_id: row.is_drop for row in rows} == {"A": False, "B": True}


def test_the_bar_is_the_projects_own():
    rows = changes(["A", "B"], np.array([0.3, 0.4]), np.array([0.2, 0.2]), bar=0.15)

    assert {row.query_id: row.is_drop for row in rows} == {"A": False, "B": True}


def test_better_equal_and_worse_are_counted():
    assert tally(changes(IDS, LEFT["nDCG@10"], RIGHT["nDCG@10"])) == (2, 1, 1)


def with_plain_spaces(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def told(*facts) -> str:
    return " ".join(filter(None, verdict_lines(*facts)))


TWO_QUERIES = Difference(-0.2, (-0.346, -0.102), 1.0, 1.0, 0, 0, 2, 2)


def row_of(mean: float, low: float, high: float, holm: float = 0.013) -> MeasureComparison:
    return stated("nDCG@10", 0.5, 0.5 + mean, Difference(mean, (low, high), holm / 6, holm, 30, 0, 10, 40))


@pytest.mark.parametrize(
    ("runs", "row", "of", "fell", "words", "verdict"),
    [
        (
            ("BM25", "Hybrid"), row_of(0.021, 0.004, 0.038), 6, Regressions(4, 2),
            "Hybrid is better than BM25 by 0.021 nDCG@10; the difference could be +0.004 to +0.038. "
            "95 % interval, p = 0.013 after Holm over 6; 4 drops, 2 unexplained.",
            "better",
        ),
        (
            ("Hybrid", "BM25"), row_of(-0.021, -0.038, -0.004, holm=0.0006), 1, None,
            "BM25 is worse than Hybrid by 0.021 nDCG@10; the difference could be −0.038 to −0.004. "
            "95 % interval, p = 0.0006.",
            "worse",
        ),
        (
            ("BM25", "Hybrid"), row_of(0.021, 0.004, 0.038, holm=0.08), 6, Regressions(0, 0),
            "Cannot tell yet, among 6 differences, whether Hybrid is better or worse than BM25: nDCG@10 differs by "
            "+0.021, it could be +0.004 to +0.038. 95 % interval, p = 0.080 after Holm over 6; no drop.",
            "better, not after Holm",
        ),
        (
            ("BM25", "Hybrid"), row_of(0.01, -0.002, 0.02, holm=0.3), 6, None,
            "Cannot tell yet whether Hybrid is better or worse than BM25: nDCG@10 differs by +0.010, it could be "
            "−0.002 to +0.020. "
            "95 % interval, p = 0.300 after Holm over 6.",
            "not settled",
        ),
        (
            # It was "worse, but chance is not ruled out", an interval without zero, and p = 1.
            ("BM25", "my-search"), stated("nDCG@10", 0.5, 0.3, TWO_QUERIES), 6, None,
            "2 queries are too few to tell my-search and BM25 apart on nDCG@10: −0.200 so far. At least 6 in all "
            "are needed; plan for 50. 95 % interval, p = 1.000 after Holm over 6.",
            "not settled",
        ),
    ],
    ids=["better", "worse", "by chance", "open", "too few"],
)  # fmt: skip
def test_a_verdict_names_the_interval_p_its_family_and_what_fell(runs, row, of, fell, words, verdict):
    facts = (*runs, row, of) if fell is None else (*runs, row, of, fell)

    assert with_plain_spaces(told(*facts)) == words
    assert row.verdict == verdict


def test_a_difference_that_the_measure_cannot_have_is_not_called_detectable():
    left, right = np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.5])
    (row,) = compare(["AP"], {"AP": left}, {"AP": right})

    assert row.supplement.detectable is None


@pytest.mark.parametrize(
    ("fell", "words"),
    [
        (Regressions(0, 0), "no drop"),
        (Regressions(1, 1), "1 drop, unexplained"),
        (Regressions(1, 0), "1 drop, explained"),
        (Regressions(4, 4), "4 drops, none explained"),
        (Regressions(4, 2), "4 drops, 2 unexplained"),
        (Regressions(4, 0), "4 drops, all explained"),
    ],
)
def test_regressions_are_counted_in_words(fell, words):
    assert fell.words == words


# One rule for better, equal and worse

EDGE = [0.0, 5e-10, 1e-9, 2e-9, 1e-17]


@pytest.mark.parametrize("gap", EDGE)
@pytest.mark.parametrize("sign", [1, -1])
def test_better_equal_and_worse_are_decided_by_one_rule_everywhere(gap, sign):
    """They were counted exactly in the table and within 1e-9 in the chart."""
    left = np.zeros(4)
    right = np.array([sign * gap, 0.2, -0.2, 0.0])

    (row,) = compare(["AP"], {"AP": left}, {"AP": right})

    assert row.difference.tally == tally(changes(IDS, left, right))
    assert row.difference.equal == (1 if gap > EQUAL else 2)
    assert paired_tests(change_of(left, right)[:, None])[0].wilcoxon.n == row.difference.tally.moved


def test_rounding_alone_settles_no_difference():
    left = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])

    (row,) = compare(["AP"], {"AP": left}, {"AP": left + 1e-12})

    assert row.difference.interval == difference_interval(np.zeros(6), 0.95)
    assert (row.difference.mean, row.difference.p, row.verdict) == (0.0, 1.0, "not settled")


# A handful of queries


def few(better: int, worse: int, n: int) -> MeasureComparison:
    change = np.zeros(n)
    change[:better], change[better : better + worse] = 0.3, -0.2
    (row,) = compare(["AP"], {"AP": np.full(n, 0.5)}, {"AP": 0.5 + change})
    return row


def test_a_verdict_on_a_handful_of_queries_says_so_with_the_exact_sign_test():
    row = few(2, 1, 100)

    assert row.difference.rests_on == 3
    assert "only 3 of 100 queries differ (exact sign test p = 1.000)" in with_plain_spaces(told("BM25", "Hybrid", row))
    assert [with_plain_spaces(line) for line in handfuls([row])] == [
        "AP: 2 better, 1 worse, 97 equal, only 3 of 100 queries differ (exact sign test p = 1.000)."
    ]


def test_a_verdict_on_no_query_says_so():
    assert "none of 30 queries differs" in with_plain_spaces(told("BM25", "Hybrid", few(0, 0, 30)))


@pytest.mark.parametrize(
    ("better", "worse", "n", "rests_on"),
    [
        (9, 0, 100, 9),
        (10, 0, 100, None),
        (5, 4, 18, None),
        (5, 4, 19, 9),
        (3, 0, 6, None),
        (2, 0, 5, 2),
        (1, 1, 3, None),
    ],
)
def test_a_handful_is_fewer_than_ten_and_fewer_than_half(better, worse, n, rests_on):
    row = few(better, worse, n)

    assert row.difference.rests_on == rests_on
    assert bool(handfuls([row])) == (rests_on is not None)


@pytest.mark.parametrize(("better", "worse"), [(3, 0), (1, 9), (5, 5), (0, 6), (40, 61), (700, 620)])
def test_the_sign_test_is_that_of_scipy(better, worse):
    assert sign_test_p(better, worse) == pytest.approx(stats.binomtest(better, better + worse).pvalue, rel=1e-12)


def test_a_sign_test_of_no_query_is_undefined():
    assert WinTally(0, 5, 0).sign_p is None


@pytest.mark.parametrize(
    ("base", "new", "words"),
    [
        (
            0.42,
            0.31,
            "Only 31 % of the first 10 results of new are judged, against 42 % of base; unjudged results count",
        ),
        (
            0.31,
            0.42,
            "Only 31 % of the first 10 results of base are judged, against 42 % of new; unjudged results count",
        ),
        (0.42, 0.39, ""),
        (0.42, None, ""),
    ],
)
def test_a_verdict_says_in_its_sentence_where_a_run_has_clearly_fewer_judged_results(base, new, words):
    """Of forty queries, two without results; a difference of three points is not named, nor one that is not known."""
    spread = np.tile([0.1, -0.1], 20)
    shares = [None if share is None else share + spread for share in (base, new)]
    values = [{"RR": np.linspace(0, 0.7, 40) + lead} for lead in (0.0, 0.2)]
    for columns, share in zip(values, shares, strict=True):
        if share is not None:
            columns[JUDGED] = np.where(np.arange(40) < 2, np.nan, share)
    first, second = RunValues("base", values[0]), RunValues("new", values[1])

    (compared,) = compare_runs(first, [second], ["RR"], [str(query) for query in range(40)])

    sentence, _ = (with_plain_spaces(line) for line in compared.verdict_lines(compared.measures[0]))
    assert sentence.startswith("new is better than base by 0.200 RR; the difference could be ")
    assert ("Only" in sentence) is bool(words)
    assert words in sentence


def test_one_query_is_too_few():
    (row,) = compare(["AP"], {"AP": np.array([0.0])}, {"AP": np.array([1.0])})

    assert told("BM25", "Hybrid", row) == "One query is too few to compare Hybrid with BM25."


@pytest.mark.parametrize("counts", [(0, 0), (1, 0), (6, 16), (59, 121), (86, 150)])
def test_the_exact_mcnemar_test_has_the_p_of_statsmodels(counts):
    ours = sign_test_p(*counts)
    theirs = contingency_tables.mcnemar([[101, counts[0]], [counts[1], 33]], exact=True)
    assert ours == pytest.approx(float(theirs.pvalue), rel=1e-9)


def test_sentences_name_what_the_values_are_of():
    row = few(2, 1, 100)
    settled, method = verdict_lines("BM25", "Hybrid", row, items=QUESTIONS)

    assert "only 3 of 100 questions differ" in method
    assert "only 3 of 100 questions differ" in handfuls([row], QUESTIONS)[0]
    assert "quer" not in settled + method
    (single,) = compare(["AP"], {"AP": np.array([0.5])}, {"AP": np.array([0.7])})
    assert verdict_lines("BM25", "Hybrid", single, items=QUESTIONS)[0].startswith("One question is too few")
    (three,) = compare(["AP"], {"AP": np.full(3, 0.5)}, {"AP": np.array([0.7, 0.6, 0.4])})
    assert verdict_lines("BM25", "Hybrid", three, items=QUESTIONS)[0].startswith("3 questions are too few")
