"""Metrics for Prometheus: what the database knows, read when they are asked for, and what the web process has counted.

No metric names a person or a project, and none has a label that grows with the data.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from django.conf import settings
from django.db import DatabaseError, OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from apps.backups.selectors.backups import backup_metrics
from apps.common.web.request_counts import COUNTED
from apps.common.web.tokens import is_bearer_of
from apps.jobs.selectors.watching import job_metrics, outbox_metrics, worker_metrics
from apps.judging.selectors.rounds import grade_metrics, lease_metrics
from apps.review.selectors.seats import verdict_metrics

PLAIN = "text/plain; charset=utf-8"
SOURCES: tuple[Callable[[datetime], list[Metric]], ...] = (
    job_metrics,
    worker_metrics,
    outbox_metrics,
    lease_metrics,
    grade_metrics,
    verdict_metrics,
    backup_metrics,
)
"""Functions of the time that read metrics from the database, by a statement or two that stay cheap with many rows."""


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """All metrics. 404 while the server has no token for them, 401 for anybody who does not send it.

    When the database does not answer, those of this process alone: that is when somebody wants them.
    """
    if not settings.METRICS_TOKEN:
        return HttpResponse("Metrics are off. Set KARAT_METRICS_TOKEN to a token of your choice.\n", PLAIN, 404)
    if not is_bearer_of(settings.METRICS_TOKEN, request):
        answer = HttpResponse("Send the token of KARAT_METRICS_TOKEN as a bearer token.\n", PLAIN, 401)
        answer["WWW-Authenticate"] = 'Bearer realm="metrics"'
        return answer
    at = timezone.now()
    try:
        stored = read_in_time(lambda: [metric for read in SOURCES for metric in read(at)])
    except DatabaseError:
        stored = []
    up = GaugeMetricFamily("karat_database_up", "1 when the database answers, else 0.", bool(stored))
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(_Now([_version(), up, *stored])), content_type)


@dataclass(frozen=True)
class _Now(Collector):
    """What was just read, and what this process has counted so far."""

    read: Sequence[Metric]

    def collect(self) -> Iterator[Metric]:
        yield from self.read
        yield from COUNTED.collect()


def _version() -> Metric:
    family = GaugeMetricFamily("karat_build_info", "The version of Karat, as a label.", labels=["version"])
    family.add_metric([settings.VERSION], 1)
    return family


# Reading with a deadline, for what must answer whatever has become of the database

T = TypeVar("T")

DEADLINE_SECONDS = 3.0
MOST_THREADS = 4

_free = threading.Semaphore(MOST_THREADS)


def read_in_time(read: Callable[[], T], *, seconds: float = DEADLINE_SECONDS) -> T:
    """What `read` returns or raises; OperationalError when the database has not answered after so many seconds.

    A server that is frozen, or behind a network that drops everything, keeps a thread waiting for minutes. So on
    PostgreSQL another thread reads, by a new connection, and is left alone when it is late: opening one ends after five
    seconds at the latest. SQLite answers at once, or refuses.
    """
    if connection.vendor == "sqlite":
        return read()
    if not _free.acquire(blocking=False):
        raise OperationalError("The database has not answered those who asked before.")
    answer: Future[T] = Future()
    threading.Thread(target=_read, args=(read, answer), daemon=True, name="reads-in-time").start()
    try:
        return answer.result(timeout=seconds)
    except TimeoutError:
        raise OperationalError(f"The database has not answered for {seconds:g} s.") from None


def _read(read: Callable[[], Any], answer: Future[Any]) -> None:
    try:
        answer.set_result(read())
    except BaseException as problem:
        answer.set_exception(problem)
    finally:
        connection.close()
        _free.release()
