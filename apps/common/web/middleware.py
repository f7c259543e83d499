"""Middleware for the headers and ids of every response, and for bodies that are too long."""

import shutil
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse

from apps.common.errors import PROBLEM_TYPE, problem_facts
from apps.common.web.body_limits import DISK_RESERVE, KEPT_IN_MEMORY, most_bytes_at, too_large_in_words
from apps.common.web.logs import new_request_id, reset_request_id, set_request_id

API = "/api/"
Handler = Callable[[HttpRequest], HttpResponse]
NO_ROOM = (
    "The server's disk is full, so nothing can be uploaded. Nothing was saved. Whoever runs Karat has to make room; "
    "then send it again."
)

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def request_id(get_response: Handler) -> Handler:
    """Give each request an id that audit events, the log and the answer's `X-Request-Id` share."""

    def middleware(request: HttpRequest) -> HttpResponse:
        value = new_request_id()
        request.request_id = value  # type: ignore[attr-defined]
        token = set_request_id(value, path=request.path)
        try:
            response = get_response(request)
        finally:
            reset_request_id(token)
        response["X-Request-Id"] = value
        return response

    return middleware


def limit_bodies(get_response: Handler) -> Handler:
    """Refuse a body that is too long for its address, or for the disk, before anybody is asked who sends it."""

    def middleware(request: HttpRequest) -> HttpResponse:
        most = most_bytes_at(request.path_info, settings.UPLOAD_MAX_BYTES)
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isdecimal() or int(length) > most:
            return _refusal(request, 413, "Content Too Large", too_large_in_words(most), "payload_too_large")
        if int(length) > KEPT_IN_MEMORY and shutil.disk_usage(settings.DATA_DIR).free < DISK_RESERVE:
            answer = _refusal(request, 503, "Service Unavailable", NO_ROOM, "no_room")
            answer["Retry-After"] = "60"
            return answer
        return get_response(request)

    return middleware


def _refusal(request: HttpRequest, status: int, title: str, detail: str, code: str) -> HttpResponse:
    if request.path_info.startswith(API):
        facts = problem_facts(status=status, title=title, detail=detail, code=code)
        return JsonResponse(facts, status=status, content_type=PROBLEM_TYPE)
    return HttpResponse(f"{title}. {detail}\n", status=status, content_type="text/plain; charset=utf-8")


def measure_bodies(get_response: Handler) -> Handler:
    """Tell the length of an answer, or the web server closes the connection after it; HEAD gets the length alone."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if not response.streaming:
            response.headers.setdefault("Content-Length", str(len(response.content)))
        if request.method == "HEAD":
            _empty(response)
        return response

    return middleware


def _empty(response: HttpResponse) -> None:
    if response.streaming:
        response.streaming_content = []  # type: ignore[attr-defined]
    else:
        response.content = b""


def security_headers(get_response: Handler) -> Handler:
    """Set the content policy on every answer but files, and `no-store` on what only the signed-in may read."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
        response.headers.setdefault("Cache-Control", "no-store, private")
        return response

    return middleware
