import math
import random

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.metrics.measures.entries import GRADES_ALONE, REGISTRY
from apps.metrics.measures.measure_input import Pass
from apps.metrics.measures.sets import RECALL_LEVELS, interpolated_precision
from apps.metrics.scoring import precision_at_recall
from tests.metrics.oracle import TREC_NAMES, columns_of, trec_values, values
from tests.walks import often

ALL = " ".join(TREC_NAMES)


def assert_equals_trec_eval(qrels, run, *, rel=1):
    suffix = f"(rel={rel})"
    names = {
        name
        if name.startswith("nDCG") or rel == 1
        else name.replace("@", f"{suffix}@", 1)
        if "@" in name
        else name + suffix: name
        for name in TREC_NAMES
    }
    ours = values(" ".join(names), qrels, run)
    theirs = trec_values(qrels, run, rel=rel)
    for query in qrels:
        for name, plain in names.items():
            assert math.isclose(ours[query][name], theirs[query][plain], rel_tol=0, abs_tol=1e-12), (query, name)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("rel", [1, 2])
def test_values_equal_trec_eval_on_random_runs_full_of_ties(seed, rel):
    chance = random.Random(seed)
    blocks = [f"{chance.choice('aAéZ9-')}{n}" for n in range(40)]
    qrels, run = {}, {}
    for number in range(60):
        judged = chance.sample(blocks, chance.randrange(1, 30))
        qrels[f"q{number}"] = {block: chance.choice([0, 0, 0, 1, 2, 3]) for block in judged}
        if number % 7:
            found = chance.sample(blocks, chance.randrange(1, 40))
            run[f"q{number}"] = {block: chance.choice([0.5, 1.0, 2.25, -3.0]) for block in found}
    run["never judged"] = {"a0": 1.0}

    assert_equals_trec_eval(qrels, run, rel=rel)


@pytest.mark.parametrize("rel", [1, 2])
def test_the_precision_recall_curve_equals_trec_evals(rel):
    """At each level of recall, query by query and averaged over all judged queries, those missing from the run at 0."""
    chance = random.Random(rel)
    qrels = {f"q{n}": {f"d{m}": chance.choice([0, 0, 1, 2]) for m in range(chance.randrange(1, 30))} for n in range(60)}
    run = {
        query: {f"d{m}": chance.random() for m in chance.sample(range(60), chance.randrange(1, 50))}
        for query in list(qrels)[:-5]
    }
    columns = columns_of(qrels, run)

    values = interpolated_precision(Pass(*columns), rel)

    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"iprec_at_recall"}, relevance_level=rel).evaluate(run)
    names = [f"iprec_at_recall_{level:.2f}" for level in RECALL_LEVELS]
    wanted = [[theirs.get(query, {}).get(name, 0.0) for name in names] for query in qrels]
    np.testing.assert_allclose(values, wanted, atol=1e-12)
    np.testing.assert_allclose(precision_at_recall(*columns, rel), np.mean(wanted, axis=0), atol=1e-12)


grades = st.dictionaries(st.sampled_from("abcdefghij"), st.integers(0, 4), min_size=1)
scores = st.dictionaries(st.sampled_from("abcdefghijklm"), st.sampled_from([0.0, 1.0, 2.0, 2.5]), min_size=1)


@pytest.mark.slow
@settings(max_examples=often(25, 300), deadline=None)
@given(
    st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), grades, min_size=1),
    st.dictionaries(st.sampled_from(["q1", "q2", "q3", "q4"]), scores, min_size=1),
)
def test_values_equal_trec_eval_on_any_small_collection(qrels, run):
    assert_equals_trec_eval(qrels, run)


@pytest.mark.slow
@settings(max_examples=often(25, 200), deadline=None)
@given(
    st.dictionaries(st.sampled_from(["q1", "q2"]), grades, min_size=1),
    st.dictionaries(st.sampled_from(["q1", "q2"]), scores, min_size=1),
)
def test_every_value_stays_in_its_range(qrels, run):
    entries = [entry for entry in REGISTRY.values() if entry.needs == GRADES_ALONE]
    names = " ".join(str(entry.example._replace(cutoff=None if entry.cutoff == "none" else 3)) for entry in entries)

    found = values(f"{names} nDCG(dcg='exp-log2')@3", qrels, run)

    for row in found.values():
        assert all(math.isnan(value) or -1e-12 <= value <= 1 + 1e-12 for value in row.values())


def test_a_run_without_rows_is_zero_everywhere():
    row = values(ALL, {"q": {"a": 1}}, {})["q"]

    assert set(row.values()) == {0.0}


def test_a_query_without_a_relevant_block_is_zero():
    row = values(ALL + " F1@5", {"q": {"a": 0}}, {"q": {"a": 1.0}})["q"]

    assert set(row.values()) == {0.0}


def test_ties_fall_by_block_id_descending():
    run = {"q": {"B1": 1.0, "B10": 1.0, "B9": 1.0}}

    assert values("RR", {"q": {"B9": 1}}, run)["q"]["RR"] == 1.0
    assert values("RR", {"q": {"B1": 1}}, run)["q"]["RR"] == 1 / 3


def test_scores_that_differ_only_as_doubles_are_not_a_tie():
    run = {"q": {"z": 1.0, "a": 1.000000001}}

    assert values("RR", {"q": {"a": 1}}, run)["q"]["RR"] == 1.0


def test_a_negative_grade_is_not_judged_by_any_measure():
    """It marks a block of the pool that nobody judged; infAP alone reads the pool."""
    run = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    grades = {"b": 2, "c": 0}
    entries = [entry for entry in REGISTRY.values() if entry.needs == GRADES_ALONE and entry.name != "infAP"]
    names = [str(entry.example) for entry in entries]
    names += [str(entry.example._replace(judged_only=True)) for entry in entries if "judged_only" in entry.takes]

    marked, plain = (values(" ".join(names), {"q": grades | more}, run)["q"] for more in ({"a": -1, "x": -2}, {}))

    assert marked == plain
    assert marked["Judged@10"] == 0.5
    assert (marked["Bpref"], marked["RR@10"], marked["RR(judged_only=True)@10"]) == (1.0, 0.5, 1.0)


def test_a_cutoff_beyond_the_run_divides_precision_by_the_cutoff():
    row = values("P@10 Recall@10 F1@10", {"q": {"a": 1}}, {"q": {"a": 1.0}})["q"]

    assert row == {"P@10": 0.1, "Recall@10": 1.0, "F1@10": 2 * 0.1 * 1.0 / 1.1}


def test_exponential_gain_is_two_to_the_grade_minus_one():
    qrels = {"q": {"a": 3, "b": 1}}
    run = {"q": {"b": 2.0, "a": 1.0}}

    row = values("nDCG(dcg='exp-log2')@10", qrels, run)["q"]

    expected = (1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3))
    assert math.isclose(row["nDCG(dcg='exp-log2')@10"], expected, abs_tol=1e-15)


def test_judged_divides_by_what_was_returned():
    qrels = {"q": {"a": 0, "b": 1}, "missing": {"a": 1}}
    run = {"q": {"a": 4.0, "x": 3.0, "b": 2.0, "y": 1.0}}

    found = values("Judged@10 Judged@1", qrels, run)

    assert found["q"] == {"Judged@10": 0.5, "Judged@1": 1.0}
    assert math.isnan(found["missing"]["Judged@10"])


def test_the_smallest_collection_equals_values_worked_by_hand():
    """Five documents, twenty queries, one relevant document each; query n finds it at rank (n mod 5) + 1."""
    blocks = ["D1", "D2", "D3", "D4", "D5"]
    qrels = {f"Q{n:02}": {"D1": 1} for n in range(20)}
    run = {}
    for n in range(20):
        order = blocks[1:]
        order.insert(n % 5, "D1")
        run[f"Q{n:02}"] = {block: 5.0 - rank for rank, block in enumerate(order)}

    found = values("P@3 P@5 P@10 Recall@3 Recall@5 Recall@10 RR@3 RR@5 RR@10 nDCG@3 nDCG@5 nDCG@10", qrels, run)

    by_rank = {
        0: (1 / 3, 1.0, 1.0, 1.0),
        1: (1 / 3, 1.0, 1 / 2, 1 / math.log2(3)),
        2: (1 / 3, 1.0, 1 / 3, 1 / 2),
        3: (0.0, 0.0, 0.0, 0.0),
        4: (0.0, 0.0, 0.0, 0.0),
    }
    late = {3: (1 / 4, 1 / math.log2(5)), 4: (1 / 5, 1 / math.log2(6))}
    for n in range(20):
        precision, recall, reciprocal, gain = by_rank[n % 5]
        beyond = late.get(n % 5, (reciprocal, gain))
        expected = {
            "P@3": precision,
            "P@5": 1 / 5,
            "P@10": 1 / 10,
            "Recall@3": recall,
            "Recall@5": 1.0,
            "Recall@10": 1.0,
            "RR@3": reciprocal,
            "RR@5": beyond[0],
            "RR@10": beyond[0],
            "nDCG@3": gain,
            "nDCG@5": beyond[1],
            "nDCG@10": beyond[1],
        }
        assert found[f"Q{n:02}"] == pytest.approx(expected, abs=1e-15)


def test_the_means_of_the_smallest_collection_equal_values_worked_by_hand():
    blocks = ["D1", "D2", "D3", "D4", "D5"]
    qrels = {f"Q{n:02}": {"D1": 1} for n in range(20)}
    run = {
        query: {block: float(rank == n % 5) for rank, block in enumerate(["D1", *blocks[1:]])}
        for n, query in enumerate(qrels)
    }

    found = values("P@5 Recall@5 P@3", qrels, run)

    assert all(row["P@5"] == 0.2 and row["Recall@5"] == 1.0 for row in found.values())
