"""Parsing of request bodies of the API: capped in length and in depth of nesting."""

import json
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework import exceptions
from rest_framework.parsers import BaseParser
from rest_framework.utils.json import strict_constant

from apps.common.web.body_limits import most_bytes_at, too_large_in_words

PIECE = 64 * 1024
DEEPEST = 32


class PayloadTooLarge(exceptions.APIException):
    status_code = 413
    default_detail = "The body of this request is too large."
    default_code = "payload_too_large"


def too_large(most: int) -> PayloadTooLarge:
    return PayloadTooLarge(too_large_in_words(most))


class JSONParser(BaseParser):
    """JSON in UTF-8, read in chunks and not past the cap of the address, whatever length the request declares.

    The framework's own parser uses one cap for all of Django, and answers 400 beyond it.
    """

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        context = parser_context or {}
        body = read_body(stream, most_bytes_at(context["request"].path, settings.UPLOAD_MAX_BYTES))
        try:
            value = json.loads(body.decode("utf-8-sig"), parse_constant=strict_constant)
        except UnicodeDecodeError as fault:
            raise exceptions.ParseError(f"The body is not UTF-8: byte {fault.start:,} cannot be read.") from None
        except RecursionError:
            raise too_deep() from None
        except ValueError as fault:
            raise exceptions.ParseError(f"The body is not JSON: {fault}.") from None
        if depth_exceeds(value, DEEPEST):
            raise too_deep()
        return value


def read_body(stream: IO[bytes], most: int) -> bytes:
    """The whole stream. Raises PayloadTooLarge as soon as it is longer than `most`, with no more than that read."""
    pieces, size = [], 0
    while piece := stream.read(min(PIECE, most + 1 - size)):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise too_large(most)
    return b"".join(pieces)


def too_deep() -> exceptions.ParseError:
    return exceptions.ParseError(f"The body is nested more than {DEEPEST} levels deep. Nothing here is.")


def depth_exceeds(value: object, most: int) -> bool:
    """Whether lists and objects are nested more than `most` deep. Works level by level, without recursion."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(most):
        inside = [part.values() if isinstance(part, dict) else part for part in level]
        level = [value for part in inside for value in part if isinstance(value, dict | list)]
        if not level:
            return False
    return True
