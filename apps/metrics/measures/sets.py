"""Measures of binary relevance: what was retrieved, how much of it, and how early; some for incomplete judgements."""

from __future__ import annotations

import numpy as np

from apps.metrics.columns import Floats, Ints, place_within
from apps.metrics.measures.entries import GRADES, POOLED, UNANSWERABLE, Entry, Measure
from apps.metrics.measures.measure_input import Pass, ratio

CONDENSABLE = frozenset({"rel", "judged_only"})
CAPPABLE = CONDENSABLE | {"capped"}


def _hits(run: Pass, measure: Measure) -> Ints:
    return run.hits(measure.rel, measure.cutoff, judged_only=measure.judged_only)


def _precision(run: Pass, measure: Measure) -> Floats:
    return ratio(_hits(run, measure), measure.cutoff or 1)


def _recall(run: Pass, measure: Measure) -> Floats:
    found = run.found(measure.rel, measure.cutoff, judged_only=measure.judged_only)
    most = run.relevant(measure.rel, measure.cutoff if measure.capped else None)
    return ratio(np.minimum(found, most), most)


def _f1(run: Pass, measure: Measure) -> Floats:
    hits, cutoff = _hits(run, measure), measure.cutoff or 0
    found = run.found(measure.rel, measure.cutoff, judged_only=measure.judged_only)
    return ratio(2 * hits * found, hits * run.judged.relevant(measure.rel) + found * cutoff)


def _success(run: Pass, measure: Measure) -> Floats:
    return (_hits(run, measure) > 0).astype(np.float64)


def _failure(run: Pass, measure: Measure) -> Floats:
    return 1.0 - _success(run, measure)


def _reciprocal_rank(run: Pass, measure: Measure) -> Floats:
    query, rank = run.rows(measure.rel, measure.cutoff, judged_only=measure.judged_only)
    values = np.zeros(run.size)
    values[query[::-1]] = 1.0 / (rank[::-1] + 1)
    return values


def _average_precision(run: Pass, measure: Measure) -> Floats:
    query, rank = run.rows(measure.rel, measure.cutoff, judged_only=measure.judged_only)
    precision = (place_within(query, run.size) + 1) / (rank + 1)
    if measure.capped:
        return ratio(run.sums(query, precision), run.relevant(measure.rel, measure.cutoff))
    blocks = run.blocks_in_rows(measure.rel, measure.cutoff, judged_only=measure.judged_only)
    return ratio(run.sums(query, precision * blocks), run.relevant(measure.rel))


def _r_precision(run: Pass, measure: Measure) -> Floats:
    relevant = run.judged.relevant(measure.rel)
    query, rank = run.rows(measure.rel, None, judged_only=measure.judged_only)
    hits = np.bincount(query[rank < relevant[query]], minlength=run.size)
    return ratio(hits, relevant)


RECALL_LEVELS = tuple(level / 10 for level in range(11))


def interpolated_precision(run: Pass, rel: int) -> Floats:
    """The highest precision at or after each level of recall, as trec_eval's iprec_at_recall: shape (queries, levels).

    0 at a level that the run does not reach.
    """
    query, rank = run.rows(rel, None)
    found = place_within(query, run.size)
    falling = (found + 1) / (rank + 1) + 2.0 * (run.size - query)  # a query below never has more than one above
    highest = np.maximum.accumulate(falling[::-1])[::-1] - 2.0 * (run.size - query)
    blocks = run.blocks_in_rows(rel, None)
    query, highest = np.repeat(query, blocks), np.repeat(highest, blocks)
    counts = np.bincount(query, minlength=run.size)
    firsts = np.cumsum(counts) - counts
    columns = []
    for level in RECALL_LEVELS:
        needed = np.maximum((level * run.relevant(rel) + 0.9).astype(np.int64), 1)
        is_reached = counts >= needed
        column = np.zeros(run.size)
        column[is_reached] = highest[(firsts + needed - 1)[is_reached]]
        columns.append(column)
    return np.column_stack(columns)


def _set_precision(run: Pass, measure: Measure) -> Floats:
    return ratio(_hits(run, measure), run.lengths(measure.judged_only))


def _set_f(run: Pass, measure: Measure) -> Floats:
    precision, recall = _set_precision(run, measure), _recall(run, measure)
    return ratio((measure.beta + 1.0) * precision * recall, measure.beta * precision + recall)


# The smoothing of trec_eval's infAP, so that a rank without judged blocks above it has a precision.
EPSILON = 0.00001


def _bpref(run: Pass, measure: Measure) -> Floats:
    relevant = run.judged.relevant(measure.rel)
    others = run.judged.relevant(0) - relevant
    hit = run.grade >= measure.rel
    query = run.query[hit]
    above = run.condensed_rank[hit] - place_within(query, run.size)
    limit = relevant[query]
    lost = ratio(np.minimum(above, limit), np.minimum(others[query], limit))
    return ratio(run.sums(query, (1.0 - lost) * run.blocks_in_rows(measure.rel, None)), relevant)


def _inferred_ap(run: Pass, measure: Measure) -> Floats:
    hit = run.grade >= measure.rel
    query, rank = run.query[hit], run.rank[hit].astype(np.float64)
    relevant = place_within(query, run.size)
    pooled = run.pooled[hit]
    others = run.condensed_rank[hit] - relevant
    share = (relevant + EPSILON) / (relevant + others + 2 * EPSILON)
    expected = 1.0 / (rank + 1) + rank / (rank + 1) * ratio(pooled, rank) * share
    expected[rank == 0] = 1.0
    return ratio(run.sums(query, expected), run.judged.relevant(measure.rel))


def _judged(run: Pass, measure: Measure) -> Floats:
    """Undefined (NaN) for a query without results: there was nothing to judge."""
    cutoff = measure.cutoff or 0
    seen = np.bincount(run.query[run.rank < cutoff], minlength=run.size)
    looked = np.minimum(run.returned, cutoff)
    return np.divide(seen, looked, out=np.full(run.size, np.nan), where=looked > 0)


def _abstention(run: Pass, measure: Measure) -> Floats:
    """Undefined (NaN) for all queries but those that nothing answers."""
    return np.where(run.judged.answerable, np.nan, run.abstained.astype(np.float64))


def _false_answer(run: Pass, measure: Measure) -> Floats:
    return 1.0 - _abstention(run, measure)


def _false_abstention(run: Pass, measure: Measure) -> Floats:
    """Undefined (NaN) for a query without a relevant block: nobody knows whether anything answers it."""
    return np.where(run.judged.relevant(measure.rel) > 0, run.abstained.astype(np.float64), np.nan)


ENTRIES = (
    Entry(
        "P",
        "Relevant blocks in the first k, divided by k.",
        "trec_eval P_k",
        _precision,
        "needed",
        takes=CONDENSABLE,
        aliases=("Precision",),
    ),
    Entry(
        "Recall",
        "Relevant blocks in the first k, divided by all relevant blocks; 0 when there is none. With capped=True "
        "divided by k where more are relevant.",
        "trec_eval recall_k; capped: R_cap@k of BEIR and MTEB",
        _recall,
        "needed",
        takes=CAPPABLE,
        aliases=("R",),
    ),
    Entry(
        "Success",
        "1 when a relevant block is in the first k, else 0.",
        "trec_eval success_k",
        _success,
        "needed",
        takes=CONDENSABLE,
    ),
    Entry(
        "FailureRate",
        "1 when no relevant block is in the first k, else 0: 1 − Success@k. Smaller is better; a query that is missing "
        "from the run is 1.",
        "trec_eval success_k, turned around",
        _failure,
        "needed",
        takes=CONDENSABLE,
        is_lower_better=True,
    ),
    Entry(
        "F1",
        "Harmonic mean of P@k and Recall@k; 0 when there is no relevant block.",
        "van Rijsbergen, Information Retrieval (1979), chapter 7",
        _f1,
        "needed",
        takes=CONDENSABLE,
    ),
    Entry(
        "RR",
        "1 divided by the rank of the first relevant block; 0 when none is found.",
        "trec_eval recip_rank; Kantor and Voorhees, TREC-5 (1996)",
        _reciprocal_rank,
        "optional",
        takes=CONDENSABLE,
        aliases=("MRR",),
    ),
    Entry(
        "AP",
        "Precision at the rank of each relevant block found, summed, divided by all relevant blocks. With capped=True "
        "divided by k where more are relevant.",
        "trec_eval map, map_cut_k; capped: as in many recommender libraries",
        _average_precision,
        "optional",
        takes=CAPPABLE,
        aliases=("MAP",),
    ),
    Entry(
        "Rprec",
        "Precision at rank R, where R is the number of relevant blocks of the query.",
        "trec_eval Rprec",
        _r_precision,
        "none",
        takes=CONDENSABLE,
        aliases=("RPrec",),
    ),
    Entry(
        "SetP",
        "Relevant blocks returned, divided by all blocks returned; 0 when nothing was.",
        "trec_eval set_P",
        _set_precision,
        "none",
        takes=CONDENSABLE,
    ),
    Entry(
        "SetR",
        "Relevant blocks returned, divided by all relevant blocks; 0 when there is none.",
        "trec_eval set_recall",
        _recall,
        "none",
    ),
    Entry(
        "SetF",
        "(beta + 1) · SetP · SetR / (beta · SetP + SetR); 0 when both are.",
        "trec_eval set_F; van Rijsbergen, Information Retrieval (1979), chapter 7",
        _set_f,
        "none",
        takes=CONDENSABLE | {"beta"},
    ),
    Entry(
        "Bpref",
        "For each relevant block found, 1 minus the judged, not relevant blocks above it (at most R) divided by the "
        "smaller of R and all judged, not relevant blocks; the sum of these divided by R, the number of relevant "
        "blocks.",
        "trec_eval bpref; Buckley and Voorhees, SIGIR 2004",
        _bpref,
        "none",
        aliases=("BPref",),
    ),
    Entry(
        "infAP",
        "AP where only a sample of the pool was judged: above each relevant block found, blocks of the pool are taken "
        "to be relevant at the rate of those judged.",
        "trec_eval infAP; Yilmaz and Aslam, CIKM 2006",
        _inferred_ap,
        "none",
        needs=frozenset({GRADES, POOLED}),
    ),
    Entry(
        "Judged",
        "Judged blocks in the first k, divided by the blocks returned in the first k; not defined for a query without "
        "results.",
        "ir-measures Judged@k",
        _judged,
        "needed",
        takes=frozenset(),
        is_about_judging=True,
    ),
    Entry(
        "AbstentionRate",
        "Of an unanswerable query: 1 when the system abstains, else 0; other queries have no value. A system abstains "
        "when it returns nothing, or when its best score is below the one that the run states.",
        "share of correct abstentions; Rajpurkar, Jia and Liang, ACL 2018 (NoAns)",
        _abstention,
        "none",
        takes=frozenset(),
        needs=frozenset({GRADES, UNANSWERABLE}),
    ),
    Entry(
        "FalseAnswerRate",
        "1 − AbstentionRate: of an unanswerable query, 1 when the system answers all the same. Smaller is better.",
        "AbstentionRate, turned around",
        _false_answer,
        "none",
        takes=frozenset(),
        needs=frozenset({GRADES, UNANSWERABLE}),
        is_lower_better=True,
    ),
    Entry(
        "FalseAbstentionRate",
        "Of a query with a relevant block: 1 when the system abstains, else 0; other queries have no value. Smaller is "
        "better.",
        "share of false abstentions",
        _false_abstention,
        "none",
        is_lower_better=True,
    ),
)
