"""Measures of the diversity of the first results, by an attribute of blocks. They need no grades."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from apps.metrics.columns import BLOCK_BITS, Floats, Ints, pair_keys
from apps.metrics.measures.entries import Entry, Measure
from apps.metrics.measures.measure_input import BLOCKS, Pass, ratio
from apps.metrics.measures.notation import MeasureError


class Mix(NamedTuple):
    """The number of results in the first k of each query with each value of the attribute: a row for each pair that
    occurs.

    `values` is the number of values in the file of blocks.
    """

    query: Ints
    times: Ints
    values: int


def _mix(run: Pass, measure: Measure) -> Mix:
    if run.attributes.blocks is None:
        raise MeasureError(f"{measure} needs a file with attributes of blocks.")
    attribute = run.attributes.blocks.by_name.get(measure.by)
    if attribute is None:
        names = ", ".join(run.attributes.blocks.by_name) or "none"
        raise MeasureError(f"{measure} reads the attribute '{measure.by}' of blocks; those of the file: {names}.")
    query, block = run.top(measure.cutoff or 0)
    codes = attribute.of(block)
    if (codes < 0).any():
        unknown = run.block_ids[int(block[codes < 0][0])]
        name = unknown.decode() if isinstance(unknown, bytes) else unknown
        raise MeasureError(f"{measure} needs the {measure.by} of every block it ranks; that of '{name}' is not known.")
    keys, times = np.unique(pair_keys(query, codes), return_counts=True)
    return Mix(keys >> BLOCK_BITS, times, len(attribute.values))


def _intra_list_diversity(run: Pass, measure: Measure) -> Floats:
    """Undefined (NaN) for a query with fewer than two results: there is no pair to compare."""
    mix = _mix(run, measure)
    size = np.minimum(run.returned, measure.cutoff or 0)
    pairs = size * (size - 1) / 2
    alike = run.sums(mix.query, mix.times * (mix.times - 1) / 2)
    return np.divide(pairs - alike, pairs, out=np.full(run.size, np.nan), where=pairs > 0)


def _coverage(run: Pass, measure: Measure) -> Floats:
    mix = _mix(run, measure)
    return ratio(np.bincount(mix.query, minlength=run.size), mix.values)


def _entry(name: str, words: str, source: str, values: object) -> Entry:
    return Entry(
        name,
        words,
        source,
        values,  # type: ignore[arg-type]
        "needed",
        takes=frozenset({"by"}),
        required=frozenset({"by"}),
        needs=frozenset({BLOCKS}),
        sample={"by": "type"},
    )


ENTRIES = (
    _entry(
        "ILD",
        "Intra-list diversity: of all pairs of blocks in the first k, the share that differ in the attribute; not "
        "defined for a query with fewer than two results.",
        "Ziegler et al., WWW 2005, with a distance of 0 or 1",
        _intra_list_diversity,
    ),
    _entry(
        "CorpusCoverage",
        "Different values of the attribute in the first k, divided by the different values in the file of blocks.",
        "Ge, Delgado-Battenfeld and Jannach, RecSys 2010, for each list and by attribute",
        _coverage,
    ),
)
