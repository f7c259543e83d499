"""Pages show times in the reader's time zone."""

import zoneinfo
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone


def reader_time_zone(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def middleware(request: HttpRequest) -> HttpResponse:
        with timezone.override(_zone(request)):
            return get_response(request)

    return middleware


def _zone(request: HttpRequest) -> zoneinfo.ZoneInfo | None:
    """The person's own zone; None (the server's) for strangers and for a zone this machine does not know."""
    name = getattr(request.user, "time_zone", "")
    try:
        return zoneinfo.ZoneInfo(name) if name else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return None
