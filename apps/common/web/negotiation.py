"""Answers of the API that have one form, whatever a client accepts."""

from collections.abc import Iterable

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class OneForm(BaseContentNegotiation):
    """The endpoint returns a file; `format` in the query is its own parameter, not the framework's."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> None:
        return None

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, first.media_type
