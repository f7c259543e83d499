"""Of a request: the client's address, and the links that an answer may contain."""

import ipaddress
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.utils.http import url_has_allowed_host_and_scheme
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.serializers import Serializer

from apps.common.web.forwarding import address_in, forwarded_address


class EstimateSerializer(serializers.Serializer[Any]):
    """A figure with its interval (95 % unless the request names another) and its `n`.

    `value` is null where it is not defined, `low` and `high` where it has no interval; `reason` then says why. `method`
    names how the interval was computed, "" without one.
    """

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    method = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)


# How long the body of a request may be, by its address: the one place that says it.
#
# Middleware asks before anybody is asked who sends a body, and the parser while it reads. The web server takes what is
# at most as long as the longest of them.

MOST_BYTES = 5_000_000
"""Of forms without a file and of JSON. Django's DATA_UPLOAD_MAX_MEMORY_SIZE is the same."""
MOST_BYTES_OF_A_RUN = 64 * 1024**2
KEPT_IN_MEMORY = 64 * 1024
DISK_RESERVE = 256 * 1024**2
"""While less is free on the disk of the data directory, no body longer than `KEPT_IN_MEMORY` is taken: what is left is
for people's work."""
FRAMING_BYTES = 1024**2  # what a form adds to the largest file
_RUNS = re.compile(r"/api/v1/projects/[^/]+/runs/")
_IMPORTED = "corpus|queries|collections|triples|judging|versions/training"
_FILES = re.compile(rf"/p/[^/]+/.*|/api/v1/projects/[^/]+/(?:{_IMPORTED})/imports/", re.DOTALL)


def most_bytes_at(path: str, largest_file: int) -> int:
    """The longest body that is taken at this path, where an uploaded file may have `largest_file` bytes."""
    if _FILES.fullmatch(path):
        return largest_file + FRAMING_BYTES
    if _RUNS.fullmatch(path):
        return MOST_BYTES_OF_A_RUN
    return MOST_BYTES


def too_large_in_words(most: int) -> str:
    limit = f"{most // 1024**2:,} MiB" if most % 1024**2 == 0 else f"{most:,} bytes"
    return f"A body here has at most {limit}. Send less at once, or use the command line for a file."


def body_with_key(request: Request) -> dict[str, Any]:
    """The JSON object of the body; an `Idempotency-Key` header is added as `idempotency_key`.

    Raises ValidationError for a body that is no object.
    """
    if not isinstance(request.data, dict):
        raise ValidationError({"body": ["The body is one JSON object."]})
    header = request.headers.get("Idempotency-Key")
    return {**request.data, "idempotency_key": header} if header else dict(request.data)


class NextStep(NamedTuple):
    """The words of a primary button, and where it leads."""

    words: str
    url: str


Answer = Callable[[Any], NextStep | None]
_answers: dict[type, Answer] = {}


def answer_next_step(of: type, answer: Answer) -> None:
    """Let `answer` say what comes after an object of this class."""
    _answers[of] = answer


def next_step(after: object) -> NextStep | None:
    """What a lead does next after this object was made; None where no app names anything."""
    answer = _answers.get(type(after))
    return answer(after) if answer else None


class OneForm(BaseContentNegotiation):
    """The endpoint returns a file; `format` in the query is its own parameter, not the framework's."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> None:
        return None

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, first.media_type


S = TypeVar("S", bound=Serializer)


def change_in(request: Request, serializer: type[S]) -> S:
    """The valid body of a change. Raises ValidationError, for an unknown field too.

    Where fields may be left out, one that is misspelt would otherwise be answered as if it had been changed.
    """
    body = serializer(data=request.data)
    body.is_valid(raise_exception=True)
    if unknown := sorted(set(request.data) - set(body.fields)):
        raise ValidationError({unknown[0]: [f"Unknown field. Known are: {', '.join(sorted(body.fields))}."]})
    return body


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
