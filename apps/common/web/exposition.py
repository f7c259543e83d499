"""Metrics as Prometheus reads them: its text format 0.0.4, and OpenMetrics 1.0."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


class MetricKind(StrEnum):
    """A counter only grows, and its name ends in `_total`. A summary has a count and a sum, and no quantiles."""

    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"
    SUMMARY = "summary"


@dataclass(frozen=True)
class Sample:
    """One number. `suffix` is what follows the metric's name: `_bucket`, `_sum`, `_count` or nothing."""

    value: float
    labels: Mapping[str, str] = field(default_factory=dict)
    suffix: str = ""


@dataclass(frozen=True)
class Metric:
    """A name with its samples, and what it is in one sentence."""

    name: str
    kind: MetricKind
    about: str
    samples: tuple[Sample, ...]


def gauge(name: str, about: str, value: float) -> Metric:
    return Metric(name, MetricKind.GAUGE, about, (Sample(value),))


def gauge_by(name: str, about: str, label: str, values: Mapping[str, float]) -> Metric:
    """A gauge with one label."""
    samples = tuple(Sample(value, {label: name}) for name, value in values.items())
    return Metric(name, MetricKind.GAUGE, about, samples)


def counter(name: str, about: str, value: float) -> Metric:
    return Metric(name, MetricKind.COUNTER, about, (Sample(value),))


def as_text(metrics: Iterable[Metric], *, is_open: bool = False) -> str:
    """The metrics in their order, in the text format, or in OpenMetrics. One without samples is left out."""
    lines = [line for metric in metrics if metric.samples for line in _lines(metric, is_open)]
    return "".join(f"{line}\n" for line in [*lines, *(["# EOF"] if is_open else [])])


def _lines(metric: Metric, is_open: bool) -> Iterator[str]:
    family = metric.name.removesuffix("_total") if is_open else metric.name
    yield f"# HELP {family} {_escaped(metric.about, quotes=is_open)}"
    yield f"# TYPE {family} {metric.kind}"
    for sample in metric.samples:
        labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in sample.labels.items())
        yield f"{metric.name}{sample.suffix}{f'{{{labels}}}' if labels else ''} {number(sample.value)}"


def _escaped(text: str, *, quotes: bool = True) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quotes else text


def number(value: float) -> str:
    """Whole numbers without a point, all others so that they are read back the same."""
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if float(value).is_integer() else repr(float(value))
