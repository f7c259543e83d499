"""Of a request: the client's address, also behind a proxy, the keys it names, and the links of an answer."""

import ipaddress
import logging
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.utils.http import url_has_allowed_host_and_scheme

log = logging.getLogger(__name__)
LONGEST_KEY = 18

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


def client_address(request: HttpRequest) -> str | None:
    """The client's address. A proxy's header is used only when KARAT_BEHIND_PROXY is on."""
    forwarded = forwarded_address(request) if settings.BEHIND_PROXY else None
    return forwarded or address_in(request.META.get("REMOTE_ADDR", ""))


def key_in(text: str) -> int | None:
    """The key of a row that a request names; None for anything else, also for what no column could hold."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_KEY else None


def keys_in(texts: Iterable[str]) -> list[int]:
    """The keys among these texts."""
    return [key for text in texts if (key := key_in(text)) is not None]


def page_before(request: HttpRequest, rows: QuerySet[Any], size: int) -> tuple[list[Any], int | None]:
    """One page of rows that are newest first, older than `?before=`, and the key where the next page begins."""
    if before := key_in(request.GET.get("before", "")):
        rows = rows.filter(pk__lt=before)
    found = list(rows[: size + 1])
    return found[:size], found[size - 1].pk if len(found) > size else None


def own_page(request: HttpRequest, wanted: str) -> str:
    """`wanted` if it is a page of this server, where a form asked to be taken; else ""."""
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if is_ours else ""


def reach_warning(link: str) -> str:
    """Why others may not be able to open a link that begins like this one; "" when nothing speaks against it."""
    host = urlsplit(link).hostname or ""
    address = address_in(host)
    ip = ipaddress.ip_address(address) if address else None
    if _is_this_machine(host):
        return f"These links work on this computer only: {host} is this machine. {_cure()}"
    if (ip and ip.is_private) or host.endswith((".local", ".internal", ".lan")) or ("." not in host and not ip):
        wider = "For others set KARAT_URL to the address that they reach, start Karat again, and invite then."
        return f"These links work in this network only: {host} is not known outside of it. {wider}"
    return ""


def _cure() -> str:
    """What lets others reach a server whose links lead to this machine."""
    set_url = "KARAT_URL set to the address that others reach"
    if settings.PRODUCTION or settings.IS_PUBLIC_URL_SET:
        return f"Start Karat again with {set_url}, and invite then."
    return (
        "Start Karat again with --host 0.0.0.0, so that your network reaches it, and invite then."
        f" Behind a proxy or a tunnel start it with {set_url}."
    )


def link_for_others(request: HttpRequest, path: str) -> str:
    """An absolute link for somebody else to open; its host never comes from a request header alone.

    It begins with KARAT_URL where the operator has set that, in production, and for hosts that only a pattern allows.
    Else with the request's host, if that is allowed literally: it is known to others at least as well as what
    `karat up` guesses, unless it is this machine only and the guess is not.
    """
    host, _ = split_domain_port(request.get_host())
    if settings.IS_PUBLIC_URL_SET or settings.PRODUCTION or host not in settings.ALLOWED_HOSTS:
        return f"{settings.PUBLIC_URL}{path}"
    if _is_this_machine(host.strip("[]")) and not _is_this_machine(urlsplit(settings.PUBLIC_URL).hostname or ""):
        return f"{settings.PUBLIC_URL}{path}"
    return request.build_absolute_uri(path)


def _is_this_machine(host: str) -> bool:
    address = address_in(host)
    named = host == "localhost" or host.endswith(".localhost")
    return named or bool(address and ipaddress.ip_address(address).is_loopback)
