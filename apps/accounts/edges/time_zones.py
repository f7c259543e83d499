"""Pages show times in the reader's time zone."""

import zoneinfo
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone


def reader_time_zone(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def middleware(request: HttpRequest) -> HttpResponse:
        with timezone.override(zone_of(getattr(request.user, "time_zone", ""))):
            return get_response(request)

    return middleware


def zone_of(name: str) -> zoneinfo.ZoneInfo | None:
    """A person's own zone; None (the server's) for strangers and for a zone this machine does not know."""
    try:
        return zoneinfo.ZoneInfo(name) if name else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return None
