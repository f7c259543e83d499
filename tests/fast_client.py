"""Requests asked of the whole stack, without a client around it and, where only the answer's status counts, unrendered.

Django's test client keeps a copy of every template's context, and most of a page's time goes into its words; who may
do what shows in the status alone.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.cookies import SimpleCookie
from typing import Any
from unittest.mock import patch

from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest
from django.db import connection, transaction
from django.http.response import HttpResponseBase
from django.template.backends.django import Template
from django.test import RequestFactory
from drf_spectacular.generators import SchemaGenerator

WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")


class Asker(BaseHandler):
    """Asks Karat as one person. What a request does is undone."""

    def __init__(self, cookies: SimpleCookie | None = None) -> None:
        super().__init__()
        self.load_middleware()
        self.factory = RequestFactory()
        self.cookies = cookies or SimpleCookie()

    def answer(self, method: str, url: str, data: Any = None, *, whole: bool = False, **extra: Any) -> HttpResponseBase:
        """The answer, after which everything stands as before. A fault of ours is a 500, as for people.

        What is sent bit by bit, a file, is read only where the `whole` is wanted.
        """
        self.factory.cookies = self.cookies
        request: WSGIRequest = getattr(self.factory, method)(url, data, **extra)
        request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]
        with transaction.atomic():
            answer = self.get_response(request)
            if whole and answer.streaming:
                answer.streaming_content = [b"".join(answer.streaming_content)]  # type: ignore[attr-defined]
            transaction.set_rollback(True)
        for close in answer._resource_closers:  # type: ignore[attr-defined]
            close()
        return answer

    def status(self, method: str, url: str, data: Any = None, **extra: Any) -> int:
        return self.answer(method, url, data, **extra).status_code


class Written:
    """The statements that write, with their values, while `watching` lasts."""

    def __init__(self) -> None:
        self.statements: list[tuple[str, Any]] = []

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Mapping[str, Any]) -> Any:
        if sql.lstrip().upper().startswith(WRITES):
            self.statements.append((sql, params))
        return execute(sql, params, many, context)


@contextmanager
def watching() -> Iterator[Written]:
    written = Written()
    with connection.execute_wrapper(written):
        yield written


@contextmanager
def without_words() -> Iterator[None]:
    """Pages and the description of the API are decided and not rendered, and refusals are not logged."""
    logging.disable(logging.ERROR)
    unrendered = patch.object(Template, "render", lambda self, context=None, request=None: "")
    with unrendered, patch.object(SchemaGenerator, "get_schema", lambda self, request=None, public=False: {}):
        yield
    logging.disable(logging.NOTSET)
