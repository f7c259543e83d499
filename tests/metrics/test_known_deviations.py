"""Where the libraries of the field say something else than Karat, each with its reason.

A library that begins to agree fails its test here: then the test goes, and `test_oracles` compares that case too.
Two more are told elsewhere: trec_eval 10 takes raw grades for the gains of RBP (`test_trec_eval_files`), and trec_eval
may crash or never come back from a query of negative grades alone, because it counts grades in an array as long as the
highest of them (`test_oracles.sound`).
"""

import math

import ir_measures
import pyndeval
import pytest
import pytrec_eval

from tests.metrics.oracle import facet_row, facet_values, values

PAIR = {"q": {"a": 2.0, "b": 1.0}}


def trec_eval(measure, qrels, run, **options):
    (found,) = pytrec_eval.RelevanceEvaluator(qrels, {measure}, **options).evaluate(run)["q"].values()
    return found


def by_ir_measures(name, qrels, run):
    measure = ir_measures.parse_measure(name)
    return {row.query_id: row.value for row in ir_measures.iter_calc([measure], qrels, run)}


def test_trec_eval_9_ties_scores_that_differ_only_as_doubles():
    """pytrec-eval-terrier is version 9, which keeps scores as float32; version 10 and Karat keep doubles."""
    qrels, run = {"q": {"a": 1, "z": 0}}, {"q": {"z": 1.0, "a": 1.000000001}}

    assert values("RR", qrels, run)["q"]["RR"] == 1.0
    assert trec_eval("recip_rank", qrels, run) == 0.5


def test_ir_measures_breaks_the_ties_of_judged_by_id_ascending():
    """Its other providers go descending, as trec_eval does; Karat has one rule for all measures."""
    qrels, run = {"q": {"a": 1, "z": 0}}, {"q": {"a": 1.0, "m": 1.0}}

    assert values("Judged@1", qrels, run)["q"]["Judged@1"] == 0.0
    assert by_ir_measures("Judged@1", qrels, run) == {"q": 1.0}


def test_ir_measures_calls_a_block_of_a_negative_grade_judged():
    """Its Judged asks whether the qrels name the block. To trec_eval, and to Karat, such a block was pooled alone."""
    qrels = {"q": {"a": -1, "b": 1}}

    assert values("Judged@2", qrels, PAIR)["q"]["Judged@2"] == 0.5
    assert by_ir_measures("Judged@2", qrels, PAIR) == {"q": 1.0}


def test_ir_measures_calls_a_query_without_results_unjudged():
    """Nothing was returned, so there is nothing to judge: Karat leaves the query out of the mean."""
    qrels = {"q": {"a": 1}, "missing": {"a": 1}}

    assert math.isnan(values("Judged@1", qrels, PAIR)["missing"]["Judged@1"])
    assert by_ir_measures("Judged@1", qrels, PAIR)["missing"] == 0.0


def subtopic_qrels(rows):
    return [pyndeval.SubtopicQrel(row.query_id, row.facet, row.block_id, row.grade) for row in rows]


@pytest.mark.parametrize("name", ["ERR-IA@1", "alpha-DCG@1"])
def test_ndeval_forgets_to_normalise_its_first_rank(name):
    """Its loop of division starts at the second rank, so that at rank 1 the sum stands there: here 1 instead of 1/2."""
    rows = [facet_row("q", "1", "a", 1), facet_row("q", "2", "b", 1)]
    ours = name.replace("-", "_")

    judge = pyndeval.RelevanceEvaluator(subtopic_qrels(rows), [name])

    assert facet_values(ours, rows, PAIR)["q"][ours] == 0.5
    assert judge.evaluate([("q", "a", 2.0)])["q"][name] == 1.0


def test_ndeval_breaks_ties_by_id_ascending():
    rows = [facet_row("q", "1", "z", 1), facet_row("q", "2", "z", 1)]

    judge = pyndeval.RelevanceEvaluator(subtopic_qrels(rows), ["strec@1"])

    assert facet_values("STREC@1", rows, {"q": {"a": 1.0, "z": 1.0}})["q"]["STREC@1"] == 1.0
    assert judge.evaluate([("q", "a", 1.0), ("q", "z", 1.0)])["q"]["strec@1"] == 0.0


def test_ndeval_knows_no_rank_beyond_twenty():
    """Its arrays have twenty places; Karat has no such bound."""
    rows = [facet_row("q", "1", "b", 1), facet_row("q", "2", "x", 1)]
    run = {"q": {f"a{place:02}": -float(place) for place in range(25)} | {"b": -30.0}}

    assert facet_values("STREC@30", rows, run)["q"]["STREC@30"] == 0.5
    with pytest.raises(AssertionError, match="cutoffs up to 20"):
        pyndeval.RelevanceEvaluator(subtopic_qrels(rows), ["strec@30"])


def test_ir_measures_cannot_condense_a_list_for_facets():
    """Its filter expects another form of run than the one it is handed."""
    qrels = [ir_measures.Qrel("q", "a", 1, "1"), ir_measures.Qrel("q", "b", 1, "2")]
    run = [ir_measures.ScoredDoc("q", "x", 2.0), ir_measures.ScoredDoc("q", "a", 1.0)]
    rows = [facet_row("q", "1", "a", 1), facet_row("q", "2", "b", 1)]
    name = "STREC(judged_only=True)@1"

    assert facet_values(name, rows, {"q": {"x": 2.0, "a": 1.0}})["q"][name] == 0.5
    with pytest.raises(Exception):  # noqa: B017 - whichever it trips over first
        by_ir_measures("alpha_nDCG(judged_only=True)@1", qrels, run)


def test_ir_measures_reads_a_run_once_for_all_settings_of_facets():
    """Measures with another alpha or rel than the first find the run used up and are zero; asked alone they are not."""
    qrels = [ir_measures.Qrel("q", "a", 1, "1"), ir_measures.Qrel("q", "b", 1, "2")]
    run = [ir_measures.ScoredDoc("q", "a", 1.0)]
    rows = [facet_row("q", "1", "a", 1), facet_row("q", "2", "b", 1)]
    names = ["alpha_nDCG(alpha=0.3)@1", "alpha_nDCG(alpha=0.7)@1"]

    together = ir_measures.iter_calc([ir_measures.parse_measure(name) for name in names], qrels, run)

    assert facet_values(" ".join(names), rows, {"q": {"a": 1.0}})["q"] == dict.fromkeys(names, 1.0)
    assert sorted(row.value for row in together) == [0.0, 1.0]
    assert [by_ir_measures(name, qrels, run)["q"] for name in names] == [1.0, 1.0]
