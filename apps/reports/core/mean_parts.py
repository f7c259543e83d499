"""Means with their intervals, as a chart and its table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from apps.common.drawing.svg import DrawnEstimate
from apps.common.text.wording import interval, number
from apps.metrics.statistics.bootstrap import Interval
from apps.metrics.statistics.significance import Summary
from apps.reports.core.document import ReportChart, Table, dots, stacked

PLACES = 4
UNDEFINED = "not defined"


class Mean(NamedTuple):
    """The mean of a measure over the queries of a run; `people` is its interval over queries and people."""

    measure: str
    run: str
    summary: Summary
    people: Interval | None = None


def means_chart(name: str, means: Sequence[Mean], confidence: float | None) -> ReportChart:
    """Dots and whiskers on a scale of 0 to 1, wider where values need it; `confidence` None: without intervals."""
    ends = [end for mean in means for end in (mean.summary.mean, *(mean.summary.interval or ())) if end is not None]
    estimates, low, high = [_estimate(mean) for mean in means], min([0.0, *ends]), max([1.0, *ends])
    drawn, narrow = (draw(name, estimates, low=low, high=high) for draw in (dots, stacked))
    has_people = any(mean.people for mean in means)
    head = ["Measure", "Run", "Mean", interval_head(confidence), *(["With people"] if has_people else []), "n"]
    rows = [_cells(mean, confidence, has_people) for mean in means]
    return ReportChart([drawn], Table(name, head, rows, words=2, code=frozenset({0, 1})), [narrow])


def _estimate(mean: Mean) -> DrawnEstimate:
    low, high = mean.summary.interval or (None, None)
    return DrawnEstimate(mean.run, mean.summary.mean, low, high, mean.summary.n, mean.measure, why=UNDEFINED)


def _cells(mean: Mean, confidence: float | None, has_people: bool) -> list[str]:
    figures = summary_cells(mean.summary, confidence)
    if has_people:
        figures.insert(2, interval(mean.people, PLACES))
    return [mean.measure, mean.run, *figures]


def interval_head(confidence: float | None) -> str:
    return "No interval" if confidence is None else f"{confidence * 100:g} % interval"


def summary_cells(summary: Summary, confidence: float | None) -> list[str]:
    """The cells mean, interval and n."""
    if summary.mean is None:
        return [UNDEFINED, "", "0"]
    between = "" if confidence is None else interval(summary.interval, PLACES)
    return [number(summary.mean, PLACES), between, f"{summary.n:,}"]
