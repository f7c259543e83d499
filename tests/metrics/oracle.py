"""Small helpers that put literal judgements and runs through the core and through trec_eval's own code."""

import pytrec_eval

from apps.metrics.columns import Judged, Ranked, faceted_columns, judged_columns, ranked_columns
from apps.metrics.files.trec_rows import QrelRow
from apps.metrics.measures.notation import split_measures
from apps.metrics.measures.registry import measure_run, parse_measure, parse_measures
from apps.metrics.vocabulary import Vocabulary

Qrels = dict[str, dict[str, int]]
Results = dict[str, dict[str, float]]

TREC_NAMES = {
    "P@1": "P_1",
    "P@5": "P_5",
    "P@10": "P_10",
    "Recall@1": "recall_1",
    "Recall@5": "recall_5",
    "Recall@1000": "recall_1000",
    "Success@1": "success_1",
    "Success@5": "success_5",
    "RR": "recip_rank",
    "AP": "map",
    "AP@5": "map_cut_5",
    "AP@10": "map_cut_10",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "nDCG": "ndcg",
    "nDCG@5": "ndcg_cut_5",
    "nDCG@10": "ndcg_cut_10",
    "nDCG@1000": "ndcg_cut_1000",
}


def values(measures: str, qrels: Qrels, run: Results) -> dict[str, dict[str, float]]:
    """Values by query and measure, from Karat's core."""
    judged, ranked, blocks = columns_of(qrels, run)
    names = [str(measure) for measure in parse_measures(measures)]
    rows = measure_run(parse_measures(measures), judged, ranked, blocks).tolist()
    return {query: dict(zip(names, row, strict=True)) for query, row in zip(judged.queries, rows, strict=True)}


def columns_of(qrels: Qrels, run: Results) -> tuple[Judged, Ranked, list[bytes]]:
    """The input of the core."""
    blocks = Vocabulary()
    judged = judged_columns(((q, b, g) for q in qrels for b, g in qrels[q].items()), blocks)
    ranked, _ = ranked_columns(((q, b, s) for q in run for b, s in run[q].items()), judged.queries, blocks)
    return judged, ranked, list(blocks)


def trec_values(qrels: Qrels, run: Results, *, rel: int = 1) -> dict[str, dict[str, float]]:
    """Values by query and measure, from trec_eval through pytrec-eval-terrier; missing queries are 0."""
    families = {
        "P.1,5,10",
        "recall.1,5,1000",
        "success.1,5",
        "recip_rank",
        "map",
        "map_cut.5,10",
        "Rprec",
        "bpref",
        "ndcg",
        "ndcg_cut.5,10,1000",
    }
    judge = pytrec_eval.RelevanceEvaluator(qrels, families, relevance_level=rel)
    found = judge.evaluate(run)
    return {
        query: {name: found.get(query, {}).get(theirs, 0.0) for name, theirs in TREC_NAMES.items()} for query in qrels
    }


def facet_row(query_id: str, facet: str, block_id: str, grade: int) -> QrelRow:
    return QrelRow(query_id, block_id, grade, facet)


def facet_values(measures: str, rows: list[QrelRow], run: Results) -> dict[str, dict[str, float]]:
    """Values by query and measure as written in the list, from judgements that name facets."""
    blocks = Vocabulary()
    judged = faceted_columns(((row.query_id, row.facet, row.block_id, row.grade) for row in rows), blocks)
    ranked, _ = ranked_columns(((q, b, s) for q in run for b, s in run[q].items()), judged.queries, blocks)
    names = split_measures(measures)
    found = measure_run([parse_measure(name) for name in names], judged, ranked, list(blocks)).tolist()
    return {query: dict(zip(names, row, strict=True)) for query, row in zip(judged.queries, found, strict=True)}


def in_our_order(run: Results) -> Results:
    """The same rankings with scores that all differ, ties broken as Karat and trec_eval break them."""
    return {
        query: {block: float(-rank) for rank, (block, _) in enumerate(sorted(row.items(), key=_worth, reverse=True))}
        for query, row in run.items()
    }


def _worth(item: tuple[str, float]) -> tuple[float, str]:
    return item[1], item[0]
