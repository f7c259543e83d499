"""The id of the request that is being answered, readable from anywhere below the edge."""

import uuid
from contextvars import ContextVar

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
