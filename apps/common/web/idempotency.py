"""Requests that may arrive twice and take effect once."""

from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request


def body_with_key(request: Request) -> dict[str, Any]:
    """The JSON object of the body; an `Idempotency-Key` header is added as `idempotency_key`.

    Raises ValidationError for a body that is no object.
    """
    if not isinstance(request.data, dict):
        raise ValidationError({"body": ["The body is one JSON object."]})
    header = request.headers.get("Idempotency-Key")
    return {**request.data, "idempotency_key": header} if header else dict(request.data)
