"""Requests, counted for Prometheus, and the metrics that are made of what all processes have counted.

A view is named by its URL pattern, never by an address: there are as many series as patterns, whoever asks for what.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from time import perf_counter

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, get_resolver

from apps.common.web import process_counts
from apps.common.web.exposition import Metric, MetricKind, Sample, gauge
from apps.common.web.process_counts import (
    BOUNDS,
    BUCKETS,
    BUSY,
    LEVELS,
    MICRO,
    MOST_VIEWS,
    ROW,
    STATUS_CLASSES,
    SUM,
    THREADS,
)

UNKNOWN, FILES = "unknown", "files"
"""Views for every address that is none, and for scripts, style sheets and pictures."""


def count_requests(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware around all others: how many answers each view gave, with which status, and after which time."""
    if not settings.METRICS_TOKEN:
        raise MiddlewareNotUsed

    def middleware(request: HttpRequest) -> HttpResponse:
        process_counts.counts.add((BUSY, 1))
        began, status = perf_counter(), 500
        try:
            response = get_response(request)
            status = response.status_code
            return response
        finally:
            seconds = perf_counter() - began
            row = _row_of(request)
            process_counts.counts.add(
                (BUSY, -1),
                (row + max(status // 100 - 2, 0), 1),
                (row + BUCKETS + bisect_left(BOUNDS, seconds), 1),
                (row + SUM, int(seconds * MICRO)),
            )

    return middleware


def count_as(request: HttpRequest, name: str) -> None:
    """Count a request that is answered before its address is resolved as one of the view with this name."""
    request.counted_as = name  # type: ignore[attr-defined]


def process_metrics() -> list[Metric]:
    """The counts of all processes that share them, as metrics. A view that has not answered has no series."""
    sums = process_counts.counts.sums()
    rows = {view: sums[row : row + ROW] for view, row in _rows().items()}
    used = {view: row for view, row in rows.items() if any(row)}
    return [
        Metric(
            "karat_requests_total",
            MetricKind.COUNTER,
            "Answers to requests, by view and class of status.",
            tuple(sample for view, row in used.items() for sample in _answers(view, row)),
        ),
        Metric(
            "karat_request_duration_seconds",
            MetricKind.HISTOGRAM,
            "Time until an answer begins, by view.",
            tuple(sample for view, row in used.items() for sample in _times(view, row)),
        ),
        gauge("karat_web_threads", "Threads that may answer requests.", sums[THREADS]),
        gauge("karat_web_threads_busy", "Threads that answer a request now, this one included.", sums[BUSY]),
    ]


def _answers(view: str, row: Sequence[int]) -> Iterator[Sample]:
    for status, number in zip(STATUS_CLASSES, row, strict=False):
        if number:
            yield Sample(number, {"view": view, "status": status})


def _times(view: str, row: Sequence[int]) -> Iterator[Sample]:
    so_far = list(accumulate(row[BUCKETS:SUM]))
    for bound, number in zip((*map(str, BOUNDS), "+Inf"), so_far, strict=True):
        yield Sample(number, {"view": view, "le": bound}, "_bucket")
    yield Sample(row[SUM] / MICRO, {"view": view}, "_sum")
    yield Sample(so_far[-1], {"view": view}, "_count")


def _row_of(request: HttpRequest) -> int:
    match = request.resolver_match
    name = match.view_name if match else getattr(request, "counted_as", "")
    return _rows().get(name) or _rows()[FILES if request.path.startswith(_folders()) else UNKNOWN]


@cache
def _folders() -> tuple[str, str]:
    return settings.STATIC_URL, "/assets/"


@cache
def _rows() -> dict[str, int]:
    """Where the numbers of each view begin: in the same order in all processes, which load the same addresses."""
    names = [UNKNOWN, FILES, *sorted(set(_view_names(get_resolver())))]
    return {name: LEVELS + ROW * place for place, name in enumerate(names[:MOST_VIEWS])}


def _view_names(resolver: URLResolver, *spaces: str) -> Iterator[str]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLPattern):
            yield ":".join([*spaces, pattern.name or pattern.lookup_str])
        else:
            yield from _view_names(pattern, *spaces, *filter(None, [pattern.namespace]))
