"""The errors of the API in its OpenAPI description: every operation may answer with a problem."""

from typing import Any

from apps.common.web.problem_json import CONTENT_TYPE

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
        "content": {CONTENT_TYPE: {"schema": {"$ref": f"#/components/schemas/{NAME}"}}},
    }
    for path in result["paths"].values():
        for method, operation in path.items():
            for status in (*ANYWHERE, *(() if method == "get" else WITH_A_BODY)):
                operation["responses"].setdefault(status, answer)
    return result
