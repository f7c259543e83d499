"""The measures Karat knows, and their values for a run: all measures in one pass over integer columns.

The conventions are trec_eval's (version 10, with `-c`): rows by score descending, ties by block id
descending, the rank column ignored; every judged query counts, and one that is missing from the run counts
as zero; a block without a judgement is not relevant; a negative grade is judged, not relevant, and gains
nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from apps.evaluation.columns import BlockIds, Floats, Ints, Judged, Ranked, in_rank_order, pair_keys, place_within
from apps.evaluation.notation import MeasureError, Value, split_measures, take_apart, written

DCG_FORMS = ("log2", "exp-log2")


class Measure(NamedTuple):
    """A measure understood. `rel` is the lowest grade that counts as relevant; `dcg` the form of the gain."""

    name: str
    cutoff: int | None = None
    rel: int = 1
    dcg: str = "log2"

    def __str__(self) -> str:
        parameters: dict[str, Value] = {}
        if self.rel != 1:
            parameters["rel"] = self.rel
        if self.dcg != "log2":
            parameters["dcg"] = self.dcg
        return written(self.name, parameters, self.cutoff)

    @property
    def entry(self) -> Entry:
        return REGISTRY[self.name]


@dataclass(frozen=True)
class Entry:
    """What the registry says about one measure. `cutoff` is "needed", "optional" or "none"."""

    name: str
    words: str
    source: str
    values: Callable[[Pass, Measure], Floats]
    cutoff: str
    takes: frozenset[str] = frozenset({"rel"})
    aliases: tuple[str, ...] = ()
    is_about_judging: bool = False
    low: float = 0.0
    high: float = 1.0


class Pass:
    """One run against one set of judgements: the columns every measure is read from.

    Only rows that were judged can change a value, so after the ranks are known only those are kept.
    """

    def __init__(self, judged: Judged, ranked: Ranked, block_ids: BlockIds) -> None:
        self.judged = judged
        self.size = len(judged.queries)
        ordered = in_rank_order(ranked, block_ids)
        self.returned = np.bincount(ordered.query, minlength=self.size)
        starts = np.cumsum(self.returned) - self.returned
        found, grades = _looked_up(judged, ordered)
        self.query = ordered.query[found]
        self.rank = found - starts[self.query]
        self.grade = grades

    def rows(self, rel: int, cutoff: int | None) -> tuple[Ints, Ints]:
        """Query and rank (from 0) of the relevant rows down to the cutoff, by query and rank."""
        chosen = self.grade >= rel
        if cutoff is not None:
            chosen &= self.rank < cutoff
        return self.query[chosen], self.rank[chosen]

    def hits(self, rel: int, cutoff: int | None) -> Ints:
        """How many relevant blocks each query has down to the cutoff."""
        return np.bincount(self.rows(rel, cutoff)[0], minlength=self.size)

    def sums(self, query: Ints, weights: Floats) -> Floats:
        """The weights added up by query."""
        return np.bincount(query, weights=weights, minlength=self.size).astype(np.float64, copy=False)


def _looked_up(judged: Judged, ranked: Ranked) -> tuple[Ints, Ints]:
    """Places of the rows of the ranking that were judged, and their grades."""
    keys, grades = judged.lookup
    if not len(keys):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    wanted = pair_keys(ranked.query, ranked.block)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found = np.flatnonzero(keys[places] == wanted)
    return found, grades[places[found]]


def _ratio(above: Floats | Ints, below: Floats | Ints | int) -> Floats:
    """Element-wise quotient, 0 where there is nothing to divide by."""
    above, below = np.broadcast_arrays(np.asarray(above, dtype=np.float64), below)
    return np.divide(above, below, out=np.zeros(above.shape), where=below != 0)


def _precision(run: Pass, measure: Measure) -> Floats:
    return _ratio(run.hits(measure.rel, measure.cutoff), measure.cutoff or 1)


def _recall(run: Pass, measure: Measure) -> Floats:
    return _ratio(run.hits(measure.rel, measure.cutoff), run.judged.relevant(measure.rel))


def _f1(run: Pass, measure: Measure) -> Floats:
    relevant = run.judged.relevant(measure.rel)
    both = _ratio(2 * run.hits(measure.rel, measure.cutoff), relevant + (measure.cutoff or 0))
    return np.where(relevant > 0, both, 0.0)


def _success(run: Pass, measure: Measure) -> Floats:
    return (run.hits(measure.rel, measure.cutoff) > 0).astype(np.float64)


def _reciprocal_rank(run: Pass, measure: Measure) -> Floats:
    query, rank = run.rows(measure.rel, measure.cutoff)
    values = np.zeros(run.size)
    values[query[::-1]] = 1.0 / (rank[::-1] + 1)
    return values


def _average_precision(run: Pass, measure: Measure) -> Floats:
    query, rank = run.rows(measure.rel, measure.cutoff)
    precision = (place_within(query, run.size) + 1) / (rank + 1)
    return _ratio(run.sums(query, precision), run.judged.relevant(measure.rel))


def _r_precision(run: Pass, measure: Measure) -> Floats:
    relevant = run.judged.relevant(measure.rel)
    query, rank = run.rows(measure.rel, None)
    hits = np.bincount(query[rank < relevant[query]], minlength=run.size)
    return _ratio(hits, relevant)


def _bpref(run: Pass, measure: Measure) -> Floats:
    relevant = run.judged.relevant(measure.rel)
    others = np.bincount(run.judged.query, minlength=run.size) - relevant
    hit = run.grade >= measure.rel
    place = place_within(run.query, run.size)
    query = run.query[hit]
    above = place[hit] - place_within(query, run.size)
    limit = relevant[query]
    lost = _ratio(np.minimum(above, limit), np.minimum(others[query], limit))
    return _ratio(run.sums(query, 1.0 - lost), relevant)


def _ndcg(run: Pass, measure: Measure) -> Floats:
    query, rank, grade = run.judged.ideal
    best = _dcg(run, measure, query, rank, grade)
    return _ratio(_dcg(run, measure, run.query, run.rank, run.grade), best)


def _dcg(run: Pass, measure: Measure, query: Ints, rank: Ints, grade: Ints) -> Floats:
    chosen = grade > 0
    if measure.cutoff is not None:
        chosen = chosen & (rank < measure.cutoff)
    gain = grade[chosen].astype(np.float64)
    if measure.dcg == "exp-log2":
        gain = np.exp2(gain) - 1.0
    return run.sums(query[chosen], gain / np.log2(rank[chosen] + 2.0))


def _judged(run: Pass, measure: Measure) -> Floats:
    """Undefined (NaN) for a query for which the run returned nothing: there was nothing to judge."""
    cutoff = measure.cutoff or 0
    seen = np.bincount(run.query[run.rank < cutoff], minlength=run.size)
    looked = np.minimum(run.returned, cutoff)
    return np.divide(seen, looked, out=np.full(run.size, np.nan), where=looked > 0)


_ENTRIES = (
    Entry(
        "P",
        "Relevant blocks in the first k, divided by k.",
        "trec_eval P_k",
        _precision,
        "needed",
        aliases=("Precision",),
    ),
    Entry(
        "Recall",
        "Relevant blocks in the first k, divided by all relevant blocks; 0 when there is none.",
        "trec_eval recall_k",
        _recall,
        "needed",
        aliases=("R",),
    ),
    Entry(
        "Success",
        "1 when a relevant block is in the first k, else 0.",
        "trec_eval success_k",
        _success,
        "needed",
    ),
    Entry(
        "F1",
        "Harmonic mean of P@k and Recall@k; 0 when there is no relevant block.",
        "van Rijsbergen, Information Retrieval (1979), chapter 7",
        _f1,
        "needed",
    ),
    Entry(
        "RR",
        "1 divided by the rank of the first relevant block; 0 when none is found.",
        "trec_eval recip_rank; Kantor and Voorhees, TREC-5 (1996)",
        _reciprocal_rank,
        "optional",
        aliases=("MRR",),
    ),
    Entry(
        "AP",
        "Precision at the rank of each relevant block found, summed, divided by all relevant blocks.",
        "trec_eval map, map_cut_k",
        _average_precision,
        "optional",
        aliases=("MAP",),
    ),
    Entry(
        "Rprec",
        "Precision at rank R, where R is the number of relevant blocks of the query.",
        "trec_eval Rprec",
        _r_precision,
        "none",
        aliases=("RPrec",),
    ),
    Entry(
        "Bpref",
        "Mean over relevant blocks of 1 minus the share of judged, not relevant blocks ranked above it.",
        "trec_eval bpref; Buckley and Voorhees, SIGIR 2004",
        _bpref,
        "none",
        aliases=("BPref",),
    ),
    Entry(
        "nDCG",
        "Sum of gain / log2(rank + 1), divided by the same sum for the best possible order of the judged "
        "blocks. The gain is the grade; with dcg='exp-log2' it is 2^grade − 1.",
        "trec_eval ndcg, ndcg_cut_k; Järvelin and Kekäläinen, TOIS 20 (2002); Burges et al., ICML 2005",
        _ndcg,
        "optional",
        takes=frozenset({"dcg"}),
        aliases=("NDCG",),
    ),
    Entry(
        "Judged",
        "Judged blocks in the first k, divided by the blocks returned in the first k.",
        "ir-measures Judged@k",
        _judged,
        "needed",
        takes=frozenset(),
        is_about_judging=True,
    ),
)
REGISTRY = {entry.name: entry for entry in _ENTRIES}
_NAMES = {name: entry for entry in _ENTRIES for name in (entry.name, *entry.aliases)}


def parse_measure(text: str, *, rel: int = 1) -> Measure:
    """The measure that the text names; `rel` holds where the text names no level of its own.

    Raises MeasureError with the nearest names for an unknown one, and with what is wrong for any other fault.
    """
    name, parameters, cutoff = take_apart(text)
    entry = _NAMES.get(name)
    if entry is None:
        raise MeasureError(f"'{text.strip()}' is not a measure Karat knows; {_nearest(name)}.")
    if entry.cutoff == "needed" and cutoff is None:
        raise MeasureError(f"{name} needs a cutoff, such as {name}@10.")
    if entry.cutoff == "none" and cutoff is not None:
        raise MeasureError(f"{name} takes no cutoff.")
    for key in sorted(parameters.keys() - entry.takes):
        takes = ", ".join(sorted(entry.takes)) or "none"
        raise MeasureError(f"{name} has no parameter {key}; parameters of {name}: {takes}.")
    level = _level(parameters.get("rel", rel), name) if "rel" in entry.takes else 1
    return Measure(entry.name, cutoff, level, _form(parameters.get("dcg", "log2"), name))


def parse_measures(text: str, *, rel: int = 1) -> tuple[Measure, ...]:
    """The measures of a list, each once, in the order of first mention. Raises MeasureError."""
    found = dict.fromkeys(parse_measure(piece, rel=rel) for piece in split_measures(text))
    if not found:
        raise MeasureError("Name at least one measure, such as nDCG@10.")
    return tuple(found)


def measure_run(measures: Sequence[Measure], judged: Judged, ranked: Ranked, block_ids: BlockIds) -> Floats:
    """Values of every measure for every judged query: shape (queries, measures), in the order given.

    `block_ids[n]` is the id of block n; it decides ties. NaN only for Judged@k of a query without results.
    """
    run = Pass(judged, ranked, block_ids)
    columns = [measure.entry.values(run, measure) for measure in measures]
    return np.column_stack(columns) if columns else np.empty((run.size, 0))


def _nearest(name: str) -> str:
    by_lower = {known.lower(): entry.name for known, entry in _NAMES.items()}
    close = difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.5)
    names = list(dict.fromkeys(by_lower[match] for match in close))
    return f"nearest: {', '.join(names)}" if names else f"known: {', '.join(REGISTRY)}"


def _level(value: Value, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise MeasureError(f"rel of {name} is not a grade from 1.")
    return value


def _form(value: Value, name: str) -> str:
    if value not in DCG_FORMS:
        raise MeasureError(f"dcg of {name} is 'log2' or 'exp-log2', not '{value}'.")
    return str(value)
