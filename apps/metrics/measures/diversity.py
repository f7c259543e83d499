"""Measures of the diversity of the first results, by an attribute of blocks. They need no grades.

A result whose value is not known is left out: of results with a value the others say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from apps.common.text.words import plain_words, words_of
from apps.metrics.columns import BLOCK_BITS, BLOCKS, Attribute, Floats, Ints, pair_keys
from apps.metrics.measures.entries import Entry, Measure
from apps.metrics.measures.measure_input import Pass, ratio
from apps.metrics.measures.notation import MeasureError


class Mix(NamedTuple):
    """The number of results in the first k of each query with each value of the attribute: a row for each pair that
    occurs.

    `value` is its index among the values of the attribute. `known` counts the results of each query that have one;
    those without are left out.
    """

    query: Ints
    value: Ints
    times: Ints
    known: Ints
    attribute: Attribute


def _mix(run: Pass, measure: Measure) -> Mix:
    if run.attributes.blocks is None:
        raise MeasureError(f"{measure} needs a file with attributes of blocks.")
    attribute = run.attributes.blocks.by_name.get(measure.by)
    if attribute is None:
        names = ", ".join(run.attributes.blocks.by_name) or "none"
        raise MeasureError(f"{measure} reads the attribute '{measure.by}' of blocks; those that there are: {names}.")
    query, block = run.top(measure.cutoff or 0)
    codes = attribute.of(block)
    query, codes = query[codes >= 0], codes[codes >= 0]
    keys, times = np.unique(pair_keys(query, codes), return_counts=True)
    known = np.bincount(query, minlength=run.size)
    return Mix(keys >> BLOCK_BITS, keys & ((1 << BLOCK_BITS) - 1), times, known, attribute)


def _intra_list_diversity(run: Pass, measure: Measure) -> Floats:
    """Undefined (NaN) for a query with fewer than two results: there is no pair to compare."""
    mix = _mix(run, measure)
    pairs = mix.known * (mix.known - 1) / 2
    alike = run.sums(mix.query, mix.times * (mix.times - 1) / 2)
    return np.divide(pairs - alike, pairs, out=np.full(run.size, np.nan), where=pairs > 0)


def _coverage(run: Pass, measure: Measure) -> Floats:
    mix = _mix(run, measure)
    return ratio(np.bincount(mix.query, minlength=run.size), len(mix.attribute.values))


def _sources(run: Pass, measure: Measure) -> Floats:
    """Undefined (NaN) for a query without results."""
    mix = _mix(run, measure)
    different = np.bincount(mix.query, minlength=run.size)
    return np.divide(different, mix.known, out=np.full(run.size, np.nan), where=mix.known > 0)


def _distance(run: Pass, measure: Measure) -> Floats:
    """Undefined (NaN) for a query with fewer than two results."""
    mix = _mix(run, measure)
    sets = {value: word_set(text) for value, text in mix.attribute.texts(np.unique(mix.value)).items()}
    found = np.full(run.size, np.nan)
    rows = np.repeat(np.arange(len(mix.query)), mix.times)
    for query in np.unique(mix.query).tolist():
        distance = mean_distance([sets[value] for value in mix.value[rows[mix.query[rows] == query]].tolist()])
        found[query] = np.nan if distance is None else distance
    return found


def word_set(text: str) -> frozenset[str]:
    """The different words of a text, without differences of capitals."""
    return frozenset(words_of(plain_words(text)))


def mean_distance(texts: Sequence[frozenset[str]]) -> float | None:
    """The mean of 1 − |A ∩ B| / |A ∪ B| over all pairs of word sets; two without words are alike. None without a pair.

    Jaccard's distance: 1 − Broder's resemblance (Compression and Complexity of Sequences, 1997) of single words.
    """
    pairs = list(combinations(texts, 2))
    if not pairs:
        return None
    return sum(1 - len(one & other) / len(one | other) if one or other else 0.0 for one, other in pairs) / len(pairs)


def _entry(name: str, words: str, source: str, values: object, by: str = "type") -> Entry:
    return Entry(
        name,
        words,
        source,
        values,  # type: ignore[arg-type]
        "needed",
        takes=frozenset({"by"}),
        required=frozenset({"by"}),
        needs=frozenset({BLOCKS}),
        sample={"by": by},
    )


ENTRIES = (
    _entry(
        "ILD",
        "Intra-list diversity: of all pairs of blocks in the first k, the share that differ in the attribute; not "
        "defined for a query with fewer than two results that have it.",
        "Ziegler et al., WWW 2005, with a distance of 0 or 1",
        _intra_list_diversity,
    ),
    _entry(
        "CorpusCoverage",
        "Different values of the attribute in the first k, divided by the different values in all blocks.",
        "Ge, Delgado-Battenfeld and Jannach, RecSys 2010, for each list and by attribute",
        _coverage,
    ),
    _entry(
        "Sources",
        "Different values of the attribute in the first k, such as documents, divided by the number of results there "
        "that have one; not defined for a query without such results.",
        "S-recall of Zhai, Cohen and Lafferty, SIGIR 2003, with results in place of subtopics",
        _sources,
        "document",
    ),
    _entry(
        "Distance",
        "Of all pairs of blocks in the first k, the mean share of different words: one minus the words that both texts "
        "have, divided by those that either has; not defined for a query with fewer than two results.",
        "Ziegler et al., WWW 2005, with Jaccard's distance of word sets",
        _distance,
        "text",
    ),
)
