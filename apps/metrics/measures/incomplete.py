"""Measures for incomplete judgements, and the measure of their completeness."""

from __future__ import annotations

import numpy as np

from apps.metrics.columns import Floats, Ints, place_within
from apps.metrics.measures.entries import Entry, Measure
from apps.metrics.measures.measure_input import Pass, ratio

# The smoothing of trec_eval's infAP, so that a rank without judged blocks above it has a precision.
EPSILON = 0.00001


def _bpref(run: Pass, measure: Measure) -> Floats:
    relevant = run.judged.relevant(measure.rel)
    others = np.bincount(run.judged.query, minlength=run.size) - relevant
    hit = run.grade >= measure.rel
    query = run.query[hit]
    above = run.condensed_rank[hit] - place_within(query, run.size)
    limit = relevant[query]
    lost = ratio(np.minimum(above, limit), np.minimum(others[query], limit))
    return ratio(run.sums(query, 1.0 - lost), relevant)


def _inferred_ap(run: Pass, measure: Measure) -> Floats:
    """A row of the sample has a grade from 0; one of the pool outside the sample has a negative one."""
    hit = run.grade >= measure.rel
    query, rank = run.query[hit], run.rank[hit].astype(np.float64)
    relevant = place_within(query, run.size)
    pooled = run.condensed_rank[hit]
    others = _above((run.grade >= 0) & (run.grade < measure.rel), run)[hit]
    share = (relevant + EPSILON) / (relevant + others + 2 * EPSILON)
    expected = 1.0 / (rank + 1) + rank / (rank + 1) * ratio(pooled, rank) * share
    expected[rank == 0] = 1.0
    return ratio(run.sums(query, expected), run.judged.relevant(measure.rel))


def _above(chosen: np.ndarray, run: Pass) -> Ints:
    """For each judged row, how many of the chosen rows of its query are above it."""
    counted = np.concatenate(([0], np.cumsum(chosen)))
    firsts = np.cumsum(run.lengths(judged_only=True)) - run.lengths(judged_only=True)
    above: Ints = counted[:-1] - counted[firsts[run.query]]
    return above


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
        "to be relevant at the rate of those judged. A negative grade marks a block of the pool that was not judged.",
        "trec_eval infAP; Yilmaz and Aslam, CIKM 2006",
        _inferred_ap,
        "none",
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
