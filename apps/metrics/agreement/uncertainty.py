"""Values and intervals of coefficients from a sample: bootstrap over items, and the analytic standard error.

Intervals are the middle share of the resampled values. Half an imagined item (`imagined`) is added to the items, since
resamples of a small sample lack rare ratings, and the percentiles are a little further out
(`apps.metrics.statistics.proportions.widened`), since few items make intervals too narrow. Kappas and alphas are
bounded and skew, but BCa (Efron 1987, JASA 82:171-185) over the same items was wider and covered less often;
docs/reference/uncertainty.md has both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import NamedTuple

import numpy as np

from apps.metrics.agreement.alpha_values import Parts, chance_corrected
from apps.metrics.agreement.results import CERTAIN, Coefficient, interval_of_error, undefined
from apps.metrics.agreement.samples import Floats, Sample, resampled
from apps.metrics.statistics.bootstrap import interval_of_defined
from apps.metrics.statistics.proportions import widened, wilson
from apps.metrics.statistics.seeds import DEFAULT_SEED

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
