"""Error pages, and problem+json for the same errors under /api/."""

import logging
import sys
from collections.abc import Callable

from django.core.exceptions import DisallowedHost, RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.request import split_domain_port
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.csrf import csrf_exempt

from apps.common.errors import PROBLEM_TYPE, problem_facts
from apps.common.web.outages import Outage, outage_of

TOO_LARGE = "What was sent is larger than this page takes. Send less at once, or use the command line for a file."
LONGEST_HOST = 253

log = logging.getLogger(__name__)


def _answer(request: HttpRequest, status: int, title: str, detail: str, code: str) -> HttpResponse:
    if request.path.startswith("/api/"):
        facts = problem_facts(status=status, title=title, detail=detail, code=code)
        return JsonResponse(facts, status=status, content_type=PROBLEM_TYPE)
    return render(request, f"{status}.html", {"detail": detail}, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, DisallowedHost):
        return _unknown_host(request)
    if isinstance(exception, RequestDataTooBig):
        return _answer(request, 413, "Too large", TOO_LARGE, "payload_too_large")
    return _answer(request, 400, "Bad request", "The request could not be read.", "bad_request")


def _unknown_host(request: HttpRequest) -> HttpResponse:
    """Name the host as text, never in a link: a stranger may have chosen it."""
    host, _ = split_domain_port(request.META.get("HTTP_HOST", ""))
    host = host if len(host) <= LONGEST_HOST else ""
    detail = f"This server does not answer to the host {host or 'of this request'}. Its operator can add the host to"
    detail += " KARAT_ALLOWED_HOSTS and start Karat again."
    if request.path.startswith("/api/"):
        return _answer(request, 400, "Unknown host", detail, "unknown_host")
    return render(request, "unknown_host.html", {"host": host}, status=400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 403, "Not allowed", str(exception) or "This is not for your role.", "forbidden")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 404, "Not found", "There is nothing here that you can see.", "not_found")


@csrf_exempt
def no_endpoint(request: HttpRequest, rest: str) -> HttpResponse:
    """The view of every address under /api/ that is no endpoint."""
    return _answer(request, 404, "Not found", "No such endpoint. The list is at /api/v1/schema/.", "not_found")


def server_error(request: HttpRequest) -> HttpResponse:
    """An error of ours, or an outage: Django calls this while it handles the exception."""
    if outage := outage_of(sys.exception()):
        return _out(request, outage)
    return _answer(request, 500, "Fault", "Something broke on our side. It is in the log.", "fault")


class Outages:
    """Middleware that answers 503 for a view during an outage, and logs one line without a traceback."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        outage = outage_of(exception)
        if outage is None:
            return None
        log.warning("%s: %s", outage.title, str(exception).strip().replace("\n", " "))
        return _out(request, outage)


def _out(request: HttpRequest, outage: Outage) -> HttpResponse:
    """A 503 page that does not use the database: it has no shell, which would load the signed-in person."""
    if request.path.startswith("/api/"):
        facts = problem_facts(status=503, title=outage.title, detail=outage.detail, code=outage.code)
        response: HttpResponse = JsonResponse(facts, status=503, content_type=PROBLEM_TYPE)
    elif request.headers.get("HX-Request"):
        response = HttpResponse(outage.detail, status=503, content_type="text/plain; charset=utf-8")
    else:
        words = {"title": outage.title, "detail": outage.detail}
        response = HttpResponse(render_to_string("503.html", words), status=503)
    response["Retry-After"] = str(outage.retry_after)
    return response
