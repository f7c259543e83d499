"""Checks a run against a rule: passed, failed, not known yet or nothing checked, in one sentence with its figure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from apps.common.text.wording import number, signed
from apps.evaluation.core.basis import rule_name
from apps.gates.core.rule import (
    COST,
    FAILED,
    INTERVAL,
    LATENCIES,
    NOTHING,
    PASSED,
    UNKNOWN,
    WARN,
    GateRule,
    requirement,
    sample,
    unit,
)
from apps.metrics.columns import Floats, Ints
from apps.metrics.comparison import handful_words, none_leaked
from apps.metrics.estimate import PERCENTILE, STUDENT, Estimate, Items
from apps.metrics.expected.rules import counts_questions, items_of
from apps.metrics.statistics.intervals import Interval, by_original, difference_interval, spread_at
from apps.metrics.statistics.power import more_needed
from apps.metrics.statistics.significance import (
    DEFAULT_CONFIDENCE,
    DEFAULT_SEED,
    FEWEST_FOR_A_VERDICT,
    RESAMPLES,
    change_of,
    mean_of,
    summaries,
    tally_of,
)

ROUNDING = 1e-9
PLACES = {"measure": 4, "latency": 0, "cost": 2}
MOST_PLACES = 12
CELLS_AT_ONCE = 500_000


class RunEvidence(NamedTuple):
    """The results of a run on one split of a gold set; row i of everything is query `query_ids[i]`.

    `values` and `baseline` have one column for each measure, under its canonical name; NaN is "no value". `latencies`
    are milliseconds, NaN where not measured; `cost` is that of 1,000 queries. `strata` has a label for each query under
    each field that rules may name, "" for none; `slices` has the queries of each slice of the version. `seed` is for
    the sample of the smoke tier and the resamples. `originals` are as in `summaries`.
    `confidence` is that of every interval.
    """

    query_ids: Sequence[str]
    values: Mapping[str, Floats]
    baseline: Mapping[str, Floats] | None = None
    latencies: Floats | None = None
    cost: float | None = None
    strata: Mapping[str, Sequence[str]] = {}
    slices: Mapping[str, Collection[str]] = {}
    seed: int = DEFAULT_SEED
    originals: Ints | None = None
    confidence: float = DEFAULT_CONFIDENCE

    def originals_at(self, rows: Ints) -> Ints | None:
        """The numbers of these queries' original questions."""
        return None if self.originals is None else self.originals[rows]


class GateVerdict(NamedTuple):
    """`value` is the figure (of a baseline rule: candidate minus baseline), `bound` what it is compared with.

    Where nothing can be decided `gap` is one of `GAPS`, and `value` None where there is not even a figure. `words` is a
    sentence for people. `n` counts the queries, `interval` is that of `value`, computed by `method`.
    """

    state: str
    value: float | None
    bound: float | None
    words: str
    interval: tuple[float, float] | None = None
    n: int = 0
    gap: str = ""
    method: str = PERCENTILE

    @property
    def estimate(self) -> Estimate:
        return Estimate.of(self.value, self.interval, self.n, self.method, self.words if self.value is None else "")


def decide(rule: GateRule, evidence: RunEvidence) -> GateVerdict:
    """Check one run against one rule.

    What cannot be decided is "unknown" with the reason, and a rule without a single query "nothing": never passed. That
    is so of figures of fewer than six queries, and where the bound is within an interval that must be on one side.
    """
    try:
        rows = _rows(rule, evidence)
        if rule.is_against_baseline:
            return _decided(rule, _difference(rule, evidence, rows), evidence.confidence)
        return _decided(rule, _figure(rule, evidence, rows), evidence.confidence)
    except _NotKnown as gap:
        return not_known(rule, gap.code, str(gap))


def not_known(rule: GateRule, gap: str, reason: str) -> GateVerdict:
    """The rule cannot be decided; `reason` is the sentence that says why."""
    state, outcome = (NOTHING, "Nothing checked") if gap == NO_QUERIES else (UNKNOWN, "Not known yet")
    return GateVerdict(state, None, bound_of(rule), f"{outcome}: {reason}", gap=gap)


class QueryValue(NamedTuple):
    """What one query adds to the figure of a rule; `baseline` is None where there is none, or it has no value."""

    query_id: str
    value: float
    baseline: float | None = None


def worst_first(rule: GateRule, evidence: RunEvidence) -> list[QueryValue]:
    """The queries that a rule is decided on with their values, the worst first: what fell most from the baseline where
    there is one, then the worst values. Of equal ones the first query comes first. Empty where no query has a value.
    """
    try:
        rows = _rows(rule, evidence)
        values = evidence.latencies if rule.figure in LATENCIES else evidence.values.get(rule.figure)
    except _NotKnown:
        return []
    if values is None:
        return []
    before = None if evidence.baseline is None else evidence.baseline.get(rule.figure)
    base = np.full(len(rows), np.nan) if before is None else before[rows]
    change = change_of(base, values[rows])
    ranked = change if rule.is_against_baseline else values[rows]
    sign = -1 if rule.figure in LATENCIES or _falls(rule) else 1
    fall = np.minimum(np.nan_to_num(sign * change), 0)
    order = np.lexsort((sign * ranked, fall))
    return [
        QueryValue(
            evidence.query_ids[rows[place]],
            float(values[rows[place]]),
            None if np.isnan(base[place]) else float(base[place]),
        )
        for place in order.tolist()
        if not np.isnan(ranked[place])
    ]


def worst_state(states: Iterable[str]) -> str:
    """The state of several gates together: failed when any failed, else unknown when any is, else nothing checked when
    that is so of any, or there is no gate.
    """
    present = set(states) or {NOTHING}
    return next(state for state in (FAILED, UNKNOWN, NOTHING, PASSED) if state in present)


def joint_confidence(rules: Sequence[GateRule]) -> float:
    """The confidence of each interval so that all of those that decide one of these rules hold together.

    Bonferroni's inequality (Dunn, JASA 56, 1961): they share the chance of an error. Rules on the figure itself take no
    part.
    """
    deciding = sum(rule.is_against_baseline or rule.on == INTERVAL for rule in rules)
    return 1.0 - (1.0 - DEFAULT_CONFIDENCE) / max(1, deciding)


def state_that_counts(rule: GateRule, state: str) -> str:
    """The state of one gate among several in a pipeline: with `not_known = "warn"` what is not known stops nothing."""
    return PASSED if state == UNKNOWN and rule.not_known == WARN else state


class _NotKnown(Exception):
    """Why a rule cannot be decided: a sentence, and a code for machines."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class _Figure(NamedTuple):
    """The measured value, or difference. Cost has no interval, and neither has a figure of a single query.

    `spread` is the standard deviation of one query, to plan for more of them: 0 where it is not known. `remark` follows
    the figure in its sentence.
    """

    value: float
    interval: Interval | None
    n: int
    method: str = PERCENTILE
    spread: float = 0.0
    remark: str = ""
    questions: int | None = None

    @property
    def drawn(self) -> int:
        """How many draws from the questions that there are: variants of one count once."""
        return self.n if self.questions is None else self.questions


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
    assert rule.measure is not None
    column, originals = _column(evidence, rule, rows), evidence.originals_at(rows)
    (summary,) = summaries([rule.measure], column[:, None], confidence=evidence.confidence, originals=originals)
    if summary.mean is None:
        raise _NotKnown(NO_VALUES, f"{rule.figure} has no value for any {_items(rule).one}{where(rule)}.")
    has = ~np.isnan(column)
    spread = spread_at(column[has], bound_of(rule), None if originals is None else originals[has])
    questions = None if originals is None else len(np.unique(originals[has]))
    remark = none_leaked(summary.n, _items(rule)) if rule.measure.role and summary.mean == 0 else ""
    return _Figure(summary.mean, summary.interval, summary.n, summary.method, spread, remark, questions)


def _difference(rule: GateRule, evidence: RunEvidence, rows: Ints) -> _Figure:
    """The paired difference over the queries for which both runs have a value. Raises _NotKnown."""
    if evidence.baseline is None:
        raise _NotKnown(NO_BASELINE, "there is no baseline to compare with.")
    if rule.figure not in evidence.baseline:
        raise _NotKnown(NO_BASELINE, f"{rule.figure} of the baseline was not computed.")
    change = change_of(evidence.baseline[rule.figure][rows], _column(evidence, rule, rows))
    has, originals = ~np.isnan(change), evidence.originals_at(rows)
    change, originals = change[has], None if originals is None else originals[has]
    mean, n = mean_of(change), len(change)
    if mean is None:
        raise _NotKnown(NO_VALUES, f"no {_items(rule).one}{where(rule)} has {rule.figure} in both runs.")
    interval = difference_interval(change, evidence.confidence, originals=originals)
    drawn = by_original(change, originals)
    spread = float(np.append(drawn, np.abs(change).max() or 1.0).std())
    remark = handful_words(tally_of(change), _items(rule))
    return _Figure(mean, interval, n, STUDENT, spread, remark, len(drawn))


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
    tail = (1.0 - evidence.confidence) / 2.0
    low, high = np.quantile(np.concatenate(drawn), (tail, 1.0 - tail))
    return _Figure(value, (float(low), float(high)), len(taken))


def _decided(rule: GateRule, figure: _Figure, confidence: float) -> GateVerdict:
    """The verdict on a figure: by itself, or by its whole interval where the rule says so."""
    state, gap, reason = PASSED if _meets(rule, figure.value) else FAILED, "", ""
    if rule.figure != COST and figure.drawn < FEWEST_FOR_A_VERDICT:
        state, gap = UNKNOWN, FEW_QUERIES
        reason = f" {_items(rule).counted(figure.drawn)} cannot decide it: {FEWEST_FOR_A_VERDICT} or more can."
    elif rule.is_against_baseline and rule.margin is None:
        state = PASSED if any(_meets(rule, end) for end in figure.interval or ()) else FAILED
    elif rule.is_against_baseline or rule.on == INTERVAL:
        low, high = figure.interval or (figure.value, figure.value)
        if low == high or _meets(rule, low) != _meets(rule, high):
            state, gap, reason = UNKNOWN, UNDECIDED, _range_words(rule, figure)
    bound = bound_of(rule)
    opening = "Not known yet: " if state == UNKNOWN else ""
    words = f"{opening}{_figure_words(rule, figure, bound, confidence)}; the gate requires {requirement(rule)}.{reason}"
    return GateVerdict(state, figure.value, bound, words, figure.interval, figure.n, gap, figure.method)


def _meets(rule: GateRule, value: float) -> bool:
    """Whether a value, or an end of an interval, is on the right side of the rule's bound."""
    is_low_good = rule.at_most is not None or (rule.is_against_baseline and _falls(rule))
    distance = value - bound_of(rule)
    return (-distance if is_low_good else distance) >= -ROUNDING


def _range_words(rule: GateRule, figure: _Figure) -> str:
    """How many more queries decide the rule if the true figure is the one seen, as a sentence."""
    many = _items(rule).many
    if not figure.spread:
        return f" It is too close to tell: more {many} are needed."
    more = more_needed(figure.value - bound_of(rule), figure.spread, figure.drawn)
    if more is None:
        return f" It is too close to say how many more {many} would decide it."
    even, likely = more
    span = f"{even:,} to {likely:,}" if even else f"up to {likely:,}"
    return f" If the true figure is this one, about {span} more {many} decide it (half of all cases, nine in ten)."


def _figure_words(rule: GateRule, figure: _Figure, bound: float, confidence: float) -> str:
    if rule.is_against_baseline:
        change = f"{rule.figure}{where(rule)} differs from the baseline by {signed(figure.value, 4)}"
        return f"{change}{_interval_words(rule, figure, bound, confidence)}{figure.remark}"
    value = f"{_called(rule)}{where(rule)} is {_rounded(rule, figure.value, bound)}{unit(rule)}"
    return f"{value}{_interval_words(rule, figure, bound, confidence)}{figure.remark}"


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
    if counts_questions(rule.hit):
        return f"{rule.figure} on Q&As ({rule.hit})"
    return f"{rule.figure} {rule_name(rule.hit)}" if rule.hit else rule.figure


def _called(rule: GateRule) -> str:
    words = figure_words(rule)
    return words if rule.measure else f"The {words}"


def _interval_words(rule: GateRule, figure: _Figure, bound: float, confidence: float) -> str:
    if rule.figure == COST:
        return ""
    if figure.interval is None:
        return f", n = {figure.n:,}"
    ends = (signed(end, 4) if rule.is_against_baseline else _rounded(rule, end, bound) for end in figure.interval)
    return f", {confidence * 100:.3g} % interval {' to '.join(ends)}{unit(rule)}, n = {figure.n:,}"


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
UNDECIDED = "undecided"
SEALED = "sealed"
GAPS = (NO_QUERIES, FEW_QUERIES, NO_VALUES, NO_TIMES, NO_COST, NO_BASELINE, OTHER_TEXTS, OFF_SCALE, UNDECIDED, SEALED)
