"""What the web process counts of its requests: under the name of a view, whatever the address."""

import pytest
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from django.urls import resolve

from apps.common.web import request_counts
from apps.common.web.request_counts import COUNTED, FILES, SECONDS, UNKNOWN, count_as, count_requests


@pytest.fixture(autouse=True)
def nothing_counted(settings) -> None:
    settings.METRICS_TOKEN = "watch-me-please"
    request_counts.REQUESTS.clear()
    request_counts.TIMES.clear()


def answered(path: str, status: int = 200, *, resolves: bool = True, seconds: float = 0.0, monkeypatch=None) -> None:
    """Count a request of this address, as if its answer had taken so long."""

    def view(request: HttpRequest) -> HttpResponse:
        request.resolver_match = resolve(path) if resolves else None
        return HttpResponse(status=status)

    if monkeypatch:
        times = iter([0.0, seconds])
        monkeypatch.setattr(request_counts, "perf_counter", lambda: next(times))
    count_requests(view)(RequestFactory().get(path))


def samples(name: str) -> dict[tuple[str, ...], float]:
    """The samples with this name by their labels."""
    found = (sample for metric in COUNTED.collect() for sample in metric.samples)
    return {tuple(sample.labels.values()): sample.value for sample in found if sample.name == name}


def test_a_view_is_named_by_its_pattern_and_never_by_an_address():
    for number in range(300):
        answered(f"/p/project-{number}/runs/run/{number}/")
        answered(f"/nothing/{number}/", 404, resolves=False)

    assert samples("karat_requests_total") == {("retrieval:run", "2xx"): 300, (UNKNOWN, "4xx"): 300}


def test_files_are_one_view():
    answered("/static/icons/karat.svg", resolves=False)
    answered("/assets/0123456789abcdef/css/jobs.css", 304, resolves=False)

    assert samples("karat_requests_total") == {(FILES, "2xx"): 1, (FILES, "3xx"): 1}


def test_what_is_answered_before_its_address_is_resolved_is_named_by_whoever_answers():
    def middleware(request: HttpRequest) -> HttpResponse:
        count_as(request, "judging-api:pairs")
        return HttpResponse()

    count_requests(middleware)(RequestFactory().get("/anything/"))

    assert samples("karat_requests_total") == {("judging-api:pairs", "2xx"): 1}


@pytest.mark.parametrize(("seconds", "bucket"), [(0.0, 0), (0.0025, 0), (0.003, 1), (10.0, 10), (11.0, 11)])
def test_a_time_is_in_every_bucket_whose_bound_it_does_not_exceed(monkeypatch, seconds, bucket):
    answered("/login/", seconds=seconds, monkeypatch=monkeypatch)

    found = samples("karat_request_duration_seconds_bucket")
    buckets = [found["accounts:login", str(bound)] for bound in (*SECONDS, "+Inf")]
    assert buckets == [0] * bucket + [1] * (len(SECONDS) + 1 - bucket)
    assert samples("karat_request_duration_seconds_count") == {("accounts:login",): 1}
    assert samples("karat_request_duration_seconds_sum") == {("accounts:login",): pytest.approx(seconds)}


def test_a_view_that_fails_is_counted_and_frees_its_thread():
    def broken(request: HttpRequest) -> HttpResponse:
        request.resolver_match = resolve("/login/")
        raise ValueError

    with pytest.raises(ValueError):
        count_requests(broken)(RequestFactory().get("/login/"))

    assert samples("karat_requests_total") == {("accounts:login", "5xx"): 1}
    assert samples("karat_web_threads_busy") == {(): 0}


def test_a_thread_is_busy_while_it_answers():
    seen = []

    def view(request: HttpRequest) -> HttpResponse:
        seen.append(samples("karat_web_threads_busy")[()])
        return HttpResponse()

    count_requests(view)(RequestFactory().get("/login/"))

    assert seen == [1]
    assert samples("karat_web_threads_busy") == {(): 0}


def test_without_a_token_nothing_is_counted(settings):
    settings.METRICS_TOKEN = ""

    with pytest.raises(MiddlewareNotUsed):
        count_requests(lambda request: HttpResponse())


@pytest.mark.parametrize(
    ("status", "counted"),
    [(101, "2xx"), (204, "2xx"), (302, "3xx"), (404, "4xx"), (499, "4xx"), (503, "5xx"), (599, "5xx")],
)
def test_any_status_is_in_one_of_four_classes(status, counted):
    answered("/login/", status)

    assert samples("karat_requests_total") == {("accounts:login", counted): 1}
    assert samples("karat_request_duration_seconds_count") == {("accounts:login",): 1}
