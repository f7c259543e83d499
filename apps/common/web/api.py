"""Parts that API views share: bodies, idempotency keys, answers that are files, figures with an interval."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from apps.common.web.paging import Cut, cut, cut_list, only_known


def body_with_key(request: Request) -> dict[str, Any]:
    """The JSON object of the body; an `Idempotency-Key` header is added as `idempotency_key`.

    Raises ValidationError for a body that is no object.
    """
    if not isinstance(request.data, dict):
        raise ValidationError({"body": ["The body is one JSON object."]})
    header = request.headers.get("Idempotency-Key")
    return {**request.data, "idempotency_key": header} if header else dict(request.data)


class OneForm(BaseContentNegotiation):
    """The endpoint returns a file; `format` in the query is its own parameter, not the framework's."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> None:
        return None

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, first.media_type


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


S = TypeVar("S", bound=Serializer)


def body_in(data: Any, serializer: type[S]) -> S:
    """The valid body of a request. Raises ValidationError."""
    body = serializer(data=data)
    body.is_valid(raise_exception=True)
    return body


def change_in(data: Any, serializer: type[S]) -> S:
    """The valid body of a change. Raises ValidationError, for an unknown field too.

    Where fields may be left out, one that is misspelt would otherwise be answered as if it had been changed.
    """
    body = body_in(data, serializer)
    if unknown := sorted(set(data) - set(body.fields)):
        raise ValidationError({unknown[0]: [f"Unknown field. Known are: {', '.join(sorted(body.fields))}."]})
    return body


def given_in(data: Any, serializer: type[Serializer]) -> dict[str, Any]:
    """The values of a body, or of the query, by field. Raises ValidationError."""
    return dict(body_in(data, serializer).validated_data)


PAGING = [
    OpenApiParameter("after", str, description="`next` of the previous page"),
    OpenApiParameter("limit", int, description="rows of a page, 1 to 1,000, by default 100"),
]


def next_page() -> serializers.CharField:
    """The field `next` of a page."""
    return serializers.CharField(allow_null=True, help_text="The cursor of the next page; null on the last one.")


def page_of(name: str, row: type[Serializer[Any]]) -> Serializer[Any]:
    """How a page of such rows looks: `{"results": [...], "next": cursor or null}`. `name` is for the description."""
    return inline_serializer(name, {"results": row(many=True), "next": next_page()})


def oldest_first(
    request: Request, rows: QuerySet[Any], serializer: type[Serializer[Any]], *known: str, **context: Any
) -> Response:
    """One page of rows in the order of their keys. `known` are the parameters beside those of `PAGING`."""
    only_known(request.query_params, {"after", "limit", *known})
    return _page(cut(rows, request.query_params), serializer, context)


def in_their_order(
    request: Request, rows: Sequence[Any] | QuerySet[Any], serializer: type[Serializer[Any]]
) -> Response:
    """One page of rows whose order never changes."""
    only_known(request.query_params, {"after", "limit"})
    return _page(cut_list(rows, request.query_params), serializer, {})


def _page(page: Cut, serializer: type[Serializer[Any]], context: dict[str, Any]) -> Response:
    return Response({"results": serializer(page.rows, many=True, context=context).data, "next": page.next})


NEWEST = 100
CURSOR = OpenApiParameter("before", int, description="Only what is older than this id; the answer's `next`.")


def newest_page_of(name: str, row: type[Serializer[Any]]) -> Serializer[Any]:
    """How a page of `newest_first` looks. `name` is for the description of the API."""
    rows = row(many=True)
    before = serializers.IntegerField(allow_null=True, help_text="The value of `before` for the next page.")
    return inline_serializer(name, {"results": rows, "next": before})


def newest_first(request: Request, rows: Any, serializer: Any, size: int = NEWEST) -> Response:
    """One page, newest first, and the cursor of the next page: `{"results": [...], "next": id or null}`."""
    only_known(request.query_params, {"before"})
    before = request.query_params.get("before", "")
    if before:
        if not (before.isascii() and before.isdecimal()) or len(before) > 18:
            raise ValidationError({"before": ["Give an id, a whole number."]})
        rows = rows.filter(pk__lt=int(before))
    page = list(rows[: size + 1])
    after = page[size - 1].pk if len(page) > size else None
    return Response({"results": serializer(page[:size], many=True).data, "next": after})
