"""Comparisons of two runs: what differs, how surely, and on which queries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from apps.common.text.wording import number, percent, plural, signed
from apps.metrics.columns import Floats, Ints
from apps.metrics.estimate import PERCENTILE, QUERIES, STUDENT, Estimate, Items
from apps.metrics.measures.registry import parse_measure
from apps.metrics.scoring import JUDGED_AT_10
from apps.metrics.statistics.anytime import Evidence, evidence_of
from apps.metrics.statistics.families import RankedDifference, over_words
from apps.metrics.statistics.intervals import by_original
from apps.metrics.statistics.power import detectable_difference, needed_words, queries_needed_by
from apps.metrics.statistics.proportions import none_of
from apps.metrics.statistics.significance import (
    DEFAULT_CONFIDENCE,
    DEFAULT_SEED,
    EQUAL,
    FEWEST_FOR_A_VERDICT,
    LEVEL,
    NO_INTERVAL,
    Correction,
    Difference,
    Paired,
    WinTally,
    change_of,
    differences,
    mean_of,
    paired_tests,
    tally_of,
)

DROP_BAR = 0.1
JUDGED = str(JUDGED_AT_10)
CLEARLY_FEWER = 0.05
"""The least difference of judged@10 that a verdict names; smaller ones are within what few unjudged results change."""


class SupplementaryTests(NamedTuple):
    """Further tests and power of one difference, besides its interval and its randomisation test.

    `detectable` is the smallest difference that so many queries detect with a power of 80 %, None where the measure
    cannot differ so much; `needed` the number of queries that a true difference like the one seen would need for that,
    None where the one seen is below its standard error.
    """

    tests: Paired
    detectable: float | None
    needed: int | None

    @property
    def needed_words(self) -> str:
        """The queries needed, rounded for planning."""
        return needed_words(self.needed)


class McNemar(NamedTuple):
    """The questions on which only one of two runs is right, and the two-sided p if both were equally good.

    McNemar (Psychometrika 12, 1947), exact: the binomial distribution of the questions on which they differ.
    """

    baseline_alone: int
    candidate_alone: int
    p: float

    @property
    def words(self) -> str:
        alone = f"{self.candidate_alone:,} right in the candidate alone, {self.baseline_alone:,} in the baseline alone"
        return f"{alone}; exact McNemar test {p_words(self.p)}"


class MeasureComparison(NamedTuple):
    """Two runs by one measure: both means and their paired difference, candidate minus baseline.

    `anytime` is the evidence for a difference that may be looked at as often as one likes.
    `is_lower_better`: a fall is an improvement; `better` and `worse` of the difference count accordingly.
    `standing` is that among all comparisons by this measure; without one the measures compared are the family.
    """

    measure: str
    baseline: float
    candidate: float
    difference: Difference
    supplement: SupplementaryTests
    anytime: Evidence
    is_lower_better: bool = False
    standing: RankedDifference | None = None

    @property
    def corrected(self) -> float:
        """p, corrected over the family."""
        return self.standing.corrected if self.standing else self.difference.holm

    @property
    def evidence(self) -> Evidence:
        """The evidence, corrected over the same family."""
        return self.standing.evidence if self.standing else self.anytime

    def over(self, family: int = 1) -> str:
        """What p is corrected over, in words; `family` is the number of differences where it has no standing."""
        return self.standing.over if self.standing else over_words(family)

    def decides_words(self, family: int = 1, items: Items = QUERIES) -> str:
        """For whom the verdict decides; `family` is as in `over`."""
        if self.standing:
            return self.standing.words(items)[0]
        return self.anytime.words(self.over(family), items, is_sure=self.is_sure)

    @property
    def estimate(self) -> Estimate:
        """The difference with its interval."""
        difference = self.difference
        reason = NO_INTERVAL if difference.n < 2 else ""
        return Estimate.of(difference.mean, difference.interval, difference.n, STUDENT, reason)

    @property
    def mcnemar(self) -> McNemar | None:
        """The exact test of a yes-or-no measure; None for others."""
        if not parse_measure(self.measure).is_yes_or_no:
            return None
        counts = self.difference.tally
        return McNemar(counts.worse, counts.better, 1.0 if counts.sign_p is None else counts.sign_p)

    @property
    def as_json(self) -> dict[str, Any]:
        """The form of the command line and of the API: numbers unrounded, undefined values null."""
        difference, tests = self.difference, self.supplement.tests
        counts = difference.tally
        sign = {"value": difference.better, "p": counts.sign_p, "n": counts.moved} if counts.moved else None
        return {
            "measure": self.measure,
            "baseline": self.baseline,
            "candidate": self.candidate,
            "difference": self.estimate.as_json,
            "verdict": self.verdict,
            "p": difference.p,
            "p_holm": difference.holm,
            "better": difference.better,
            "equal": difference.equal,
            "worse": difference.worse,
            "rests_on": difference.rests_on,
            "sign": sign,
            "mcnemar": self.mcnemar._asdict() if self.mcnemar else None,
            "t": tests.t._asdict() if tests.t else None,
            "wilcoxon": tests.wilcoxon._asdict() if tests.wilcoxon else None,
            "anytime": self.anytime.as_json,
            "effect_size": Estimate.of(tests.effect, tests.effect_interval, tests.n, PERCENTILE).as_json,
            "detectable_difference": self.supplement.detectable,
            "queries_needed": self.supplement.needed,
        }

    @property
    def side(self) -> str:
        return "better" if (self.difference.mean > 0) != self.is_lower_better else "worse"

    @property
    def is_sure(self) -> bool:
        """Whether it is settled after correction over the family too: what the headline says, and the p beside it."""
        if self.standing:
            return self.standing.is_sure
        return self.difference.is_settled and self.difference.holm < LEVEL

    @property
    def verdict(self) -> str:
        if self.is_sure:
            return self.side
        if not self.difference.is_settled or (self.standing and self.standing.rests_on_evidence):
            return "not settled"
        return f"{self.side}, not after {(self.standing.correction if self.standing else Correction.HOLM).words}"


class QueryChange(NamedTuple):
    """One query of a comparison; `place` is its row in the values, `bar` the fall beyond which it is a drop."""

    query_id: str
    place: int
    baseline: float
    candidate: float
    is_lower_better: bool = False
    bar: float = DROP_BAR

    @property
    def change(self) -> float:
        return self.candidate - self.baseline

    @property
    def gain(self) -> float:
        """The change, turned so that more is better."""
        return -self.change if self.is_lower_better else self.change

    @property
    def is_drop(self) -> bool:
        """Whether it got worse by more than the bar and needs an explanation."""
        return self.gain < -self.bar - EQUAL


class RunValues(NamedTuple):
    """A run by its name, with a value for each query by measure; NaN is "no value".

    With values of `JUDGED`, verdicts say where one of two runs has clearly fewer judged results.
    """

    name: str
    values: Mapping[str, Floats]


@dataclass(frozen=True)
class RunComparison:
    """A candidate compared with a baseline, query by query: the source of the sentence, table, chart, API and report.

    `measures` are in the requested order. `left_out` are measures with a value for a query by one run and none by the
    other, or by neither for any: they have no paired difference. `family` is the number of differences that p was
    corrected over, including those of other candidates. `items` is what the values are of, for sentences.
    """

    baseline: RunValues
    candidate: RunValues
    queries: Sequence[str]
    measures: Sequence[MeasureComparison]
    left_out: tuple[str, ...] = ()
    family: int = 1
    confidence: float = DEFAULT_CONFIDENCE
    bar: float = DROP_BAR
    items: Items = QUERIES

    @property
    def names(self) -> tuple[str, str]:
        return self.baseline.name, self.candidate.name

    def measure(self, name: str) -> MeasureComparison | None:
        return next((one for one in self.measures if one.measure == name), None)

    def changes(self, measure: str) -> list[QueryChange]:
        """Every query by this measure, worst first; equal ones by id."""
        left, right = self.baseline.values[measure], self.candidate.values[measure]
        rows = changes(self.queries, left, right, is_lower_better=is_lower_better(measure), bar=self.bar)
        return [row for row in rows if not math.isnan(row.change)]

    def drops(self, measure: str) -> list[QueryChange]:
        """The queries that got worse by more than the bar, worst first."""
        return [change for change in self.changes(measure) if change.is_drop]

    def verdict(self, measure: MeasureComparison, fell: Regressions | None = None) -> str:
        """The verdict by one of the measures, then its test and the number of drops."""
        return " ".join(line for line in self.verdict_lines(measure, fell) if line)

    def verdict_lines(self, measure: MeasureComparison, fell: Regressions | None = None) -> tuple[str, str]:
        """The sentence for everybody, and the line below it, as in the function `verdict_lines`."""
        sentence, method = verdict_lines(*self.names, measure, self.family, fell, self.confidence, self.items)
        return " ".join(filter(None, [sentence, self.judged_words])), method

    @property
    def judged_words(self) -> str:
        """The sentence of a verdict where one run has clearly fewer judged results in its first ten; else empty.

        Clearly: by `CLEARLY_FEWER` or more, and the interval of the paired difference excludes zero.
        """
        left, right = self.baseline.values.get(JUDGED), self.candidate.values.get(JUDGED)
        if left is None or right is None:
            return ""
        both = ~np.isnan(left + right)
        if not both.any():
            return ""
        sides = (left[both], right[both])
        (gap,) = differences(sides[0][:, None], sides[1][:, None], confidence=self.confidence, resamples=0)
        if not gap.is_clear or abs(gap.mean) < CLEARLY_FEWER:
            return ""
        names, shares = self.names, [float(side.mean()) for side in sides]
        fewer, more = (1, 0) if gap.mean < 0 else (0, 1)
        few, many = (percent(shares[at], 0) for at in (fewer, more))
        first = f"Only {few} of the first 10 results of {names[fewer]} are judged, against {many} of {names[more]}"
        return f"{first}; unjudged results count as not relevant."


def compare_runs(
    baseline: RunValues,
    candidates: Sequence[RunValues],
    measures: Sequence[str],
    queries: Sequence[str],
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = DEFAULT_SEED,
    with_intervals: bool = True,
    strata: Ints | None = None,
    originals: Ints | None = None,
    order: Ints | None = None,
    bar: float = DROP_BAR,
    items: Items = QUERIES,
) -> list[RunComparison]:
    """Each candidate against the baseline, p corrected by Holm over all measures of all candidates.

    Row i of all values is query `queries[i]`. A query without a value by either run is left out of that measure; a
    measure that one run lacks, as a whole or for a query of the other, is left out of that pair. `strata` and
    `originals` are as in `differences`, `order` as in `evidence_of`. A query that got worse by more than `bar` is a
    drop. `items` is what the values are of, for sentences.
    """
    shared = [_shared(baseline, run, measures) if len(queries) else [] for run in candidates]
    pairs = [(run, name) for run, names in zip(candidates, shared, strict=True) for name in names]
    comparisons = iter(_measure_comparisons(baseline, pairs, confidence, seed, strata, originals, order))
    if not with_intervals:
        comparisons = (one._replace(difference=one.difference._replace(interval=None)) for one in comparisons)
    return [
        RunComparison(
            baseline,
            run,
            queries,
            [next(comparisons) for _ in names],
            tuple(name for name in measures if name not in names),
            len(pairs),
            confidence,
            bar,
            items,
        )
        for run, names in zip(candidates, shared, strict=True)
    ]


def _shared(baseline: RunValues, run: RunValues, measures: Sequence[str]) -> list[str]:
    """The measures by which both runs have a value for the same queries."""
    both = [name for name in measures if name in baseline.values and name in run.values]
    return [name for name in both if _has_same(baseline.values[name], run.values[name])]


def _has_same(left: Floats, right: Floats) -> bool:
    has = ~np.isnan(left)
    return bool(has.any() and (has == ~np.isnan(right)).all())


def _measure_comparisons(
    baseline: RunValues,
    pairs: Sequence[tuple[RunValues, str]],
    confidence: float,
    seed: int,
    strata: Ints | None,
    originals: Ints | None,
    order: Ints | None,
) -> Iterator[MeasureComparison]:
    """The runs and measures of `pairs`, each against the baseline's column of the same measure."""
    if not pairs:
        return
    left = np.column_stack([baseline.values[name] for _, name in pairs])
    right = np.column_stack([run.values[name] for run, name in pairs])
    by_pair = differences(left, right, confidence=confidence, seed=seed, strata=strata, originals=originals)
    change = change_of(left, right)
    tests = _tests(change, originals, confidence, seed)
    evidence = evidence_of(np.clip(np.nan_to_num(change), -1.0, 1.0), order, originals)
    for at, (_, name) in enumerate(pairs):
        difference, spread = by_pair[at], tests[at].spread or 0.0
        detectable, entry = detectable_difference(spread, tests[at].n), parse_measure(name).entry
        if detectable is not None and detectable > entry.high - entry.low:
            detectable = None
        supplement = SupplementaryTests(tests[at], detectable, queries_needed_by(difference.mean, spread, tests[at].n))
        turned = is_lower_better(name)
        if turned:
            difference = difference._replace(better=difference.worse, worse=difference.better)
        has = ~np.isnan(change[:, at])
        means = mean_of(left[has, at]) or 0.0, mean_of(right[has, at]) or 0.0
        yield MeasureComparison(name, *means, difference, supplement, evidence[at], turned)


def _tests(change: Floats, originals: Ints | None, confidence: float, seed: int) -> list[Paired]:
    """The tests of each column, those with a value for the same queries at once."""
    has = ~np.isnan(change)
    found: dict[int, Paired] = {}
    for rows in np.unique(has, axis=1).T:
        columns = np.flatnonzero((has == rows[:, None]).all(axis=0))
        within = None if originals is None else originals[rows]
        questions = np.column_stack([by_original(change[rows, column], within) for column in columns])
        found |= zip(columns.tolist(), paired_tests(questions, confidence=confidence, seed=seed), strict=True)
    return [found[column] for column in range(change.shape[1])]


def is_lower_better(measure: str) -> bool:
    """Whether lower values of the measure, named as in `nDCG@10`, are better."""
    return parse_measure(measure).entry.is_lower_better


def changes(
    query_ids: Sequence[str],
    baseline: Floats,
    candidate: Floats,
    *,
    is_lower_better: bool = False,
    bar: float = DROP_BAR,
) -> list[QueryChange]:
    """Every query, worst first; equal ones by id."""
    rows = [
        QueryChange(query_id, place, float(baseline[place]), float(candidate[place]), is_lower_better, bar)
        for place, query_id in enumerate(query_ids)
    ]
    return sorted(rows, key=lambda row: (round(row.gain, 12), row.query_id))


def tally(rows: Sequence[QueryChange]) -> WinTally:
    return tally_of(np.array([row.gain for row in rows]))


class Regressions(NamedTuple):
    """The number of drops, and of those without an explanation."""

    total: int
    unexplained: int

    @property
    def words(self) -> str:
        if not self.total:
            return "no drop"
        named = plural(self.total, "drop")
        if not self.unexplained:
            return f"{named}, {'explained' if self.total == 1 else 'all explained'}"
        if self.unexplained == self.total:
            return f"{named}, {'unexplained' if self.total == 1 else 'none explained'}"
        return f"{named}, {self.unexplained:,} unexplained"


def verdict_lines(
    baseline: str,
    candidate: str,
    row: MeasureComparison,
    family: int = 1,
    fell: Regressions | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    items: Items = QUERIES,
) -> tuple[str, str]:
    """The verdict as a sentence for everybody, and the line below it: method, p, and the number of drops.

    `family` is the number of differences that p was corrected over. The sentence says "better" or "worse" only where
    the interval excludes zero and the p below it is under `LEVEL`, so that the two never contradict each other.
    """
    bounds = row.difference.interval
    if bounds is None:
        return f"One {items.one} is too few to compare {candidate} with {baseline}.", ""
    ending = f"; {fell.words}." if fell else "."
    share = f"{confidence * 100:g}\N{NO-BREAK SPACE}%"
    rest = f"{handful_words(row.difference.tally, items)}{ending}"
    method = f"{share} interval, {p_words(row.corrected, row.over(family))}{rest}"
    mean = row.difference.mean
    span = f"could be {signed(bounds[0])} to {signed(bounds[1])}"
    if row.difference.n < FEWEST_FOR_A_VERDICT:
        few = f"{row.difference.n} {items.many} are too few to tell {candidate} and {baseline} apart on {row.measure}"
        return f"{few}: {signed(mean)} so far. At least {FEWEST_FOR_A_VERDICT} in all are needed; plan for 50.", method
    if row.standing and row.standing.rests_on_evidence:
        rest = rest.lstrip(",;. ")
        return _by_evidence(baseline, candidate, row, items), rest[:1].upper() + rest[1:]
    if not row.is_sure:
        listed = f"{row.standing.count} comparisons" if row.standing else f"{family} differences"
        among = f", among {listed}," if row.difference.is_settled else ""
        differs = f"{row.measure} differs by {signed(mean)}, it {span}"
        return f"Cannot tell yet{among} whether {candidate} is better or worse than {baseline}: {differs}.", method
    better = f"{candidate} is {row.side} than {baseline} by {number(abs(mean))} {row.measure}"
    return f"{better}; the difference {span}.", method


def _by_evidence(baseline: str, candidate: str, row: MeasureComparison, items: Items) -> str:
    """The verdict beside the planned number of queries, where interval and p decide nothing."""
    mean, so_far = row.difference.mean, f"over {items.counted(row.difference.n)}"
    if row.is_sure:
        better = f"{candidate} is {row.side} than {baseline} by {number(abs(mean))} {row.measure} {so_far}"
        return f"{better}: the evidence settles it."
    differs = f"{row.measure} differs by {signed(mean)} {so_far}"
    return f"Cannot tell yet whether {candidate} is better or worse than {baseline}: {differs}."


def none_leaked(n: int, items: Items) -> str:
    """What is known of leaks where none of `n` queries had one, to follow the figure."""
    most = percent(none_of(n))
    return f" None of {items.counted(n)} leaked: with 95 % confidence, fewer than {most} of such {items.many} do."


def handful_words(counts: WinTally, items: Items = QUERIES) -> str:
    """`, only 3 of 100 queries differ (exact sign test p = 0.250)` where it does; "" otherwise."""
    if counts.rests_on is None:
        return ""
    of = items.counted(counts.n)
    if counts.sign_p is None:
        return f", none of {of} differs"
    differ = "differs" if counts.rests_on == 1 else "differ"
    return f", only {counts.rests_on} of {of} {differ} (exact sign test {p_words(counts.sign_p)})"


HANDFUL_WORDS = (
    "With so few that differ, the interval is less reliable than it claims; the exact sign test counts only "
    "the direction of each difference."
)


def handfuls(rows: Sequence[MeasureComparison], items: Items = QUERIES) -> list[str]:
    """Measures that differ on a handful of items only, each with its exact sign test; empty without any."""
    return [
        f"{row.measure}: {counts.better:,} better, {counts.worse:,} worse, {counts.equal:,} equal"
        f"{handful_words(counts, items)}."
        for row in rows
        if (counts := row.difference.tally).rests_on is not None
    ]


def p_words(p: float, over: str = "") -> str:
    """`p = 0.013 after Holm over 6`, with `over` as `over_words` writes it; four places below 0.01."""
    return f"p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{number(p, 4 if p < 0.01 else 3)}{over}"
