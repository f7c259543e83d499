"""The parameters of an operation, from the API's OpenAPI description to the JSON Schema that tools are described in."""

from collections.abc import Mapping
from typing import Any

FILE = {
    "file_name": {"type": "string", "description": "Its name with its ending, such as handbook.md."},
    "file": {"type": "string", "description": "The text of the file, or base64 of a binary one."},
    "is_base64": {"type": "boolean", "default": False, "description": "Whether `file` is base64."},
}
"""How an agent hands a file over."""
MULTIPART = "multipart/form-data"


def input_schema(operation: Mapping[str, Any], parts: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """One object of all parameters: those of the path but the project's, of the query, and the fields of the body.

    `parts` are the schemas that a description refers to. `given` parameters are left out: nobody chooses them.
    """
    fields: dict[str, Any] = {}
    said: dict[str, str] = {}
    required = []
    for parameter in operation.get("parameters", []):
        fields[parameter["name"]] = plain_schema(parameter["schema"], parts) | _said(parameter)
        if parameter.get("required"):
            required.append(parameter["name"])
    if (kind := body_kind(operation)) is not None:
        body = plain_schema(operation["requestBody"]["content"][kind]["schema"], parts)
        if kind == MULTIPART:
            body["properties"] = body["properties"] | FILE
            body["required"] = [*body.get("required", []), "file_name"]
        said = _said(body)
        fields |= body.get("properties", {})
        required += body.get("required", [])
    hidden = {"slug", *given}
    return said | {
        "type": "object",
        "properties": {name: schema for name, schema in fields.items() if name not in hidden},
        "required": sorted(set(required) - hidden),
        "additionalProperties": False,
    }


def body_kind(operation: Mapping[str, Any]) -> str | None:
    """The media type of the operation's body; None for one without a body."""
    return next(iter(operation.get("requestBody", {}).get("content", {})), None)


def _said(parameter: Mapping[str, Any]) -> dict[str, str]:
    return {"description": parameter["description"]} if "description" in parameter else {}


def plain_schema(schema: Any, parts: Mapping[str, Any]) -> Any:
    """A schema of OpenAPI 3.0 as one of JSON Schema: what it refers to stands in it, and `nullable` is a type."""
    if isinstance(schema, list):
        return [plain_schema(each, parts) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return plain_schema(parts[schema["$ref"].rpartition("/")[2]], parts)
    found = {key: plain_schema(value, parts) for key, value in schema.items() if key not in ("nullable", "readOnly")}
    if len(found.get("allOf", [])) == 1:
        found |= found.pop("allOf")[0]
    if schema.get("nullable"):
        return {"anyOf": [found, {"type": "null"}]}
    return found
