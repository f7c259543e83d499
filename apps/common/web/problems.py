"""Errors of the API as problem+json (RFC 9457), and what its OpenAPI description says of them."""

import logging
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from apps.common.errors import PROBLEM_TYPE, InputErrors, Refusal, problem_facts
from apps.common.web.outages import outage_of
from apps.common.web.parsers import PayloadTooLarge

log = logging.getLogger(__name__)


def problem(*, status: int, title: str, detail: str, code: str, **more: Any) -> Response:
    facts = problem_facts(status=status, title=title, detail=detail, code=code)
    return Response(facts | more, status=status, content_type=PROBLEM_TYPE)


def problem_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler: refusals, input errors and DRF's own errors, all in one shape."""
    if isinstance(error, Refusal):
        title = "Not allowed" if error.status == 403 else "Refused"
        return problem(status=error.status, title=title, detail=error.sentence, code=error.code)
    if isinstance(error, InputErrors):
        return _input_problem(error)
    error = _as_bad_request(error)
    if outage := outage_of(error):
        log.warning("%s: %s", outage.title, error)
        answer = problem(status=503, title=outage.title, detail=outage.detail, code=outage.code)
        answer["Retry-After"] = str(outage.retry_after)
        return answer
    if isinstance(error, Http404):
        error = exceptions.NotFound()
    if isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    if isinstance(error, exceptions.ValidationError):
        return problem(
            status=400,
            title="Bad input",
            detail="One or more fields are wrong.",
            code="invalid",
            errors=error.detail,
        )
    response = exception_handler(error, context)
    if response is None or not isinstance(error, exceptions.APIException):
        return response
    return _in_our_shape(error, response)


def _input_problem(error: InputErrors) -> Response:
    faults = [
        {"file": e.file, "line": e.line, "field": e.field, "value": e.value, "message": e.message} for e in error.errors
    ]
    return problem(
        status=400, title="Bad input", detail=str(error), code="bad_input", errors=faults, capped=error.capped
    )


def _as_bad_request(error: Exception) -> Exception:
    """Django's errors of a request that cannot be read, as those of DRF; any other error as it is."""
    if isinstance(error, RequestDataTooBig):
        return PayloadTooLarge()
    if isinstance(error, SuspiciousOperation | BadRequest):
        return exceptions.ParseError()
    return error


def _in_our_shape(error: exceptions.APIException, response: Response) -> Response:
    code = error.get_codes()
    answer = problem(
        status=response.status_code,
        title=str(error.default_detail).rstrip("."),
        detail=str(error.detail),
        code=code if isinstance(code, str) else "error",
    )
    for header, value in response.headers.items():
        if header.lower() in {"www-authenticate", "retry-after", "allow"}:
            answer[header] = value
    return answer


# In the description of the API: every operation may answer with a problem.

NAME = "Problem"
ANYWHERE = ("400", "401", "403", "404", "406", "409", "429", "503")
WITH_A_BODY = ("413", "415")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "An error (RFC 9457). Branch on `code`; `errors` lists every mistake of an input.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "errors": {},
    },
    "required": ["type", "title", "status", "detail", "code"],
}


def describe_problems(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Add the problems to each operation, where it does not describe that status itself."""
    result["components"].setdefault("schemas", {})[NAME] = SCHEMA
    answer = {
        "description": "A problem.",
        "content": {PROBLEM_TYPE: {"schema": {"$ref": f"#/components/schemas/{NAME}"}}},
    }
    for path in result["paths"].values():
        for method, operation in path.items():
            for status in (*ANYWHERE, *(() if method == "get" else WITH_A_BODY)):
                operation["responses"].setdefault(status, answer)
    return result
