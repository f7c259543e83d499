"""Middleware for the headers and ids of every response."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from apps.common.web.current_work import new_request_id, reset_request_id, set_request_id

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


def security_headers(get_response: Handler) -> Handler:
    """Set the content policy on every answer but files, and `no-store` on what only the signed-in may read."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
        response.headers.setdefault("Cache-Control", "no-store, private")
        return response

    return middleware
