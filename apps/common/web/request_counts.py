"""Requests, counted in this process for Prometheus.

A view is named by its URL pattern, never by an address: there are as many series as patterns, whoever asks for what.
Nothing is counted while the server has no token for metrics.
"""

from collections.abc import Callable
from functools import cache
from time import perf_counter

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

UNKNOWN, FILES = "unknown", "files"
"""Views for every address that is none, and for scripts, style sheets and pictures."""
STATUS_CLASSES = ("2xx", "3xx", "4xx", "5xx")
SECONDS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

disable_created_metrics()
COUNTED = CollectorRegistry()
REQUESTS = Counter(
    "karat_requests", "Answers to requests, by view and class of status.", ["view", "status"], registry=COUNTED
)
TIMES = Histogram(
    "karat_request_duration_seconds",
    "Time until an answer begins, by view.",
    ["view"],
    buckets=SECONDS,
    registry=COUNTED,
)
THREADS = Gauge("karat_web_threads", "Threads that may answer requests.", registry=COUNTED)
BUSY = Gauge("karat_web_threads_busy", "Threads that answer a request now, this one included.", registry=COUNTED)


def count_requests(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware around all others: how many answers each view gave, with which status, and after which time."""
    if not settings.METRICS_TOKEN:
        raise MiddlewareNotUsed

    def middleware(request: HttpRequest) -> HttpResponse:
        began, status = perf_counter(), 500
        with BUSY.track_inprogress():
            try:
                response = get_response(request)
                status = response.status_code
                return response
            finally:
                view = _view_of(request)
                REQUESTS.labels(view, STATUS_CLASSES[max(status // 100 - 2, 0)]).inc()
                TIMES.labels(view).observe(perf_counter() - began)

    return middleware


def count_as(request: HttpRequest, name: str) -> None:
    """Count a request that is answered before its address is resolved as one of the view with this name."""
    request.counted_as = name  # type: ignore[attr-defined]


def _view_of(request: HttpRequest) -> str:
    if match := request.resolver_match:
        return match.view_name
    files = FILES if request.path.startswith(_folders()) else UNKNOWN
    return getattr(request, "counted_as", files)


@cache
def _folders() -> tuple[str, str]:
    return settings.STATIC_URL, "/assets/"
