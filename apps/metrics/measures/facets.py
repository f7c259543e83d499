"""Measures for queries with facets (subtopics, intents): how many are answered, and how soon.

They are those of NIST's ndeval. A facet counts for a query when some block was judged relevant to it; a query without
such a facet scores 0, and one of which no block was judged by facets has no value. A block gains more when its facets
occur less above it: each time a facet occurs, its gain is multiplied by 1 − alpha.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from apps.metrics.columns import BLOCK_BITS, BlockIds, Facets, Floats, Ints, Judged, pair_keys, place_within
from apps.metrics.measures.entries import FACETS, GRADES, Entry, Measure
from apps.metrics.measures.graded import log_discount
from apps.metrics.measures.measure_input import Pass, ratio
from apps.metrics.measures.notation import MeasureError

# ndeval computes its intent-aware ERR and precision with this alpha, whatever the one of alpha-nDCG.
CASCADE = 0.5

Discount = Callable[[Ints], Floats]


class FacetRows(NamedTuple):
    """A row for each relevant facet of each judged row of a ranking, by query, rank and facet."""

    query: Ints
    facet: Ints
    rank: Ints


def _facets(judged: Judged) -> Facets:
    if judged.facets is None:
        raise MeasureError("These judgements have no facets.")
    return judged.facets


def _relevant(judged: Judged, rel: int) -> Facets:
    """The rows of relevant facets, by pair and then facet."""
    key = ("facets", rel)
    if key not in judged.cached:
        facets = _facets(judged)
        rows = np.flatnonzero(facets.grade >= rel)
        rows = rows[np.lexsort((facets.facet[rows], pair_keys(facets.query[rows], facets.block[rows])))]
        judged.cached[key] = Facets(*(column[rows] for column in facets))
    relevant: Facets = judged.cached[key]
    return relevant


def _counts(judged: Judged, rel: int) -> Ints:
    """How many facets count for each query."""
    facets = _relevant(judged, rel)
    query, _ = _distinct(facets.query, facets.facet)
    return np.bincount(query, minlength=len(judged.queries))


def _distinct(query: Ints, facet: Ints) -> tuple[Ints, Ints]:
    keys = np.unique(pair_keys(query, facet))
    return keys >> BLOCK_BITS, keys & ((1 << BLOCK_BITS) - 1)


def _occurrences(run: Pass, measure: Measure) -> FacetRows:
    """The relevant facets down to the cutoff."""
    facets = _relevant(run.judged, measure.rel)
    rank = run.ranks(measure.judged_only)
    in_cutoff = slice(None) if measure.cutoff is None else rank < measure.cutoff
    query, block, rank = run.query[in_cutoff], run.block[in_cutoff], rank[in_cutoff]
    keys, wanted = pair_keys(facets.query, facets.block), pair_keys(query, block)
    first, last = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
    times = last - first
    row = np.repeat(np.arange(len(wanted)), times)
    place = np.arange(len(row)) - np.repeat(np.cumsum(times) - times, times) + np.repeat(first, times)
    return FacetRows(query[row], facets.facet[place], rank[row])


def _facet_gains(occurrences: FacetRows, alpha: float) -> Floats:
    """The gain of each occurrence of a facet: (1 − alpha) to the number of its occurrences above."""
    pair = pair_keys(occurrences.query, occurrences.facet)
    order = np.argsort(pair, kind="stable")
    _, group = np.unique(pair[order], return_inverse=True)
    times = np.empty(len(pair), dtype=np.int64)
    times[order] = place_within(group, int(group.max(initial=-1)) + 1)
    worths: Floats = np.power(1.0 - alpha, times, dtype=np.float64)
    return worths


def _reciprocal(rank: Ints) -> Floats:
    return np.reciprocal(rank.astype(np.float64) + 1.0)


def _gained(run: Pass, measure: Measure, alpha: float, discount: Discount) -> Floats:
    occurrences = _occurrences(run, measure)
    return run.sums(occurrences.query, _facet_gains(occurrences, alpha) * discount(occurrences.rank))


def _highest(run: Pass, measure: Measure, alpha: float, discount: Discount) -> Floats:
    """The gain of a ranking down to the cutoff if each of its blocks answered every facet of the query."""
    ranks = np.arange(measure.cutoff or 0)
    gain = np.power(1.0 - alpha, ranks, dtype=np.float64) * discount(ranks)
    return _counts(run.judged, measure.rel).astype(np.float64) * float(gain.sum())


def _best(run: Pass, measure: Measure, alpha: float, discount: Discount) -> Floats:
    """The gain of the ideal order of the judged blocks down to the cutoff."""
    key = ("best", measure.rel, alpha, measure.cutoff)
    if key not in run.judged.cached:
        run.judged.cached[key] = _greedy(run.judged, measure, alpha, run.block_ids)
    worths: Floats = run.judged.cached[key]
    best: Floats = worths @ discount(np.arange(worths.shape[1]))
    return best


def _greedy(judged: Judged, measure: Measure, alpha: float, block_ids: BlockIds) -> Floats:
    """The gain of the block at each rank when the next is always the one with the largest gain: shape (queries,
    cutoff).

    The ideal order is as hard to compute as a smallest set cover; as in ndeval it is the greedy one, ties by block id
    descending.
    """
    facets = _relevant(judged, measure.rel)
    query, row_of = _by_id_descending(facets, block_ids)
    _, cell = np.unique(pair_keys(facets.query, facets.facet), return_inverse=True)
    gain = np.ones(int(cell.max(initial=-1)) + 1)
    firsts = np.flatnonzero(np.diff(query, prepend=-1))
    is_left, is_next = np.ones(len(query), dtype=bool), np.zeros(len(query), dtype=bool)
    worths = np.zeros((len(judged.queries), measure.cutoff or 0))
    for rank in range(worths.shape[1]):
        if not is_left.any():
            break
        worth = np.where(is_left, np.bincount(row_of, weights=gain[cell], minlength=len(query)), -1.0)
        top = np.maximum.reduceat(worth, firsts)
        chosen = np.flatnonzero(is_left & (worth == np.repeat(top, np.diff(firsts, append=len(query)))))
        chosen = chosen[np.diff(query[chosen], prepend=-1) != 0]
        worths[query[chosen], rank] = worth[chosen]
        is_left[chosen], is_next[chosen] = False, True
        gain[cell[is_next[row_of]]] *= 1.0 - alpha
        is_next[chosen] = False
    return worths


def _by_id_descending(facets: Facets, block_ids: BlockIds) -> tuple[Ints, Ints]:
    """The relevant blocks by query and id descending: the query of each, and the index of each facet row's block."""
    keys, place = np.unique(pair_keys(facets.query, facets.block), return_inverse=True)
    query, block = keys >> BLOCK_BITS, (keys & ((1 << BLOCK_BITS) - 1)).tolist()
    by_id = sorted(range(len(keys)), key=lambda row: block_ids[block[row]], reverse=True)
    order = np.array(by_id, dtype=np.int64)
    order = order[np.argsort(query[order], kind="stable")]
    moved = np.empty_like(order)
    moved[order] = np.arange(len(order))
    return query[order], moved[place]


def _alpha_dcg(run: Pass, measure: Measure) -> Floats:
    gained = _gained(run, measure, measure.alpha, log_discount)
    return ratio(gained, _highest(run, measure, measure.alpha, log_discount))


def _alpha_ndcg(run: Pass, measure: Measure) -> Floats:
    gained = _gained(run, measure, measure.alpha, log_discount)
    return ratio(gained, _best(run, measure, measure.alpha, log_discount))


def _err_ia(run: Pass, measure: Measure) -> Floats:
    return ratio(_gained(run, measure, CASCADE, _reciprocal), _highest(run, measure, CASCADE, _reciprocal))


def _nerr_ia(run: Pass, measure: Measure) -> Floats:
    return ratio(_gained(run, measure, CASCADE, _reciprocal), _best(run, measure, CASCADE, _reciprocal))


def _subtopic_recall(run: Pass, measure: Measure) -> Floats:
    occurrences = _occurrences(run, measure)
    query, _ = _distinct(occurrences.query, occurrences.facet)
    return ratio(np.bincount(query, minlength=run.size), _counts(run.judged, measure.rel))


def _precision_ia(run: Pass, measure: Measure) -> Floats:
    hits = np.bincount(_occurrences(run, measure).query, minlength=run.size)
    return ratio(hits, _counts(run.judged, measure.rel) * (measure.cutoff or 1))


def _ap_ia(run: Pass, measure: Measure) -> Floats:
    occurrences, facets = _occurrences(run, measure), _relevant(run.judged, measure.rel)
    cells, relevant = np.unique(pair_keys(facets.query, facets.facet), return_counts=True)
    cell = np.searchsorted(cells, pair_keys(occurrences.query, occurrences.facet))
    order = np.argsort(cell, kind="stable")
    precision = (place_within(cell[order], len(cells)) + 1) / (occurrences.rank[order] + 1)
    by_facet = np.bincount(cell[order], weights=precision, minlength=len(cells)) / relevant
    return ratio(run.sums(cells >> BLOCK_BITS, by_facet), _counts(run.judged, measure.rel))


def _where_judged(values: Callable[[Pass, Measure], Floats]) -> Callable[[Pass, Measure], Floats]:
    """The values, undefined (NaN) for a query of which no block was judged by facets."""

    def of(run: Pass, measure: Measure) -> Floats:
        is_judged = np.bincount(_facets(run.judged).query, minlength=run.size) > 0
        return np.where(is_judged, values(run, measure), np.nan)

    return of


def _entry(name: str, words: str, source: str, values: Callable[[Pass, Measure], Floats], **more: object) -> Entry:
    given = {
        "cutoff": "needed",
        "takes": frozenset({"rel", "judged_only"}),
        "needs": frozenset({GRADES, FACETS}),
    } | more
    return Entry(name, words, source, _where_judged(values), **given)  # type: ignore[arg-type]


WITH_ALPHA = frozenset({"rel", "judged_only", "alpha"})
ENTRIES = (
    _entry(
        "alpha_nDCG",
        "Sum of worth / log2(rank + 1) in the first k, divided by the same sum for the greedily best order. A block is "
        "worth, for each facet it answers, (1 − alpha) to the number of blocks above it that answer the facet.",
        "ndeval alpha-nDCG@k; Clarke et al., SIGIR 2008",
        _alpha_ndcg,
        takes=WITH_ALPHA,
    ),
    _entry(
        "alpha_DCG",
        "As alpha_nDCG, divided by what k blocks that each answer every facet would gain.",
        "ndeval alpha-DCG@k; Clarke et al., SIGIR 2008",
        _alpha_dcg,
        takes=WITH_ALPHA,
    ),
    _entry(
        "ERR_IA",
        "Sum of worth / rank in the first k with alpha 0.5, divided by what k blocks that each answer every facet "
        "would gain.",
        "ndeval ERR-IA@k; Chapelle et al., CIKM 2009",
        _err_ia,
    ),
    _entry(
        "nERR_IA",
        "As ERR_IA, divided by the sum for the greedily best order.",
        "ndeval nERR-IA@k; Chapelle et al., CIKM 2009",
        _nerr_ia,
    ),
    _entry(
        "STREC",
        "Facets that a block in the first k answers, divided by the facets that any judged block answers.",
        "ndeval strec@k; Zhai, Cohen and Lafferty, SIGIR 2003",
        _subtopic_recall,
        aliases=("StRecall",),
    ),
    _entry(
        "P_IA",
        "P@k of each facet, averaged over the facets of the query.",
        "ndeval P-IA@k; Agrawal et al., WSDM 2009",
        _precision_ia,
    ),
    _entry(
        "AP_IA",
        "AP of each facet, averaged over the facets of the query.",
        "ndeval MAP-IA; Agrawal et al., WSDM 2009",
        _ap_ia,
        cutoff="none",
        aliases=("MAP_IA",),
    ),
)
