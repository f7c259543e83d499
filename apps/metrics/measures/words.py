"""Measures of the words that are returned, which no cut of the texts into passages can raise."""

from __future__ import annotations

import numpy as np

from apps.metrics.columns import Covering, Floats, Ints, Judged, pair_keys, place_within, union_lengths
from apps.metrics.measures.entries import GRADES, WORDS, Entry, Measure
from apps.metrics.measures.measure_input import Pass, ratio
from apps.metrics.measures.notation import MeasureError

SOURCE = "token recall, precision and IoU; Smith and Troynikov, Evaluating Chunking Strategies for Retrieval (2024)"


def _covering(run: Pass, measure: Measure) -> Covering:
    if run.covering is None:
        raise MeasureError(f"{measure} needs the words of returned passages: it measures runs by text.")
    return run.covering


def _relevant(run: Pass, measure: Measure) -> Floats:
    """The words of the relevant blocks of each query."""
    sizes = _covering(run, measure).sizes
    chosen = (run.judged.grade >= measure.rel) & (run.judged.block < len(sizes))
    return run.sums(run.judged.query[chosen], sizes[run.judged.block[chosen]].astype(np.float64))


def _returned(run: Pass, measure: Measure) -> Floats:
    """The words that are returned for each query, each time that they are."""
    query = np.repeat(np.arange(run.size), run.returned)
    inside = place_within(query, run.size) < (measure.cutoff or 0)
    return run.sums(query[inside], _covering(run, measure).words[inside].astype(np.float64))


def _held(run: Pass, measure: Measure, *, is_once: bool) -> Floats:
    """The relevant words that are returned for each query: once, or each time that they are."""
    pieces = _covering(run, measure).pieces
    is_chosen = pieces.rank < (measure.cutoff or 0)
    is_chosen &= _is_relevant(run.judged, pieces.query, pieces.block, measure.rel)
    query, rank, block, first, last, place = (column[is_chosen] for column in pieces)
    begin = first if is_once else place
    keys, lengths = union_lengths(pair_keys(query, block if is_once else rank), begin, begin + last - first)
    return run.sums(keys >> 32, lengths.astype(np.float64))


def _is_relevant(judged: Judged, query: Ints, block: Ints, rel: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    chosen = judged.grade >= rel
    return np.isin(pair_keys(query, block), pair_keys(judged.query[chosen], judged.block[chosen]))


def _recall(run: Pass, measure: Measure) -> Floats:
    return ratio(_held(run, measure, is_once=True), _relevant(run, measure))


def _precision(run: Pass, measure: Measure) -> Floats:
    return ratio(_held(run, measure, is_once=False), _returned(run, measure))


def _overlap(run: Pass, measure: Measure) -> Floats:
    """Where a text is in several blocks, a returned word is in all of them, and counts once."""
    held = np.minimum(_held(run, measure, is_once=True), _held(run, measure, is_once=False))
    return ratio(held, _relevant(run, measure) + _returned(run, measure) - held)


ENTRIES = (
    Entry(
        "TokenRecall",
        "Words of relevant blocks that the first k passages hold, divided by all words of relevant blocks; 0 when "
        "there is none. A word that is returned twice counts once.",
        SOURCE,
        _recall,
        "needed",
        needs=frozenset({GRADES, WORDS}),
    ),
    Entry(
        "TokenPrecision",
        "Words of the first k passages that are words of relevant blocks, divided by all words of the first k "
        "passages; 0 when there is none. A word that is returned twice counts twice.",
        SOURCE,
        _precision,
        "needed",
        needs=frozenset({GRADES, WORDS}),
    ),
    Entry(
        "TokenIoU",
        "Words of relevant blocks that the first k passages hold, divided by the words that are in relevant blocks, or "
        "returned, or both. In the first number a word counts once, among the returned ones each time.",
        SOURCE,
        _overlap,
        "needed",
        needs=frozenset({GRADES, WORDS}),
    ),
)
