"""The headers that a proxy adds to a request, and whether they match Karat's proxy settings."""

import ipaddress
import logging
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

log = logging.getLogger(__name__)

NO_ADDRESS = (
    "KARAT_BEHIND_PROXY is on, but requests arrive without X-Forwarded-For (or with fewer addresses in it than"
    " KARAT_PROXY_HOPS says). Everybody then seems to come from one address and shares its limit on tries to sign in."
    " Let the proxy set the header, and let nobody reach Karat but through the proxy."
)
NO_SCHEME = (
    "KARAT_BEHIND_PROXY is on, but requests arrive without X-Forwarded-Proto. Karat then takes them for plain HTTP and"
    " sends people round in a circle. Let the proxy set the header."
)
UNEXPECTED_PROXY = (
    "There is a proxy in front of Karat, but KARAT_BEHIND_PROXY is off. Everybody then seems to come from the proxy and"
    " shares one limit on tries to sign in. Set KARAT_BEHIND_PROXY=1 when the proxy overwrites X-Forwarded-For."
)

seen: dict[str, None] = {}
"""The faults that this process has seen, in order. They concern the set-up, and are cleared at the next start."""


def forwarded_address(request: HttpRequest) -> str | None:
    """The address that the outermost of our own proxies saw; None when the header does not name it."""
    hops = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",") if hop.strip()]
    if len(hops) < settings.PROXY_HOPS:
        return None
    return address_in(hops[-settings.PROXY_HOPS])


def address_in(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None


def fault_of(request: HttpRequest) -> str | None:
    """What is wrong with how this request was forwarded, or None."""
    if not settings.BEHIND_PROXY:
        return UNEXPECTED_PROXY if "HTTP_X_FORWARDED_FOR" in request.META and _is_from_inside(request) else None
    if "HTTP_X_FORWARDED_PROTO" not in request.META:
        return NO_SCHEME
    return NO_ADDRESS if forwarded_address(request) is None else None


def watch_forwarding(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware that logs each fault once; pages show it to operators."""

    def middleware(request: HttpRequest) -> HttpResponse:
        fault = fault_of(request)
        if fault is not None and fault not in seen:
            seen[fault] = None
            log.warning(fault)
        return get_response(request)

    return middleware


def _is_from_inside(request: HttpRequest) -> bool:
    """Whether it comes from a private address, as from a proxy of ours: anybody outside can write the header."""
    address = address_in(request.META.get("REMOTE_ADDR", ""))
    return address is not None and ipaddress.ip_address(address).is_private
