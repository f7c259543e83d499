"""Middleware for the headers and ids of every response."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse

from apps.common.web.body_limits import most_bytes_at, too_large_in_words
from apps.common.web.current_work import new_request_id, reset_request_id, set_request_id
from apps.common.web.problem_json import CONTENT_TYPE, facts_of

API = "/api/"
Handler = Callable[[HttpRequest], HttpResponse]

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
    """Refuse the body of a request to the API that is too long, before anybody is asked who sends it.

    The web server of Karat has refused it already, and those of pages too; this one is for other servers.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(API):
            most = most_bytes_at(request.path_info, settings.UPLOAD_MAX_BYTES)
            length = request.META.get("CONTENT_LENGTH") or "0"
            if not length.isdecimal() or int(length) > most:
                return _too_large(most)
        return get_response(request)

    return middleware


def _too_large(most: int) -> HttpResponse:
    detail, code = too_large_in_words(most), "payload_too_large"
    facts = facts_of(status=413, title="The body of this request is too large", detail=detail, code=code)
    return JsonResponse(facts, status=413, content_type=CONTENT_TYPE)


def security_headers(get_response: Handler) -> Handler:
    """Set the content policy on every answer but files, and `no-store` on what only the signed-in may read."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
        response.headers.setdefault("Cache-Control", "no-store, private")
        return response

    return middleware
