"""Precision from a random sample of pairs: how many judgements it needs, and what the sample says.

P@k is a mean over pairs: of k results of each query, the share that is relevant. So it can be estimated from single
pairs of all queries. Results of one query are alike: of 50 queries × 10 results a mean is much less certain than of 500
results of as many queries (design effect, Kish, Survey Sampling, 1965). Success@1 is P@1. The difference of P@k between
two runs is the mean of 2k values of each query, where a relevant result counts 2 in one run and -2 in the other, and
one that both runs return counts 0. Measures that depend on a whole ranking (nDCG, AP, RR, Recall) are no such means.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from apps.metrics.columns import Floats, Ints
from apps.metrics.estimate import STUDENT, WILSON, Estimate
from apps.metrics.statistics.proportions import student_quantile, wilson_at

USUAL_SHARE, USUAL_LIKENESS = 0.2, 0.5
"""What is assumed without grades: a fifth is relevant, and results of a query are half as alike as can be."""


class PairSpread(NamedTuple):
    """How the values of pairs scatter: the variance of a single one, and how alike those of a query are.

    `alike` is the intraclass correlation: 0 where pairs of a query are as different as any, 1 where they are equal.
    `each` is the number of pairs of a query that its score is the mean of.
    """

    variance: float
    alike: float
    each: int

    @property
    def between(self) -> float:
        """The variance of the scores of queries."""
        return self.variance * (1 + (self.each - 1) * self.alike) / self.each

    @property
    def within(self) -> float:
        """The variance of the pairs of a query around its score."""
        return self.variance * (1 - self.alike)

    def error_of_queries(self, queries: float) -> float:
        """The standard error of a mean over so many queries, all of whose pairs are judged."""
        return math.sqrt(self.between / queries)

    def error_of_pairs(self, pairs: float, queries: int) -> float:
        """The same of so many random pairs, spread over the queries as evenly as possible."""
        if pairs <= queries:
            return math.sqrt(self.variance / pairs)
        return math.sqrt(self.between / queries + self.within * (1 / pairs - 1 / (queries * self.each)))


def assumed_spread(share: float, each: int, alike: float = USUAL_LIKENESS) -> PairSpread:
    """The scatter where this share of the results is relevant, from 0 to 1."""
    return PairSpread(share * (1 - share), alike, each)


def spread_of(values: Floats, query: Ints, each: int) -> PairSpread | None:
    """The scatter of known values, one of each judged pair, with the number of its query.

    The intraclass correlation is the analysis-of-variance estimate (Donner & Koval, Biometrics 36, 1980), 0 at least.
    None without scatter, for fewer than two queries, or where none has two values.
    """
    _, group, sizes = np.unique(query, return_inverse=True, return_counts=True)
    n, groups = len(values), len(sizes)
    if groups < 2 or n == groups or values.std() == 0:
        return None
    means = np.bincount(group, values) / sizes
    inside = float(((values - means[group]) ** 2).sum()) / (n - groups)
    outside = float((sizes * (means - values.mean()) ** 2).sum()) / (groups - 1)
    usual = (n - float((sizes**2).sum()) / n) / (groups - 1)
    alike = (outside - inside) / (outside + (usual - 1) * inside)
    return PairSpread(float(values.var(ddof=1)), min(1.0, max(0.0, alike)), each)


class JudgementPlans(NamedTuple):
    """The judgements that each plan needs; None where the queries that there are do not suffice.

    `queries` is the number of whole queries, whose pairs are `by_queries`.
    """

    queries: int | None
    by_queries: int | None
    by_pairs: int | None


def judgements_needed(error: float, spread: PairSpread, queries: int, pooled: float | None = None) -> JudgementPlans:
    """What a standard error of P@k costs: judging whole queries, or random pairs of all `queries`.

    `pooled` is the number of pairs of a query in the pool, of which `spread.each` are those of one run; by default
    these alone. Raises ValueError for an error that is not above 0, or without queries.
    """
    if not error > 0 or queries < 1:
        raise ValueError("a plan needs a standard error above 0, and queries")
    factor = max(1.0, (pooled or spread.each) / spread.each)
    target = error**2 * (1 + 1e-9)
    if spread.between / queries > target:
        return JudgementPlans(None, None, None)
    whole = max(1, math.ceil(spread.between / target))
    pairs = spread.variance / target
    if pairs > queries:
        left = target - spread.between / queries + spread.within / (queries * spread.each)
        pairs = spread.within / left if left > 0 else float(queries * spread.each)
    pairs = min(max(1.0, pairs), float(queries * spread.each))
    return JudgementPlans(whole, math.ceil(whole * spread.each * factor), math.ceil(math.ceil(pairs) * factor))


class SampledPairs(NamedTuple):
    """The judged pairs of a run in a random sample of a pool, as columns, and all results that the run has there.

    `query` numbers the queries from 0; `found` has for each of them how many results the run has in its first `depth`,
    so that a place without a result counts as not relevant. `probability` is that of each pair to be in the sample.
    """

    relevant: Floats
    probability: Floats
    query: Ints
    found: Ints
    depth: int

    @property
    def slots(self) -> int:
        return len(self.found) * self.depth


class SampledFigure(NamedTuple):
    """A figure with its interval over queries, and its standard error; None where it is not known."""

    estimate: Estimate
    error: float | None


NO_PAIR = "No sampled pair of this run is judged yet."
ONE_QUERY = "An interval needs judged pairs of two queries."


def hajek(pairs: SampledPairs, confidence: float = 0.95) -> SampledFigure:
    """P@k by the ratio estimator of Hájek: the weighted share of relevant pairs, times that of places with a result.

    The weights are 1 / probability (Särndal, Swensson & Wretman, Model Assisted Survey Sampling, 1992, section 5.7).
    The standard error is that of the linearised estimate, clustered by query, as of a sample of all queries that could
    be asked. The interval is Wilson's of as many independent pairs as have this standard error, with Student's quantile
    (Dean & Pagano, Journal of Survey Statistics and Methodology 3, 2015). Where all pairs are relevant or none, each
    query counts as one independent pair.
    """
    if not len(pairs.relevant):
        return SampledFigure(Estimate(None, reason=NO_PAIR), None)
    weight = 1 / pairs.probability
    share = float((weight * pairs.relevant).sum() / weight.sum())
    found, queries = pairs.found.sum(), len(pairs.found)
    value = share * float(found) / pairs.slots
    part = np.bincount(pairs.query, weight * (pairs.relevant - share), minlength=queries) / weight.sum()
    change = part * found / pairs.slots + share * (pairs.found - found / queries) / pairs.slots
    sampled = len(np.unique(pairs.query))
    if sampled < 2:
        return SampledFigure(Estimate(value, n=len(weight), reason=ONE_QUERY), None)
    variance = float((change**2).sum()) * queries / (queries - 1)
    most = float(weight.sum() ** 2 / (weight**2).sum())
    likely = value * (1 - value) / variance if variance > 0 and 0 < share < 1 else float(sampled)
    quantile = student_quantile(confidence, sampled - 1)
    interval = wilson_at(value, quantile**2 / min(most, likely))
    return SampledFigure(Estimate.of(value, interval, len(weight), WILSON), math.sqrt(variance))


def horvitz_thompson(pairs: SampledPairs, confidence: float = 0.95) -> SampledFigure:
    """P@k by the estimator of Horvitz and Thompson (JASA 47, 1952): relevant pairs, each times 1 / probability.

    It is right on average but less certain than Hájek's, since it does not use how many of the run's pairs were
    sampled, and it can be above 1. A sampled pair without a grade counts as not relevant. The interval is Student's,
    clustered by query; of few relevant pairs it covers less often than it says, which Hájek's does not.
    """
    if not len(pairs.relevant):
        return SampledFigure(Estimate(None, reason=NO_PAIR), None)
    queries = len(pairs.found)
    total = np.bincount(pairs.query, pairs.relevant / pairs.probability, minlength=queries)
    value = float(total.sum()) / pairs.slots
    sampled = len(np.unique(pairs.query))
    if sampled < 2:
        return SampledFigure(Estimate(value, n=len(pairs.relevant), reason=ONE_QUERY), None)
    error = math.sqrt(float(((total - total.mean()) ** 2).sum()) * queries / (queries - 1)) / pairs.slots
    half = student_quantile(confidence, sampled - 1) * error
    return SampledFigure(
        Estimate.of(value, (max(0.0, value - half), value + half), len(pairs.relevant), STUDENT), error
    )
