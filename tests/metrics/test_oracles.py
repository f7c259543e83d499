"""A thousand made-up collections, scored by Karat and by the libraries of the field.

What the libraries do otherwise stands in `test_known_deviations`; here those cases are left out, each by name.
"""

import math
import shutil

import ir_measures
import pyndeval
import pytest
import pytrec_eval
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.metrics.measures.registry import parse_measure
from tests.metrics.oracle import facet_row, facet_values, in_our_order, values
from tests.walks import often

pytestmark = [pytest.mark.slow, pytest.mark.once]

TREC_EVAL = {
    "P@1": "P_1",
    "P@5": "P_5",
    "Recall@5": "recall_5",
    "Success@5": "success_5",
    "RR": "recip_rank",
    "AP": "map",
    "AP@5": "map_cut_5",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "infAP": "infAP",
    "nDCG": "ndcg",
    "nDCG@5": "ndcg_cut_5",
    "SetP": "set_P",
    "SetR": "set_recall",
    "SetF": "set_F",
}
FAMILIES = {*TREC_EVAL.values()} - {"P_1", "P_5", "recall_5", "success_5", "map_cut_5", "ndcg_cut_5"}
FAMILIES |= {"P.1,5", "recall.5", "success.5", "map_cut.5", "ndcg_cut.5"}
NOT_CONDENSED = {"Bpref", "infAP", "SetR"}
NDEVAL = {
    **{f"alpha_nDCG(alpha={alpha})@{k}": (alpha, f"alpha-nDCG@{k}") for alpha in (0.5, 0.3) for k in (1, 5, 20)},
    **{f"alpha_DCG(alpha={alpha})@{k}": (alpha, f"alpha-DCG@{k}") for alpha in (0.5, 0.3) for k in (5, 20)},
    **{f"ERR_IA@{k}": (0.5, f"ERR-IA@{k}") for k in (2, 5, 20)},
    **{
        f"{ours}@{k}": (0.5, f"{theirs}@{k}")
        for ours, theirs in (("nERR_IA", "nERR-IA"), ("STREC", "strec"), ("P_IA", "P-IA"))
        for k in (1, 5, 20)
    },
    "AP_IA": (0.5, "MAP-IA"),
}
IR_MEASURES = (
    "P@5 P(rel=2)@5 R@5 Success(rel=3)@5 RR RR@3 AP AP(rel=2) AP@5 Rprec Bpref infAP nDCG nDCG@5 SetP SetR SetF "
    "Judged@5 nDCG(gains={1:1,2:3,3:7})@5"
)
# Two calls, for a reason that stands in `test_known_deviations`.
IR_MEASURES_OF_FACETS = "alpha_nDCG@5 alpha_DCG@5 ERR_IA@5 nERR_IA@5 StRecall@5 P_IA@5 AP_IA"
IR_MEASURES_FROM_TWO = "alpha_nDCG(alpha=0.3,rel=2)@5 alpha_DCG(alpha=0.3,rel=2)@5"

BLOCKS = "abcdefghij"
judged_queries = st.dictionaries(
    st.tuples(st.sampled_from("123"), st.sampled_from(BLOCKS)), st.integers(-1, 4), min_size=1, max_size=14
)
rankings = st.dictionaries(st.sampled_from(BLOCKS + "xyz"), st.sampled_from([-1.0, 0.0, 2.0, 2.5]), max_size=10)
collections = st.lists(st.tuples(judged_queries, rankings), min_size=1, max_size=3)


def plain(rows):
    """The qrels without facets: each pair with its best grade."""
    found = {}
    for row in rows:
        grades = found.setdefault(row.query_id, {})
        grades[row.block_id] = max(row.grade, grades.get(row.block_id, row.grade))
    return found


def condensed(name):
    head, at, cutoff = name.partition("@")
    return f"{head}(judged_only=True){at}{cutoff}"


def sound(qrels):
    """The qrels with a 0 for a query of negative grades alone, without which trec_eval may never come back."""
    return {query: grades if max(grades.values()) >= 0 else grades | {"0": 0} for query, grades in qrels.items()}


def by_trec_eval(qrels, run, *, condense):
    """trec_eval's values by our names."""
    found = pytrec_eval.RelevanceEvaluator(sound(qrels), FAMILIES, judged_docs_only_flag=int(condense)).evaluate(run)
    names = TREC_EVAL
    if condense:
        names = {condensed(ours): theirs for ours, theirs in TREC_EVAL.items() if ours not in NOT_CONDENSED}
    return {query: {ours: found.get(query, {}).get(theirs, 0.0) for ours, theirs in names.items()} for query in qrels}


def without_deviations(table, qrels, run):
    """The values without Judged where grades are negative, and where there is no ranking."""
    return {
        query: {
            name: value
            for name, value in row.items()
            if not (name.startswith("Judged") and (query not in run or min(qrels[query].values()) < 0))
        }
        for query, row in table.items()
    }


def by_ndeval(rows, run):
    """ndeval's values by our names, those without an alpha of their own at 0.5."""
    found = {row.query_id: {} for row in rows}
    for alpha in (0.5, 0.3):
        names = {ours: theirs for ours, (own, theirs) in NDEVAL.items() if own == alpha}
        judgements = [pyndeval.SubtopicQrel(row.query_id, row.facet, row.block_id, row.grade) for row in rows]
        judge = pyndeval.RelevanceEvaluator(judgements, list(names.values()), alpha=alpha)
        values = judge.evaluate((query, block, score) for query in run for block, score in run[query].items())
        for query, row in found.items():
            row |= {ours: values.get(query, {}).get(theirs, 0.0) for ours, theirs in names.items()}
    return found


def by_ir_measures(names, rows, run):
    """ir-measures' values. nDCG with gains is asked for alone: together with a plain one, in an order of a set that
    changes from process to process, either may take the other's place.
    """
    qrels = [ir_measures.Qrel(row.query_id, row.block_id, row.grade, row.facet) for row in rows]
    results = [ir_measures.ScoredDoc(query, block, score) for query in run for block, score in run[query].items()]
    table = {}
    for asked in ([name for name in names if "gains" not in name], [name for name in names if "gains" in name]):
        measures = {ir_measures.parse_measure(name): name for name in asked}
        for metric in ir_measures.iter_calc(list(measures), qrels, results) if measures else ():
            table.setdefault(metric.query_id, {})[measures[metric.measure]] = metric.value
    return table


@settings(max_examples=often(25, 1000), deadline=None, suppress_health_check=list(HealthCheck))
@given(collections)
def test_values_equal_those_of_the_libraries(drawn):
    rows = [
        facet_row(f"q{place}", facet, block, grade)
        for place, (judged, _) in enumerate(drawn)
        for (facet, block), grade in judged.items()
    ]
    run = {f"q{place}": ranking for place, (_, ranking) in enumerate(drawn) if ranking}
    ordered, qrels = in_our_order(run), plain(rows)
    has_facets = len({row.facet for row in rows}) > 1
    ir_names = IR_MEASURES.split()
    names = [*TREC_EVAL, *(condensed(name) for name in TREC_EVAL if name not in NOT_CONDENSED), *ir_names]
    if has_facets:
        names += [*NDEVAL, *IR_MEASURES_OF_FACETS.split(), *IR_MEASURES_FROM_TWO.split()]

    ours = facet_values(" ".join(dict.fromkeys(names)), rows, run)

    best = [facet_row(query, "0", block, grade) for query, row in sound(qrels).items() for block, grade in row.items()]
    tables = {
        "trec_eval": by_trec_eval(qrels, run, condense=False),
        "trec_eval -J": by_trec_eval(qrels, run, condense=True),
        "ir-measures": by_ir_measures(ir_names, best, ordered),
    }
    if has_facets:
        tables["ndeval"] = by_ndeval(rows, ordered)
        tables["ir-measures, facets"] = by_ir_measures(IR_MEASURES_OF_FACETS.split(), rows, ordered)
        tables["ir-measures, facets from 2"] = by_ir_measures(IR_MEASURES_FROM_TWO.split(), rows, ordered)
    differences = [
        (library, query, name, ours[query][name], value)
        for library, table in tables.items()
        for query, row in without_deviations(table, qrels, run).items()
        for name, value in row.items()
        if not math.isclose(ours[query][name], value, rel_tol=0, abs_tol=1e-12)
    ]
    assert differences == []


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval, the reference of ERR, is written in Perl")
@settings(max_examples=often(25, 100), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(judged_queries, rankings), min_size=10, max_size=10))
def test_err_and_exponential_ndcg_equal_gdeval(drawn):
    """gdeval reads queries that are numbers, and prints five decimals; a thousand queries over all examples."""
    rows = [
        facet_row(str(place), "0", block, max(grade for (_, other), grade in judged.items() if other == block))
        for place, (judged, _) in enumerate(drawn)
        for block in {block for _, block in judged}
    ]
    run = in_our_order({str(place): ranking for place, (_, ranking) in enumerate(drawn) if ranking})
    names = ["ERR@3", "ERR@20", "nDCG(dcg='exp-log2')@3"]

    ours, theirs = values(" ".join(names), plain(rows), run), by_ir_measures(names, rows, run) if run else {}

    canonical = {name: str(parse_measure(name)) for name in names}
    for query, row in theirs.items():
        for name, value in row.items():
            assert ours[query][canonical[name]] == pytest.approx(value, abs=5.001e-6), (query, name)
