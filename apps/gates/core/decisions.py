"""Checks a run against a rule: passed, failed, not known or nothing checked, in one sentence with its figure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from apps.common.text.wording import number, signed
from apps.gates.core.rule import (
    COST,
    FAILED,
    INTERVAL,
    LATENCIES,
    NOTHING,
    PASSED,
    UNKNOWN,
    GateRule,
    requirement,
    sample,
    unit,
)
from apps.metrics.columns import Floats, Ints
from apps.metrics.comparison import handful_words
from apps.metrics.estimate import PERCENTILE, Estimate, Items, items_of
from apps.metrics.expected.measures import hit_summaries
from apps.metrics.statistics.significance import DEFAULT_SEED, RESAMPLES, change_of, summaries, tally_of

ROUNDING = 1e-9
PLACES = {"measure": 4, "latency": 0, "cost": 2}
MOST_PLACES = 12
CELLS_AT_ONCE = 500_000
TAILS = (0.025, 0.975)


class RunEvidence(NamedTuple):
    """The results of a run on one split of a gold set; row i of everything is query `query_ids[i]`.

    `values` and `baseline` have one column for each measure, under its canonical name; NaN is "no value". `latencies`
    are milliseconds, NaN where not measured; `cost` is that of 1,000 queries. `strata` has a label for each query under
    each field that rules may name, "" for none; `slices` has the queries of each slice of the version. `seed` is for
    the sample of the smoke tier and the resamples.
    """

    query_ids: Sequence[str]
    values: Mapping[str, Floats]
    baseline: Mapping[str, Floats] | None = None
    latencies: Floats | None = None
    cost: float | None = None
    strata: Mapping[str, Sequence[str]] = {}
    slices: Mapping[str, Collection[str]] = {}
    seed: int = DEFAULT_SEED


class GateVerdict(NamedTuple):
    """`value` is the figure (of a baseline rule: candidate minus baseline), `bound` what it is compared with.

    Where nothing can be decided, `value` is None and `gap` is one of `GAPS`. `words` is a sentence for people. `n`
    counts the queries, `interval` is that of `value`.
    """

    state: str
    value: float | None
    bound: float | None
    words: str
    interval: tuple[float, float] | None = None
    n: int = 0
    gap: str = ""

    @property
    def estimate(self) -> Estimate:
        return Estimate.of(self.value, self.interval, self.n, PERCENTILE, self.words if self.value is None else "")


def decide(rule: GateRule, evidence: RunEvidence) -> GateVerdict:
    """Check one run against one rule.

    What cannot be decided is "unknown" with the reason, and a rule without a single query "nothing": never passed.
    """
    try:
        rows = _rows(rule, evidence)
        if rule.is_against_baseline:
            return _against_baseline(rule, evidence, rows)
        return _against_bound(rule, _figure(rule, evidence, rows))
    except _NotKnown as gap:
        return not_known(rule, gap.code, str(gap))


def not_known(rule: GateRule, gap: str, reason: str) -> GateVerdict:
    """The rule cannot be decided; `reason` is the sentence that says why."""
    state, outcome = (NOTHING, "Nothing checked") if gap == NO_QUERIES else (UNKNOWN, "Not known")
    return GateVerdict(state, None, bound_of(rule), f"{outcome}: {reason}", gap=gap)


def worst_state(states: Iterable[str]) -> str:
    """The state of several gates together: failed when any failed, else unknown when any is, else nothing checked when
    that is so of any, or there is no gate.
    """
    present = set(states) or {NOTHING}
    return next(state for state in (FAILED, UNKNOWN, NOTHING, PASSED) if state in present)


class _NotKnown(Exception):
    """Why a rule cannot be decided: a sentence, and a code for machines."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class _Figure(NamedTuple):
    """The measured value. Cost has no interval, and neither has a figure of a single query."""

    value: float
    interval: tuple[float, float] | None
    n: int


def _rows(rule: GateRule, evidence: RunEvidence) -> Ints:
    """Row numbers of the queries that the rule applies to. A slice of the version is never sampled: it is small."""
    part, rows = rule.slice, list(range(len(evidence.query_ids)))
    if part is not None and part.is_named:
        if part.value not in evidence.slices:
            raise _NotKnown(NO_QUERIES, f"there is no {part.value} slice yet.")
        rows = [row for row in rows if evidence.query_ids[row] in evidence.slices[part.value]]
    elif rule.tier == "smoke":
        rows = sample(evidence.query_ids, seed=evidence.seed)
    if part is not None and not part.is_named:
        labels = evidence.strata.get(part.field)
        if labels is None:
            fields = ", ".join(sorted(evidence.strata)) or "no field"
            raise _NotKnown(NO_QUERIES, f"no {_items(rule).one} carries {part.field}; here there is {fields}.")
        rows = [row for row in rows if labels[row] == part.value]
    if not rows:
        raise _NotKnown(NO_QUERIES, f"there is no {_items(rule).one}{where(rule)}.")
    return np.array(rows, dtype=np.int64)


def _figure(rule: GateRule, evidence: RunEvidence, rows: Ints) -> _Figure:
    """The figure over these queries with its interval; cost has none. Raises _NotKnown."""
    if rule.figure == COST:
        if evidence.cost is None:
            raise _NotKnown(NO_COST, "the cost of 1,000 queries is missing.")
        return _Figure(evidence.cost, None, len(rows))
    if rule.figure in LATENCIES:
        return _latency(rule, evidence, rows)
    column = _column(evidence, rule, rows)[:, None]
    summary = hit_summaries([rule.measure], column)[0] if rule.hit and rule.measure else summaries(column)[0]
    if summary.mean is None:
        raise _NotKnown(NO_VALUES, f"{rule.figure} has no value for any {_items(rule).one}{where(rule)}.")
    return _Figure(summary.mean, summary.interval, summary.n)


def _column(evidence: RunEvidence, rule: GateRule, rows: Ints) -> Floats:
    if rule.figure not in evidence.values:
        raise _NotKnown(NO_VALUES, f"{rule.figure} was not computed.")
    return evidence.values[rule.figure][rows]


def _latency(rule: GateRule, evidence: RunEvidence, rows: Ints) -> _Figure:
    """A percentile of the latencies with its percentile bootstrap interval over queries (None for one query)."""
    if evidence.latencies is None:
        raise _NotKnown(NO_TIMES, "the run has no times.")
    taken = evidence.latencies[rows]
    taken = taken[~np.isnan(taken)]
    if not len(taken):
        raise _NotKnown(NO_TIMES, f"the run has no times{where(rule)}.")
    rank = LATENCIES[rule.figure]
    value = float(np.percentile(taken, rank))
    if len(taken) < 2:
        return _Figure(value, None, len(taken))
    random = np.random.Generator(np.random.PCG64(evidence.seed))
    step = max(1, CELLS_AT_ONCE // len(taken))
    drawn = [
        np.percentile(
            taken[random.integers(0, len(taken), size=(min(step, RESAMPLES - first), len(taken)))], rank, axis=1
        )
        for first in range(0, RESAMPLES, step)
    ]
    low, high = np.quantile(np.concatenate(drawn), TAILS)
    return _Figure(value, (float(low), float(high)), len(taken))


def _against_bound(rule: GateRule, estimate: _Figure) -> GateVerdict:
    bound = bound_of(rule)
    at_least = rule.at_least is not None
    compared = estimate.value
    if rule.on == INTERVAL:
        if estimate.interval is None:
            raise _NotKnown(
                FEW_QUERIES, f"one {_items(rule).one}{where(rule)} is too few for an interval of {rule.figure}."
            )
        compared = estimate.interval[0] if at_least else estimate.interval[1]
    state = PASSED if (compared - bound if at_least else bound - compared) >= -ROUNDING else FAILED
    figure = f"{_called(rule)}{where(rule)} is {_rounded(rule, estimate.value, bound)}{unit(rule)}"
    words = f"{figure}{_interval_words(rule, estimate, bound)}; the gate requires {requirement(rule)}."
    return GateVerdict(state, estimate.value, bound, words, estimate.interval, estimate.n)


def _against_baseline(rule: GateRule, evidence: RunEvidence, rows: Ints) -> GateVerdict:
    """A paired difference over the queries for which both runs have a value."""
    if evidence.baseline is None:
        raise _NotKnown(NO_BASELINE, "there is no baseline to compare with.")
    if rule.figure not in evidence.baseline:
        raise _NotKnown(NO_BASELINE, f"{rule.figure} of the baseline was not computed.")
    change = change_of(evidence.baseline[rule.figure][rows], _column(evidence, rule, rows))
    summary = summaries(change[:, None])[0]
    if summary.mean is None or summary.interval is None:
        raise _NotKnown(
            FEW_QUERIES, f"fewer than two {_items(rule).many}{where(rule)} have {rule.figure} in both runs."
        )
    low, high = summary.interval
    best, least = (-low, -high) if _falls(rule) else (high, low)
    is_worse = best < -ROUNDING if rule.margin is None else least < -rule.margin - ROUNDING
    words = (
        f"{rule.figure}{where(rule)} differs from the baseline by {signed(summary.mean, 4)}, "
        f"95 % interval {signed(low, 4)} to {signed(high, 4)}, n = {summary.n:,}"
    )
    words += handful_words(tally_of(change[~np.isnan(change)]), _items(rule))
    words += f"; the gate requires {requirement(rule)}."
    state = FAILED if is_worse else PASSED
    return GateVerdict(state, summary.mean, bound_of(rule), words, summary.interval, summary.n)


def bound_of(rule: GateRule) -> float:
    """The number in the rule; of a baseline rule the largest accepted drop, as a signed difference."""
    if rule.is_against_baseline:
        margin = rule.margin or 0.0
        return margin if _falls(rule) else 0.0 - margin
    return next(bound for bound in (rule.at_least, rule.at_most) if bound is not None)


def _falls(rule: GateRule) -> bool:
    """Whether a lower value of the measure is the better one."""
    return rule.measure is not None and rule.measure.entry.is_lower_better


def _items(rule: GateRule) -> Items:
    return items_of(rule.hit)


def where(rule: GateRule) -> str:
    """The queries of the rule, to follow what it is about; "" for every query."""
    if rule.slice is None:
        return ""
    return f" in the {rule.slice.value} slice" if rule.slice.is_named else f" where {rule.slice}"


def figure_words(rule: GateRule) -> str:
    """The name of the rule's figure for people."""
    if rule.figure in LATENCIES:
        return f"{LATENCIES[rule.figure]}th percentile of latency"
    if rule.figure == COST:
        return "cost of 1,000 queries"
    return f"{rule.figure} on Q&As ({rule.hit})" if rule.hit else rule.figure


def _called(rule: GateRule) -> str:
    words = figure_words(rule)
    return words if rule.measure else f"The {words}"


def _interval_words(rule: GateRule, estimate: _Figure, bound: float) -> str:
    if rule.figure == COST:
        return ""
    if estimate.interval is None:
        return f", too few {_items(rule).many} for an interval, n = {estimate.n:,}"
    low, high = (_rounded(rule, end, bound) for end in estimate.interval)
    return f", 95 % interval {low} to {high}{unit(rule)}, n = {estimate.n:,}"


def formatted_value(rule: GateRule, value: float) -> str:
    """The figure as text: a difference with its sign, latency and cost with their own number of decimals."""
    return signed(value, PLACES["measure"]) if rule.is_against_baseline else _rounded(rule, value, bound_of(rule))


def _rounded(rule: GateRule, value: float, bound: float) -> str:
    """As many decimals as needed: a value that differs from zero or from the bound must not look equal to it."""
    kind = "latency" if rule.figure in LATENCIES else "cost" if rule.figure == COST else "measure"
    places = PLACES[kind]
    while places < MOST_PLACES and any(_looks_equal(other, value, places) for other in (bound, 0.0)):
        places += 1
    return number(value, places)


def _looks_equal(other: float, value: float, places: int) -> bool:
    return abs(value - other) > ROUNDING and number(value, places) == number(other, places)


NO_QUERIES = "no_queries"
FEW_QUERIES = "few_queries"
NO_VALUES = "no_values"
NO_TIMES = "no_times"
NO_COST = "no_cost"
NO_BASELINE = "no_baseline"
OTHER_TEXTS = "other_texts"
OFF_SCALE = "off_scale"
GAPS = (NO_QUERIES, FEW_QUERIES, NO_VALUES, NO_TIMES, NO_COST, NO_BASELINE, OTHER_TEXTS, OFF_SCALE)
