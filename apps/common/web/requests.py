"""The request being answered: its id, readable from anywhere below the edge, and where it came from."""

import uuid
from contextvars import ContextVar

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port

from apps.common.web.forwarding import address_in, forwarded_address

_request_id: ContextVar[str] = ContextVar("karat_request_id", default="")


def current_request_id() -> str:
    """The id of the current request or job, or "" outside of both."""
    return _request_id.get()


def set_request_id(value: str):
    return _request_id.set(value)


def reset_request_id(token) -> None:
    _request_id.reset(token)


def new_request_id() -> str:
    return uuid.uuid4().hex


def client_address(request: HttpRequest) -> str | None:
    """The address a request came from. A proxy is believed only when Karat was told that it stands behind one."""
    forwarded = forwarded_address(request) if settings.BEHIND_PROXY else None
    return forwarded or address_in(request.META.get("REMOTE_ADDR", ""))


def link_for_others(request: HttpRequest, path: str) -> str:
    """A link that leaves the page, for somebody else to open: it never follows a host that a stranger may name.

    A host that stands in KARAT_ALLOWED_HOSTS letter by letter is where the lead is reading; on one machine that is
    better known to others than `localhost`. In production, and for hosts that only a pattern allows, it is KARAT_URL.
    """
    host, _ = split_domain_port(request.get_host())
    if settings.PRODUCTION or host not in settings.ALLOWED_HOSTS:
        return f"{settings.PUBLIC_URL}{path}"
    return request.build_absolute_uri(path)
