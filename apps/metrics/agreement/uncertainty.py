"""Values and intervals of coefficients from a sample: over items, over clusters of them, or from a standard error.

Every coefficient is a function of how often each pattern of ratings occurs, so resampling items is one multinomial
draw, whatever their number. Intervals are the middle share of the resampled values, by percentiles a little further out
(`apps.metrics.statistics.proportions.widened`), since few items make intervals too narrow. Kappas and alphas are
bounded and skew, but BCa (Efron 1987, JASA 82:171-185) over the same items was wider and covered less often;
docs/reference/uncertainty.md has both.

Half an imagined item is added to the items: the ratings that two raters might give, as far as is known beforehand, one
part spread evenly over all pairs of categories (Perks, Journal of the Institute of Actuaries 73, 1947), the other over
those that agree. Rare ratings that a small sample lacks, such as a far miss or two raters who agree on a rare category,
are in no resample otherwise (pseudo-Bayes estimates: Bishop, Fienberg and Holland, Discrete Multivariate Analysis,
1975, chapter 12).

Items of one cluster, such as the pairs of one query, are alike: people agree on all of an easy query. Where clusters
are given, nothing is resampled: the spread is that of the values without each cluster in turn (the jackknife: Tukey
1958; Miller, Biometrika 61, 1974), and the interval is Student's on Fisher's scale around the value with half an
imagined item, with the degrees of freedom of `freedom_of_spread`. A bootstrap over clusters covered less often where
there are few, and takes a seed; docs/reference/agreement.md has both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import atanh, gcd, isfinite, sqrt, tanh
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.agreement.counting import MISSING, Cells, Counts, Parts, chance_corrected, distinct_rows
from apps.metrics.agreement.results import CERTAIN, Coefficient, interval_of_error, undefined
from apps.metrics.statistics.bootstrap import DEFAULT_SEED, interval_of_defined
from apps.metrics.statistics.proportions import freedom_of_spread, student_quantile, widened, wilson

Floats = NDArray[np.float64]

MOST = 200


class Pairs(NamedTuple):
    """Pairs of categories, each with its share of the item. Very many pairs are represented by some of them."""

    first: Counts
    second: Counts
    shares: Floats


def pairs_of_categories(size: int) -> Pairs:
    everywhere, alike = spread(size * size), spread(size) * (size + 1)
    cells = np.union1d(everywhere, alike)
    shares = np.isin(cells, everywhere) / (2 * len(everywhere)) + np.isin(cells, alike) / (2 * len(alike))
    return Pairs(cells // size, cells % size, shares)


def rows_of_pairs(raters: Counts, columns: int, size: int, missing: int) -> tuple[Counts, Floats]:
    """The item as rows of `columns` raters of whom two rated it, and the share of each row; empty for one rater."""
    one, other = np.triu_indices(len(raters), 1)
    pairs = pairs_of_categories(size)
    chosen = spread(len(one) * len(pairs.shares))
    who, what = np.divmod(chosen, len(pairs.shares))
    rows = np.full((len(chosen), columns), missing, dtype=np.int64)
    places = np.arange(len(chosen))
    rows[places, raters[one[who]]] = pairs.first[what]
    rows[places, raters[other[who]]] = pairs.second[what]
    shares = pairs.shares[what]
    return rows, shares / shares.sum() if len(shares) else shares


def spread(count: int) -> Counts:
    """The numbers below `count`, or MOST of them when there are more, spread evenly and always the same."""
    if count <= MOST:
        return np.arange(count)
    step = round(count * 0.6180339887)  # with the golden section neighbours in a row do not share columns
    while gcd(step, count) > 1:
        step += 1
    return np.sort(np.arange(MOST) * step % count)


IMAGINED_ITEMS = 0.5
CELLS_AT_ONCE = 4_000_000
MOST_CLUSTERS = 200
CROSSED = 3


@dataclass(frozen=True)
class Clusters:
    """The pattern and the cluster of each item, counted from 0: `size` of them, joined from `count`."""

    patterns: Counts
    clusters: Counts
    size: int
    count: int


def clusters_from(patterns: Counts, labels: Counts) -> Clusters:
    """The clusters of items by label. More than MOST_CLUSTERS are joined, so that many cost no more."""
    found, clusters = np.unique(labels, return_inverse=True)
    joined = clusters.reshape(-1) % MOST_CLUSTERS
    return Clusters(patterns, joined, min(len(found), MOST_CLUSTERS), len(found))


def crossed(labels: Counts) -> list[Counts]:
    """The labels that items are clustered by: one column, or two that cross, then followed by their intersection."""
    return [labels] if labels.ndim == 1 else [*labels.T, distinct_rows(labels)[1]]


@dataclass(frozen=True)
class Sample:
    """Patterns, one a row, and how many items have each: `total`.

    `imagined` is the share of each pattern in an imagined item; a pattern may occur in that one only. With `clusters`
    intervals are over these, without over items; three are two that cross, and their intersection.
    """

    patterns: Counts
    total: Counts
    imagined: Floats
    clusters: tuple[Clusters, ...] = ()

    @property
    def n(self) -> int:
        return int(self.total.sum())

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which patterns occur in an item."""
        seen: NDArray[np.bool_] = self.total > 0
        return seen


def sample_of_counts(counts: Counts, *, least: int = 1, clusters: Counts | None = None) -> Sample:
    """The sample of items by categories; items with fewer than `least` ratings are left out.

    `clusters` is the label of each item's cluster, any whole number, or has two columns of such labels that cross.
    """
    pairs, places = pairs_of_categories(counts.shape[1]), np.eye(counts.shape[1], dtype=np.int64)
    rows = places[pairs.first] + places[pairs.second]
    return _sample(counts, counts.sum(axis=1) >= least, rows, pairs.shares, clusters)


def sample_of_codes(rated: Counts, size: int, *, clusters: Counts | None = None) -> Sample:
    """The sample of items by raters with `size` categories; items without a rating are left out."""
    present = rated != MISSING
    rows, shares = rows_of_pairs(np.flatnonzero(present.any(axis=0)), rated.shape[1], size, MISSING)
    return _sample(rated, present.any(axis=1), rows, shares, clusters)


def sample_of_table(table: Counts, cells: Cells | None = None) -> Sample:
    """The sample of two raters' table: its cells, row by row, are the patterns. `cells` are those of its items."""
    pairs, imagined = pairs_of_categories(len(table)), np.zeros(table.shape)
    imagined[pairs.first, pairs.second] = pairs.shares
    clusters = tuple(clusters_from(cells.cells, labels) for labels in crossed(cells.clusters)) if cells else ()
    return Sample(np.arange(table.size)[:, None], table.reshape(-1), imagined.reshape(-1), clusters)


def _sample(rows: Counts, used: NDArray[np.bool_], imagined: Counts, shares: Floats, clusters: Counts | None) -> Sample:
    """`shares` are those of the imagined rows."""
    n = int(used.sum())
    patterns, places = distinct_rows(np.concatenate([rows[used], imagined]))
    total = np.bincount(places[:n], minlength=len(patterns))
    expected = np.zeros(len(patterns))
    np.add.at(expected, places[n:], shares)
    grouped = [] if clusters is None else [clusters_from(places[:n], labels) for labels in crossed(clusters[used])]
    return Sample(patterns, total, expected, tuple(grouped))


def resampled(sample: Sample, *, seed: int, resamples: int) -> Iterator[Floats]:
    """Counts of patterns over resampled items and IMAGINED_ITEMS; draws by patterns, some at a time.

    The draws depend on the seed alone, not on how many are yielded at a time.
    """
    if not resamples:
        return
    chance = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
    shares = sample.total / sample.n + IMAGINED_ITEMS / sample.n * sample.imagined
    shares /= shares.sum()
    step = max(1, CELLS_AT_ONCE // max(len(sample.patterns), 10 * sample.patterns.shape[1], 1))
    for first in range(0, resamples, step):
        drawn = chance.multinomial(sample.n, shares, size=min(step, resamples - first))
        yield drawn.astype(float)


def without_each(sample: Sample, clusters: Clusters) -> Iterator[Floats]:
    """Counts of patterns without each cluster in turn, and with IMAGINED_ITEMS: clusters by patterns, some at once."""
    whole = with_imagined(sample)
    for own in left_out(clusters, len(sample.patterns)):
        yield whole - own


def left_out(clusters: Clusters, size: int) -> Iterator[Counts]:
    """How often each of `size` patterns occurs in each cluster, clusters by patterns, some clusters at a time."""
    order = np.argsort(clusters.clusters, kind="stable")
    patterns, own = clusters.patterns[order], clusters.clusters[order]
    step = max(1, CELLS_AT_ONCE // max(size, 1))
    for first in range(0, clusters.size, step):
        rows = min(step, clusters.size - first)
        start, end = np.searchsorted(own, (first, first + rows))
        cells = (own[start:end] - first) * size + patterns[start:end]
        yield np.bincount(cells, minlength=rows * size).reshape(rows, size)


def with_imagined(sample: Sample) -> Floats:
    """Counts of patterns of all items and IMAGINED_ITEMS."""
    counts: Floats = sample.total + IMAGINED_ITEMS * sample.imagined
    return counts


RESAMPLES = 2_000
CONFIDENCE = 0.95

BOOTSTRAP = "bootstrap over items"
OVER_CLUSTERS = "jackknife over clusters"
FULL = "Wilson bound of percent agreement"
ANALYTIC = "standard error"
NONE = "no interval: most resamples are undefined"
NO_SPREAD = "no interval: the items do not vary"
BY_CHANCE = "Chance explains all of the agreement."
ONE_CLUSTER = "no interval: all items are in one cluster"
NEEDS_ALL = "no interval: undefined without one of the clusters"
DIGITS = 12  # sums with the imagined item round differently from one processor to the next, beyond these


@dataclass(frozen=True)
class Settings:
    """How intervals are computed: `resamples` draws from `seed`, each interval with this `confidence`.

    With no resamples they come from the analytic standard error. Intervals over clusters need no resamples.
    """

    seed: int = DEFAULT_SEED
    resamples: int = RESAMPLES
    confidence: float = CONFIDENCE


DEFAULTS = Settings()


class Point(NamedTuple):
    """Observed agreement, agreement by chance, and the resulting coefficient."""

    observed: float
    expected: float
    value: float


@dataclass(frozen=True)
class Estimator:
    """A coefficient as a function of how often each pattern occurs.

    `parts` maps draws by patterns to observed and expected agreement, one of each for each draw. `influence` is, for
    each pattern, the linearised value of its items less the value of the coefficient. `n` counts the items behind the
    value; the error divides by `counted` items, less one unless the formula `is_of_table`. Unless `is_agreement`, an
    observed 1 does not mean that every item agrees.
    """

    name: str
    parts: Parts
    influence: Floats
    n: int
    counted: int
    is_of_table: bool = False
    is_agreement: bool = True


def estimates(sample: Sample, estimators: Sequence[Estimator], settings: Settings = DEFAULTS) -> list[Coefficient]:
    """Each coefficient with its interval, in order, from one set of resampled items, or without each cluster once."""
    if sample.clusters:
        left = [_values(estimators, without_each(sample, clusters)) for clusters in sample.clusters]
        own = zip(*left, strict=True)
        rows = zip(estimators, own, strict=True)
        return [_over_clusters(sample, estimator, each, settings.confidence) for estimator, each in rows]
    drawn = _values(estimators, resampled(sample, seed=settings.seed, resamples=settings.resamples))
    return [
        _over_items(sample, estimator, values if settings.resamples else None, settings.confidence)
        for estimator, values in zip(estimators, drawn, strict=True)
    ]


def _values(estimators: Sequence[Estimator], counts: Iterable[Floats]) -> list[Floats]:
    """The values of each coefficient for these counts of patterns, some of which come at a time."""
    values: list[list[Floats]] = [[np.zeros(0)] for _ in estimators]
    for draws in counts:
        for own, estimator in zip(values, estimators, strict=True):
            own.append(chance_corrected(*estimator.parts(draws)))
    return [np.concatenate(own) for own in values]


def estimate(sample: Sample, coefficient: Estimator | Coefficient, settings: Settings = DEFAULTS) -> Coefficient:
    """One coefficient with its interval; undefined ones are returned unchanged."""
    return coefficient if isinstance(coefficient, Coefficient) else estimates(sample, [coefficient], settings)[0]


def estimate_each(
    sample: Sample, coefficients: Sequence[Estimator | Coefficient], settings: Settings = DEFAULTS
) -> list[Coefficient]:
    """Each coefficient in order, as `estimates` computes them; undefined ones are returned unchanged."""
    defined = [one for one in coefficients if isinstance(one, Estimator)]
    values = iter(estimates(sample, defined, settings)) if defined else iter(())
    return [one if isinstance(one, Coefficient) else next(values) for one in coefficients]


def _over_items(sample: Sample, estimator: Estimator, drawn: Floats | None, confidence: float) -> Coefficient:
    """Value, error and interval over items."""
    plain = without_resamples(
        estimator.name,
        estimator.n,
        _point(estimator, sample.total.astype(float)),
        _standard_error(sample, estimator),
        degrees=None if estimator.is_of_table else estimator.counted - 1,
        is_agreement=estimator.is_agreement,
        confidence=confidence,
    )
    if drawn is None or plain.value is None or plain.method == FULL:
        return plain
    interval = interval_with(plain.value, drawn, widened(confidence, sample.n) if sample.n > 1 else confidence)
    return replace(plain, interval=interval, method=BOOTSTRAP if interval else NONE)


def _point(estimator: Estimator, counts: Floats) -> Point:
    observed, expected = estimator.parts(counts[None, :])
    return Point(float(observed[0]), float(expected[0]), float(chance_corrected(observed, expected)[0]))


class Spread(NamedTuple):
    """Values without each of `clusters` less their mean: sums of squares and of fourth powers, nan if undefined.

    The clusters are joined from `counted` ones.
    """

    clusters: int
    squares: float
    fourths: float
    counted: int

    @property
    def degrees(self) -> int:
        return freedom_of_spread(self.clusters, self.squares, self.fourths)


def _over_clusters(sample: Sample, estimator: Estimator, left: Sequence[Floats], confidence: float) -> Coefficient:
    """Value, error and interval over clusters, from the values without each of them, by way of clustering."""
    return from_clusters(
        estimator.name,
        estimator.n,
        _point(estimator, sample.total.astype(float)),
        _point(estimator, with_imagined(sample)).value,
        [_spread(values, clusters.count) for values, clusters in zip(left, sample.clusters, strict=True)],
        is_agreement=estimator.is_agreement,
        confidence=confidence,
    )


def _spread(values: Floats, count: int) -> Spread:
    squares = (values - values.mean()) ** 2 if len(values) else values
    return Spread(len(values), float(squares.sum()), float((squares**2).sum()), count)


def from_clusters(
    name: str,
    n: int,
    point: Point,
    centre: float,
    spreads: Sequence[Spread],
    *,
    is_agreement: bool = True,
    confidence: float = CONFIDENCE,
) -> Coefficient:
    """A coefficient with its interval over clusters around `centre`, its value with the imagined half item.

    What that item moves is added as half a cluster's. Where clusters cross, the variances of both are added less that
    of their intersection (Cameron, Gelbach and Miller, Journal of Business & Economic Statistics 29, 2011), and the
    degrees of freedom are the fewer ones. Where every item agrees, Wilson's bound is that of as many clusters.
    """
    if not isfinite(point.value):
        return undefined(name, BY_CHANCE, n)
    size, used = spreads[0].counted, [one for one in spreads if one.clusters > 1]
    if size < 2 or not all(isfinite(one.squares) for one in used):
        return Coefficient(name, point.value, n, method=ONE_CLUSTER if size < 2 else NEEDS_ALL, clusters=size)
    variances = [(one.clusters - 1) / one.clusters * one.squares for one in used]
    variance, ways = variances[0], used[:1]
    if len(used) == CROSSED:
        variance, ways = max(variance, variance + variances[1] - variances[2]), used[:2]
    error = round(sqrt(variance + (point.value - centre) ** 2 / IMAGINED_ITEMS), DIGITS)
    degrees = min(one.degrees for one in ways)
    if all_agree(point, is_agreement=is_agreement):
        limits, method = interval_of_all(point, size, confidence), FULL
    else:
        low, high = fisher_interval(centre, error, degrees, confidence)
        low = max(low, 0.0) if is_agreement and point.expected == 0 else low
        limits, method = (min(low, point.value), max(high, point.value)), OVER_CLUSTERS
    return Coefficient(name, point.value, n, limits, "", method, error, degrees, size)


def fisher_interval(value: float, error: float, degrees: int, confidence: float) -> tuple[float, float]:
    """Student's interval on Fisher's scale, the inverse hyperbolic tangent, which keeps it within -1 and 1."""
    inside = max(CERTAIN - 1, min(1 - CERTAIN, value))
    reach = student_quantile(confidence, degrees) * error / (1 - inside**2)
    low, high = tanh(atanh(inside) - reach), tanh(atanh(inside) + reach)
    return round(low, DIGITS), round(high, DIGITS)


def without_resamples(
    name: str,
    n: int,
    point: Point,
    error: float,
    *,
    degrees: int | None = None,
    is_agreement: bool = True,
    confidence: float = CONFIDENCE,
) -> Coefficient:
    """A coefficient whose interval comes from its standard error.

    When every item agrees that error is 0, and each resample would agree too; either would claim certainty. Then the
    lower end is the coefficient at Wilson's lower bound of percent agreement, with chance unchanged.
    """
    if not isfinite(point.value):
        return undefined(name, BY_CHANCE, n)
    if n and all_agree(point, is_agreement=is_agreement):
        return Coefficient(name, point.value, n, interval_of_all(point, n, confidence), "", FULL, error, degrees)
    limits = interval_of_error(point.value, error, degrees, confidence)
    return Coefficient(name, point.value, n, limits, "", ANALYTIC if limits else NO_SPREAD, error, degrees)


def all_agree(point: Point, *, is_agreement: bool) -> bool:
    return is_agreement and point.observed > 1 - CERTAIN


def interval_of_all(point: Point, n: int, confidence: float) -> tuple[float, float]:
    """The interval where all of `n` items or clusters agree, at least one."""
    bounds = wilson(n, n, confidence) or (0.0, 1.0)
    return max(-1.0, (bounds[0] - point.expected) / (1 - point.expected)), 1.0


def _standard_error(sample: Sample, estimator: Estimator) -> float:
    """The large-sample standard error: the spread of the linearised values over items."""
    spread = float((sample.total * estimator.influence**2).sum())
    n = estimator.counted
    return float(np.sqrt(spread / (n * (n if estimator.is_of_table else n - 1))))


def interval_with(value: float, drawn: Floats, confidence: float) -> tuple[float, float] | None:
    """The middle share of the resampled values, extended to the value; None when more than half are undefined.

    The value of a sample in which nearly every item agrees may be beyond the draws, since those include the imagined
    item.
    """
    ends = interval_of_defined(drawn, confidence)
    return (min(ends[0], value), max(ends[1], value)) if ends else None
