"""Values and intervals of coefficients from a sample: bootstrap over items, and the analytic standard error.

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
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import gcd, isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.agreement.counting import MISSING, Counts, Parts, chance_corrected, distinct_rows
from apps.metrics.agreement.results import CERTAIN, Coefficient, interval_of_error, undefined
from apps.metrics.statistics.bootstrap import DEFAULT_SEED, interval_of_defined
from apps.metrics.statistics.proportions import widened, wilson

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


@dataclass(frozen=True)
class Sample:
    """Patterns, one a row, and how many items of each stratum have it: `weights` is strata by patterns.

    `imagined` is the share of each pattern in an imagined item; a pattern may occur in that one only.
    """

    patterns: Counts
    weights: Counts
    imagined: Floats

    @property
    def total(self) -> Counts:
        """How many items have each pattern."""
        total: Counts = self.weights.sum(axis=0)
        return total

    @property
    def n(self) -> int:
        return int(self.weights.sum())

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which patterns occur in an item."""
        seen: NDArray[np.bool_] = self.total > 0
        return seen


def sample_of_counts(counts: Counts, *, least: int = 1, strata: Counts | None = None) -> Sample:
    """The sample of items by categories; items with fewer than `least` ratings are left out."""
    pairs, places = pairs_of_categories(counts.shape[1]), np.eye(counts.shape[1], dtype=np.int64)
    rows = places[pairs.first] + places[pairs.second]
    return _sample(counts, counts.sum(axis=1) >= least, strata, rows, pairs.shares)


def sample_of_codes(rated: Counts, size: int, *, strata: Counts | None = None) -> Sample:
    """The sample of items by raters with `size` categories; items without a rating are left out."""
    present = rated != MISSING
    rows, shares = rows_of_pairs(np.flatnonzero(present.any(axis=0)), rated.shape[1], size, MISSING)
    return _sample(rated, present.any(axis=1), strata, rows, shares)


def sample_of_table(table: Counts) -> Sample:
    """The sample of two raters' table: its cells, row by row, are the patterns."""
    pairs, imagined = pairs_of_categories(len(table)), np.zeros(table.shape)
    imagined[pairs.first, pairs.second] = pairs.shares
    return Sample(np.arange(table.size)[:, None], table.reshape(1, -1), imagined.reshape(-1))


def _sample(rows: Counts, used: NDArray[np.bool_], strata: Counts | None, imagined: Counts, shares: Floats) -> Sample:
    """`strata` is the stratum of each row as a number from 0; `shares` are those of the imagined rows."""
    n = int(used.sum())
    patterns, places = distinct_rows(np.concatenate([rows[used], imagined]))
    own = np.zeros(n, dtype=np.int64) if strata is None else strata[used]
    size = int(own.max(initial=0)) + 1
    weights = np.bincount(own * len(patterns) + places[:n], minlength=size * len(patterns))
    expected = np.zeros(len(patterns))
    np.add.at(expected, places[n:], shares)
    return Sample(patterns, weights.reshape(size, len(patterns)), expected)


def resampled(sample: Sample, *, seed: int, resamples: int) -> Iterator[Floats]:
    """Counts of patterns over resampled items, each stratum keeping its size; draws by patterns, some at a time.

    Each stratum draws from its items and its part of IMAGINED_ITEMS. The draws depend on the seed alone, not on how
    many are yielded at a time.
    """
    if not resamples:
        return
    strata = sample.weights[sample.weights.sum(axis=1) > 0]
    seeds = [np.random.SeedSequence(seed)]
    if len(strata) > 1:
        seeds = seeds[0].spawn(len(strata))
    chances = [np.random.Generator(np.random.PCG64(own)) for own in seeds]
    sizes = strata.sum(axis=1)
    shares = strata / sizes[:, None] + IMAGINED_ITEMS / sample.n * sample.imagined
    shares /= shares.sum(axis=1, keepdims=True)
    step = max(1, CELLS_AT_ONCE // max(len(sample.patterns), 10 * sample.patterns.shape[1], 1))
    for first in range(0, resamples, step):
        rows = min(step, resamples - first)
        drawn = np.zeros((rows, strata.shape[1]))
        for chance, items, share in zip(chances, sizes, shares, strict=True):
            drawn += chance.multinomial(items, share, size=rows)
        yield drawn


RESAMPLES = 2_000
CONFIDENCE = 0.95

BOOTSTRAP = "bootstrap over items"
FULL = "Wilson bound of percent agreement"
ANALYTIC = "standard error"
NONE = "no interval: most resamples are undefined"
NO_SPREAD = "no interval: the items do not vary"


@dataclass(frozen=True)
class Settings:
    """How intervals are computed: `resamples` draws from `seed`, each interval with this `confidence`.

    With no resamples they come from the analytic standard error.
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
    """Each coefficient with its interval, in order, from one set of resampled items."""
    drawn: list[list[Floats]] = [[] for _ in estimators]
    for draws in resampled(sample, seed=settings.seed, resamples=settings.resamples):
        for values, estimator in zip(drawn, estimators, strict=True):
            values.append(chance_corrected(*estimator.parts(draws)))
    return [
        _estimate(sample, estimator, np.concatenate(values) if values else None, settings.confidence)
        for estimator, values in zip(estimators, drawn, strict=True)
    ]


def estimate(sample: Sample, coefficient: Estimator | Coefficient, settings: Settings = DEFAULTS) -> Coefficient:
    """One coefficient with its interval; undefined ones are returned unchanged."""
    return coefficient if isinstance(coefficient, Coefficient) else estimates(sample, [coefficient], settings)[0]


def estimate_each(
    sample: Sample, coefficients: Sequence[Estimator | Coefficient], settings: Settings = DEFAULTS
) -> list[Coefficient]:
    """Each coefficient in order, from one set of resampled items; undefined ones are returned unchanged."""
    defined = [one for one in coefficients if isinstance(one, Estimator)]
    values = iter(estimates(sample, defined, settings)) if defined else iter(())
    return [one if isinstance(one, Coefficient) else next(values) for one in coefficients]


def _estimate(sample: Sample, estimator: Estimator, drawn: Floats | None, confidence: float) -> Coefficient:
    """Value, error and interval."""
    observed, expected = estimator.parts(sample.total[None, :].astype(float))
    plain = without_resamples(
        estimator.name,
        estimator.n,
        Point(float(observed[0]), float(expected[0]), float(chance_corrected(observed, expected)[0])),
        _standard_error(sample, estimator),
        degrees=None if estimator.is_of_table else estimator.counted - 1,
        is_agreement=estimator.is_agreement,
        confidence=confidence,
    )
    if drawn is None or plain.value is None or plain.method == FULL:
        return plain
    interval = interval_with(plain.value, drawn, _reading_share(sample, confidence))
    return replace(plain, interval=interval, method=BOOTSTRAP if interval else NONE)


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
        return undefined(name, "Chance explains all of the agreement.", n)
    if is_agreement and point.observed > 1 - CERTAIN and (bounds := wilson(n, n, confidence)):
        low = max(-1.0, (bounds[0] - point.expected) / (1 - point.expected))
        return Coefficient(name, point.value, n, (low, 1.0), "", FULL, error, degrees)
    limits = interval_of_error(point.value, error, degrees, confidence)
    return Coefficient(name, point.value, n, limits, "", ANALYTIC if limits else NO_SPREAD, error, degrees)


def _reading_share(sample: Sample, confidence: float) -> float:
    """The confidence for the percentiles of the resampled values: widened, by the strata of two items or more."""
    sizes = sample.weights.sum(axis=1)
    sizes = sizes[sizes > 1]
    return widened(confidence, int(sizes.sum()), len(sizes)) if len(sizes) else confidence


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
