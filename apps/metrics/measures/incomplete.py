"""Measures for incomplete judgements, and the measure of their completeness."""

from __future__ import annotations

import numpy as np

from apps.metrics.columns import Floats, place_within
from apps.metrics.measures.entries import GRADES, POOLED, Entry, Measure
from apps.metrics.measures.measure_input import Pass, ratio

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


ENTRIES = (
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
)
