"""Measures of the first results by an attribute of blocks: how diverse, how old, and what a role may not see.

They need no grades. A result whose value is not known is left out: of results with a value the others say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.common.text.words import plain_words, words_of
from apps.metrics.columns import BLOCK_BITS, BLOCKS, TIMES, Attribute, Floats, Ints, pair_keys
from apps.metrics.measures.entries import Entry, Measure
from apps.metrics.measures.measure_input import Pass, ratio
from apps.metrics.measures.notation import MeasureError

Bools = NDArray[np.bool_]
BETWEEN_ROLES = re.compile(r"[;,|]")


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


def _attribute_of(run: Pass, measure: Measure) -> Attribute:
    if run.attributes.blocks is None:
        raise MeasureError(f"{measure} needs a file with attributes of blocks.")
    attribute = run.attributes.blocks.by_name.get(measure.reads)
    if attribute is None:
        names = ", ".join(run.attributes.blocks.by_name) or "none"
        raise MeasureError(f"{measure} reads the attribute '{measure.reads}' of blocks; those that there are: {names}.")
    return attribute


def _mix(run: Pass, measure: Measure) -> Mix:
    attribute = _attribute_of(run, measure)
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


def roles_in(audience: str) -> frozenset[str]:
    """The roles that a text names, divided by commas, semicolons or bars, in small letters."""
    return frozenset(filter(None, (role.strip().casefold() for role in BETWEEN_ROLES.split(audience))))


def is_closed_to(role: str, audience: str) -> bool:
    """Whether the role may not see what has this audience; an empty one is everybody."""
    roles = roles_in(audience)
    return bool(roles) and role.strip().casefold() not in roles


def leaks_of(run: Pass, measure: Measure) -> tuple[Ints, Bools]:
    """The query of each result in the first k, and whether the role of the measure may not see it."""
    attribute = _attribute_of(run, measure)
    query, block = run.top(measure.cutoff or 0)
    codes = attribute.of(block)
    audiences = attribute.texts(np.unique(codes[codes >= 0]))
    return query, np.isin(codes, [code for code, text in audiences.items() if is_closed_to(measure.role, text)])


def _leaks(run: Pass, measure: Measure) -> Floats:
    """Undefined (NaN) for a query without results."""
    query, is_leak = leaks_of(run, measure)
    size = np.bincount(query, minlength=run.size)
    leaks = np.bincount(query[is_leak], minlength=run.size)
    return np.divide(leaks, size, out=np.full(run.size, np.nan), where=size > 0)


def _any_leak(run: Pass, measure: Measure) -> Floats:
    return np.where(np.isnan(shares := _leaks(run, measure)), np.nan, shares > 0)


def _freshness(run: Pass, measure: Measure) -> Floats:
    """A block from after its query is new. Undefined (NaN) for a query without results that have a time."""
    blocks, queries = run.attributes.blocks, run.attributes.queries
    if blocks is None or queries is None:
        raise MeasureError(f"{measure} needs the times of blocks and queries.")
    query, block = run.top(measure.cutoff or 0)
    born, asked = blocks.times_of(block), queries.times[query]
    if np.isnan(asked).any():
        unknown = run.judged.queries[query[np.isnan(asked)][0]]
        raise MeasureError(f"{measure} needs the time of every query; that of '{unknown}' is not known.")
    is_known = ~np.isnan(born)
    age = np.maximum(asked - born, 0.0)[is_known]
    known = np.bincount(query[is_known], minlength=run.size)
    fresh = run.sums(query[is_known], 0.5 ** (age / measure.half_life))
    return np.divide(fresh, known, out=np.full(run.size, np.nan), where=known > 0)


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


BY_TYPE = {"by": "type"}


def _entry(
    name: str,
    words: str,
    source: str,
    values: object,
    sample: dict[str, str] = BY_TYPE,
    *,
    is_lower_better: bool = False,
) -> Entry:
    return Entry(
        name,
        words,
        source,
        values,  # type: ignore[arg-type]
        "needed",
        takes=frozenset(sample),
        required=frozenset(sample),
        needs=frozenset({BLOCKS}),
        is_lower_better=is_lower_better,
        sample=sample,
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
        {"by": "document"},
    ),
    _entry(
        "Distance",
        "Of all pairs of blocks in the first k, the mean share of different words: one minus the words that both texts "
        "have, divided by those that either has; not defined for a query with fewer than two results.",
        "Ziegler et al., WWW 2005, with Jaccard's distance of word sets",
        _distance,
        {"by": "text"},
    ),
    Entry(
        "Freshness",
        "The mean of 2^(−age / half_life) over the blocks in the first k, where age is the time of the query minus the "
        "time of the block in days, never below 0: 1 for new ones, 0.5 for those as old as the half-life. Blocks "
        "without a time are left out; not defined for a query without results that have one.",
        "the decay of TD_nDCG, without grades",
        _freshness,
        "needed",
        takes=frozenset({"half_life"}),
        required=frozenset({"half_life"}),
        needs=frozenset({TIMES}),
        sample={"half_life": 365.0},
    ),
    _entry(
        "Leaks",
        "Results in the first k that the role may not see, because their audience names others, divided by the results "
        "there; a block without an audience is for everybody. Not defined for a query without results.",
        "share of results that break an access rule",
        _leaks,
        {"role": "guest"},
        is_lower_better=True,
    ),
    _entry(
        "AnyLeak",
        "1 when the role may not see some result in the first k, else 0; not defined for a query without results.",
        "Leaks, rounded up",
        _any_leak,
        {"role": "guest"},
        is_lower_better=True,
    ),
)
