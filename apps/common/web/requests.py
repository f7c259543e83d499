"""Of a request: the client's address, and the links that an answer may contain."""

import ipaddress
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.utils.http import url_has_allowed_host_and_scheme

from apps.common.web.forwarding import address_in, forwarded_address


def client_address(request: HttpRequest) -> str | None:
    """The client's address. A proxy's header is used only when KARAT_BEHIND_PROXY is on."""
    forwarded = forwarded_address(request) if settings.BEHIND_PROXY else None
    return forwarded or address_in(request.META.get("REMOTE_ADDR", ""))


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
