"""Bodies of the API that change some fields of what is there."""

from typing import TypeVar

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.serializers import Serializer

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
