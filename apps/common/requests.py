"""The request being answered: its id, readable from anywhere below the edge, and where it came from."""

import ipaddress
import uuid
from contextvars import ContextVar

from django.conf import settings
from django.http import HttpRequest

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
    if settings.BEHIND_PROXY:
        hops = [hop.strip() for hop in request.headers.get("x-forwarded-for", "").split(",") if hop.strip()]
        if hops:
            return _address(hops[-1])
    return _address(request.META.get("REMOTE_ADDR", ""))


def _address(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None
