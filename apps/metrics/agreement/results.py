"""The result of a coefficient, a value with its uncertainty or why there is none, and the weights of disagreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.metrics.estimate import Estimate
from apps.metrics.statistics.proportions import normal_quantile, student_quantile

Floats = NDArray[np.float64]

KINDS = ("nominal", "linear", "quadratic", "ordinal")


def agreement_weights(kind: str, values: Sequence[float]) -> Floats:
    """Categories by categories, from the values of the categories.

    `nominal` is 0 for every difference; `linear` and `quadratic` use the distance between the values as a share of the
    widest distance (Cohen 1968; Fleiss and Cohen 1973). `ordinal` uses the number of pairs of categories from one to
    the other, ends included, by position (Gwet, Handbook of Inter-Rater Reliability, 2014, section 3.5). Raises
    ValueError for another kind.
    """
    points = np.asarray(values, dtype=float)
    distance = np.abs(points[:, None] - points[None, :])
    if kind == "nominal":
        return (distance == 0).astype(float)
    if kind == "ordinal":
        places = np.argsort(np.argsort(points)).astype(float)
        steps = np.abs(places[:, None] - places[None, :])
        distance, kind = steps * (steps + 1) / 2, "linear"
    if kind not in {"linear", "quadratic"}:
        raise ValueError(f"{kind!r} is not a kind of weights; use nominal, linear, quadratic or ordinal")
    widest = distance.max() or 1.0
    return 1.0 - (distance / widest) ** (1 if kind == "linear" else 2)


TOO_NOISY = 0.4
ACCEPTABLE = 0.6
EVERY_BAND = 1.0
CERTAIN = 1e-12
FEWEST_CLUSTERS = 15
"""From here on intervals over clusters covered as often as they claim, in simulations."""
UNINFORMATIVE = "too little to tell"


@dataclass(frozen=True)
class Coefficient:
    """A value with its uncertainty, or the reason why there is none.

    `n` counts the items behind the value. `method` names the kind of interval. `standard_error` is the analytic one;
    with `degrees` its interval uses Student's t instead of the normal distribution. `clusters` counts what the interval
    and its error are over where that is not items.
    """

    name: str
    value: float | None
    n: int
    interval: tuple[float, float] | None = None
    reason: str = ""
    method: str = ""
    standard_error: float | None = None
    degrees: int | None = None
    clusters: int | None = None

    @property
    def has_few_clusters(self) -> bool:
        """Whether there are so few clusters that the interval is too uncertain itself."""
        return self.clusters is not None and self.clusters < FEWEST_CLUSTERS

    @property
    def estimate(self) -> Estimate:
        return Estimate.of(self.value, self.interval, self.n, self.method, self.reason)

    @property
    def is_defined(self) -> bool:
        return self.value is not None

    @property
    def is_informative(self) -> bool:
        """Whether there is a value with an informative interval."""
        return self.value is not None and not is_uninformative(self.interval)

    @property
    def missing_interval(self) -> str:
        """What is shown instead of an interval; "" where there is an informative one."""
        return "" if self.is_informative else missing_interval(self.interval)

    @property
    def informative(self) -> Estimate:
        """The estimate as charts and tables show it: without an uninformative interval, and with the reason."""
        return informative(self.estimate)

    @property
    def reads_as(self) -> str:
        """The `reading` of it; "" where it is undefined."""
        return "" if self.value is None else reading(self.value, self.interval)


def undefined(name: str, reason: str, n: int = 0) -> Coefficient:
    return Coefficient(name=name, value=None, n=n, reason=reason)


def band(value: float) -> str:
    """The word for a kappa: below 0.4 too noisy, above 0.6 acceptable, unsettled between."""
    if value < TOO_NOISY:
        return "too noisy"
    return "acceptable" if value > ACCEPTABLE else "unsettled"


def is_uninformative(interval: tuple[float, float] | None) -> bool:
    """Whether there is no interval, or one through every band, as wide as from chance to full agreement.

    Twenty items may give 0.35 to 0.94: that excludes something. Three give -0.67 to 1.
    """
    if interval is None:
        return True
    low, high = interval
    return low < TOO_NOISY and high > ACCEPTABLE and high - low >= EVERY_BAND


def missing_interval(interval: tuple[float, float] | None) -> str:
    """What is shown instead of an uninformative interval."""
    return "no interval" if interval is None else "interval too wide"


def informative(figure: Estimate) -> Estimate:
    """The figure of a coefficient as people read it, wherever it was stored: without an uninformative interval.

    The reason then says what is missing. Files and answers for programs have the figure itself.
    """
    if figure.value is None or not is_uninformative(figure.interval):
        return figure
    return Estimate(figure.value, n=figure.n, reason=missing_interval(figure.interval))


def reading(value: float, interval: tuple[float, float] | None) -> str:
    """The band of a value, and the lowest band that its interval reaches if that is another one.

    "acceptable", "acceptable, could be too noisy"; "too little to tell" for an uninformative interval.
    """
    if interval is None or is_uninformative(interval):
        return UNINFORMATIVE
    own, lowest = band(value), band(interval[0])
    return own if own == lowest else f"{own}, could be {lowest}"


def standard_interval(coefficient: Coefficient, confidence: float = 0.95) -> tuple[float, float] | None:
    """The interval from the analytic standard error, cut at -1 and 1.

    None without such an error, or where it is 0: a sample without any variation gives no information about it.
    """
    if coefficient.value is None or coefficient.standard_error is None:
        return None
    return interval_of_error(coefficient.value, coefficient.standard_error, coefficient.degrees, confidence)


def interval_of_error(
    value: float, error: float, degrees: int | None, confidence: float = 0.95
) -> tuple[float, float] | None:
    """The interval of a value with this error, as in `standard_interval`."""
    if error < CERTAIN:
        return None
    quantile = normal_quantile(confidence) if degrees is None else student_quantile(confidence, degrees)
    return max(-1.0, value - quantile * error), min(1.0, value + quantile * error)
