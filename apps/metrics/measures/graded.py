"""Measures that weigh how relevant a block is, and its rank."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple

import numpy as np

from apps.metrics.columns import TIMES, Floats, Ints, Judged, place_within
from apps.metrics.measures.entries import GRADES, Entry, Measure
from apps.metrics.measures.measure_input import Pass, ratio
from apps.metrics.measures.notation import MeasureError


def log_discount(rank: Ints) -> Floats:
    """1 / log2(rank + 1), for ranks that count from 0 here and from 1 there."""
    return np.reciprocal(np.log2(rank + 2.0))


def first_discount(rank: Ints) -> Floats:
    """The discount as first published, with base 2: none at ranks 1 and 2, then 1 / log2(rank)."""
    return np.reciprocal(np.maximum(np.log2(rank + 1.0), 1.0))


HIGHEST_EXPONENT = 1_000
"""The highest grade of an exponential gain: 2^1024 is no double any more, and gains are added up."""


class Form(NamedTuple):
    """A form of DCG: whether gains are 2^grade − 1 instead of grades, and the discount of ranks."""

    is_exponential: bool
    discount: Callable[[Ints], Floats]

    def gains(self, grade: Ints | Floats) -> Floats:
        """The gains of grades; 0 for a negative one."""
        gain = np.maximum(grade, 0).astype(np.float64)
        return np.exp2(gain) - 1.0 if self.is_exponential else gain


LINEAR = Form(False, log_discount)
FORMS = {"log2": LINEAR, "exp-log2": Form(True, log_discount), "jk": Form(False, first_discount)}


class Gains(NamedTuple):
    """What rows gain: query, rank from 0 and gain of each."""

    query: Ints
    rank: Ints
    gain: Floats


def dcg(rows: Gains, size: int, cutoff: int | None, discount: Callable[[Ints], Floats]) -> Floats:
    """Discounted gains down to the cutoff, added up for each of `size` queries."""
    chosen = rows.gain > 0
    if cutoff is not None:
        chosen &= rows.rank < cutoff
    weights = rows.gain[chosen] * discount(rows.rank[chosen])
    return np.bincount(rows.query[chosen], weights=weights, minlength=size).astype(np.float64, copy=False)


def _ndcg(run: Pass, measure: Measure) -> Floats:
    form = FORMS[measure.dcg]
    if measure.gains:
        return _normalised(
            run, measure, form, gains_of(measure, run.judged.grade), ("gains", measure.gains, measure.dcg)
        )
    query, rank, grade = run.judged.ideal
    _refuse_overflow(measure, form, float(grade.max(initial=0)))
    best = Gains(query, rank, form.gains(grade))
    actual = Gains(run.query, run.ranks(measure.judged_only), form.gains(run.grade))
    return ratio(
        dcg(actual, run.size, measure.cutoff, form.discount), dcg(best, run.size, measure.cutoff, form.discount)
    )


def gains_of(measure: Measure, grade: Ints) -> Floats:
    """What blocks of these grades gain in an nDCG. Raises MeasureError for a gain that overflows."""
    form, named = FORMS[measure.dcg], dict(measure.gains)
    distinct, place = np.unique(grade, return_inverse=True)
    gains = np.array([named.get(grade, grade) for grade in distinct.tolist()], dtype=np.float64)
    _refuse_overflow(measure, form, float(gains.max(initial=0.0)))
    return form.gains(gains[place])


def _refuse_overflow(measure: Measure, form: Form, highest: float) -> None:
    """Raises MeasureError for a grade, or a gain of one, whose exponential gain overflows."""
    if form.is_exponential and highest > HIGHEST_EXPONENT:
        raise MeasureError(
            f"{measure} gains 2^grade − 1, and grade {highest:g} is above {HIGHEST_EXPONENT:,}: too "
            "large to compute. Use the linear gain, or name gains, such as nDCG(gains={1:1,2:3})@10."
        )


def _normalised(run: Pass, measure: Measure, form: Form, gain: Floats, key: Hashable | None) -> Floats:
    """DCG of the run over the DCG of the ideal order, for one gain a judgement; `key` caches that order."""
    best = _best_order(run.judged, gain, key)
    actual = Gains(run.query, run.ranks(measure.judged_only), gain[run.row])
    return ratio(
        dcg(actual, run.size, measure.cutoff, form.discount), dcg(best, run.size, measure.cutoff, form.discount)
    )


def _best_order(judged: Judged, gain: Floats, key: Hashable | None) -> Gains:
    """The judgements with a positive gain, in their ideal order."""
    if key is not None and key in judged.cached:
        cached: Gains = judged.cached[key]
        return cached
    gains = gain > 0
    query, some = judged.query[gains], gain[gains]
    order = np.lexsort((-some, query))
    query = query[order]
    best = Gains(query, place_within(query, len(judged.queries)), some[order])
    if key is not None:
        judged.cached[key] = best
    return best


def _faded_ndcg(run: Pass, measure: Measure) -> Floats:
    """Ages are in days; a block from after its query counts as new.

    A relevant block whose time is not known is left out of the ranking and of its ideal order. Undefined (NaN) for a
    query with relevant blocks of which none has a time.
    """
    blocks, queries = run.attributes.blocks, run.attributes.queries
    if blocks is None or queries is None:
        raise MeasureError(f"{measure} needs the times of blocks and queries.")
    judged, gain = run.judged, np.maximum(run.judged.grade, 0).astype(np.float64)
    some = np.flatnonzero(gain > 0)
    query = judged.query[some]
    block_times, query_times = blocks.times_of(judged.block[some]), queries.times[query]
    if np.isnan(query_times).any():
        unknown = judged.queries[query[np.isnan(query_times)][0]]
        raise MeasureError(f"{measure} needs the time of every query; that of '{unknown}' is not known.")
    is_known = ~np.isnan(block_times)
    age = np.maximum(query_times - np.where(is_known, block_times, query_times), 0.0)
    gain[some] *= np.where(is_known, np.exp(-_rates(measure, run, queries.domains)[query] * age), 0.0)
    dated = np.bincount(query[is_known], minlength=run.size)
    is_undated = (np.bincount(query, minlength=run.size) > 0) & (dated == 0)
    return np.where(is_undated, np.nan, _normalised(run, measure, LINEAR, gain, None))


def _rates(measure: Measure, run: Pass, domains: tuple[str, ...]) -> Floats:
    """The rate of each query, by its domain where the measure has rates by domain."""
    if measure.half_life:
        return np.full(run.size, np.log(2.0) / measure.half_life)
    if not isinstance(measure.rate, tuple):
        return np.full(run.size, measure.rate)
    named = dict(measure.rate)
    for query, domain in zip(run.judged.queries, domains, strict=True):
        if domain not in named:
            domain_words = f"the domain '{domain}'" if domain else "no domain"
            raise MeasureError(f"{measure} names no rate for query '{query}', which has {domain_words}.")
    return np.array([named[domain] for domain in domains], dtype=np.float64)


def refuse_above(measure: Measure, highest: int) -> None:
    """Raises MeasureError when the highest grade is above the scale in the measure."""
    if "max_rel" in measure.entry.takes and highest > measure.max_rel:
        better = measure._replace(max_rel=highest)
        raise MeasureError(
            f"{measure} counts on grades up to {measure.max_rel}, and there are grades up to {highest}. "
            f"Name the highest grade of the scale, such as {better}."
        )


def _err(run: Pass, measure: Measure) -> Floats:
    """A block satisfies with probability (2^grade − 1) / 2^max_rel, and a satisfied user stops reading."""
    refuse_above(measure, int(run.judged.grade.max(initial=0)))
    rank = run.ranks(measure.judged_only)
    chosen = run.grade > 0
    if measure.cutoff is not None:
        chosen &= rank < measure.cutoff
    query, rank = run.query[chosen], rank[chosen]
    satisfied = (np.exp2(run.grade[chosen]) - 1.0) / 2.0**measure.max_rel
    return run.sums(query, satisfied * _reached(query, satisfied, run.size) / (rank + 1))


def _reached(query: Ints, stops: Floats, size: int) -> Floats:
    """The probability of reaching each row: the product of 1 − stops over the rows of its query above it."""
    counts = np.bincount(query, minlength=size)
    firsts = np.cumsum(counts) - counts
    reached = np.ones(len(query))
    for step in range(1, int(counts.max(initial=0))):
        rows = firsts[counts > step] + step
        reached[rows] = reached[rows - 1] * (1.0 - stops[rows - 1])
    return reached


def _rank_biased_precision(run: Pass, measure: Measure) -> Floats:
    query, rank = run.rows(measure.rel, measure.cutoff)
    return run.sums(query, (1.0 - measure.p) * measure.p ** rank.astype(np.float64))


def _graded_rank_biased_precision(run: Pass, measure: Measure) -> Floats:
    refuse_above(measure, int(run.judged.grade.max(initial=0)))
    in_cutoff = slice(None) if measure.cutoff is None else run.rank < measure.cutoff
    query, rank, grade = run.query[in_cutoff], run.rank[in_cutoff], run.grade[in_cutoff]
    return run.sums(query, (1.0 - measure.p) * measure.p ** rank.astype(np.float64) * grade / measure.max_rel)


def _q_measure(run: Pass, measure: Measure) -> Floats:
    rank = run.ranks(measure.judged_only)
    chosen = run.grade > 0
    if measure.cutoff is not None:
        chosen &= rank < measure.cutoff
    query, rank, grade = run.query[chosen], rank[chosen], run.grade[chosen]
    blended = place_within(query, run.size) + 1 + measure.beta * _running(query, grade)
    best = rank + 1 + measure.beta * _ideal_gain(run.judged, query, rank)
    return ratio(run.sums(query, blended / best), run.relevant(1, measure.cutoff))


def _running(query: Ints, gain: Ints) -> Ints:
    """The sum of gains of each query down to each row; the rows are sorted by query."""
    sums = np.cumsum(gain)
    firsts = np.flatnonzero(np.diff(query, prepend=-1))
    before = sums[firsts] - gain[firsts]
    return sums - np.repeat(before, np.diff(firsts, append=len(query)))


def _ideal_gain(judged: Judged, query: Ints, rank: Ints) -> Ints:
    """The sum of grades down to each rank in the ideal order of the query."""
    best_query, _, grade = judged.ideal
    counts = np.bincount(best_query, minlength=len(judged.queries))
    last = np.minimum(rank, counts[query] - 1) + (np.cumsum(counts) - counts)[query]
    return _running(best_query, grade)[last]


ENTRIES = (
    Entry(
        "nDCG",
        "Sum of gain / log2(rank + 1), divided by the same sum for the best possible order of the judged "
        "blocks. The gain is the grade; with dcg='exp-log2' it is 2^grade − 1; with dcg='jk' it is the grade, and the "
        "discount is that of 2002: none at ranks 1 and 2, then 1 / log2(rank).",
        "trec_eval ndcg, ndcg_cut_k; Järvelin and Kekäläinen, TOIS 20 (2002); Burges et al., ICML 2005",
        _ndcg,
        "optional",
        takes=frozenset({"dcg", "gains", "judged_only"}),
        aliases=("NDCG",),
    ),
    Entry(
        "TD_nDCG",
        "nDCG whose gain fades with age: grade · e^(−rate · age), where age is the time of the query minus the time of "
        "the block in days, never below 0; with half_life=h it is grade · 2^(−age / h). The best order is that of the "
        "faded gains. Relevant blocks without a time are left out.",
        "exponential decay as in Li and Croft, CIKM 2003; normalised as nDCG",
        _faded_ndcg,
        "optional",
        takes=frozenset({"rate", "half_life", "judged_only"}),
        required=frozenset({"rate"}),
        instead={"rate": "half_life"},
        needs=frozenset({GRADES, TIMES}),
        sample={"rate": 0.01},
    ),
    Entry(
        "ERR",
        "Expected reciprocal rank of the block that satisfies: the sum over ranks of r / rank times the chance that no "
        "block above satisfied, where r = (2^grade − 1) / 2^max_rel. Refused when a grade is above max_rel.",
        "gdeval ERR@k; Chapelle et al., CIKM 2009",
        _err,
        "optional",
        takes=frozenset({"max_rel", "judged_only"}),
        stated=frozenset({"max_rel"}),
    ),
    Entry(
        "RBP",
        "(1 − p) times the sum of p^(rank − 1) over relevant blocks.",
        "Moffat and Zobel, TOIS 27 (2008); trec_eval rbp for grades 0 and 1",
        _rank_biased_precision,
        "optional",
        takes=frozenset({"p", "rel"}),
        stated=frozenset({"p"}),
    ),
    Entry(
        "gRBP",
        "(1 − p) times the sum of p^(rank − 1) · grade / max_rel. Refused when a grade is above max_rel.",
        "Moffat and Zobel, TOIS 27 (2008), with degrees of relevance",
        _graded_rank_biased_precision,
        "optional",
        takes=frozenset({"p", "max_rel"}),
        stated=frozenset({"p", "max_rel"}),
    ),
    Entry(
        "Q",
        "For each relevant block found, (C + beta · G) / (rank + beta · I), summed, divided by all relevant blocks, or "
        "by k where more are relevant. C counts the relevant blocks down to its rank, G adds up their grades, and I "
        "those of the best possible order.",
        "Q-measure; Sakai, NTCIR-4 (2004), and IPM 43 (2007)",
        _q_measure,
        "optional",
        takes=frozenset({"beta", "judged_only"}),
        aliases=("Q-measure", "Qmeasure"),
    ),
)
