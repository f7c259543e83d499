"""The tools and texts as agents see them, with the operations of the API that they are."""

from functools import cache
from typing import Any, NamedTuple

from django.urls import resolve
from drf_spectacular.generators import SchemaGenerator

from apps.accounts.access.api import scopes_of
from apps.accounts.models import ApiToken
from apps.agents.core.schemas import body_kind, input_schema
from apps.agents.core.tools import RESOURCES, TOOLS, Resource, Tool


class Operation(NamedTuple):
    """An operation of the API. `route` is its address with parameters in braces; `scopes` are those a token needs."""

    method: str
    route: str
    path: frozenset[str]
    query: frozenset[str]
    body: str | None
    scopes: frozenset[str]

    @property
    def reads(self) -> bool:
        return self.method == "GET"


class Offered(NamedTuple):
    """A tool or a resource with its operation, and the schema of its parameters."""

    row: Tool | Resource
    operation: Operation
    schema: dict[str, Any]

    def open_to(self, token: ApiToken) -> bool:
        return self.operation.scopes <= set(token.scopes)


@cache
def offered() -> dict[str, Offered]:
    """Every tool by name and every resource by address. Made once a process, from the API's description."""
    described = SchemaGenerator().get_schema(request=None, public=True)
    operations = {
        operation["operationId"]: (method, route, operation)
        for route, methods in described["paths"].items()
        for method, operation in methods.items()
    }
    found = {}
    rows: tuple[Tool | Resource, ...] = (*TOOLS, *RESOURCES)
    for row in rows:
        method, route, operation = operations[row.operation]
        key = row.name if isinstance(row, Tool) else row.address
        schema = input_schema(operation, described["components"]["schemas"], row.given)
        found[key] = Offered(row, _operation(method.upper(), route, operation), schema)
    return found


def _operation(method: str, route: str, described: dict[str, Any]) -> Operation:
    named = {
        where: frozenset(each["name"] for each in described.get("parameters", []) if each["in"] == where)
        for where in ("path", "query")
    }
    view = resolve(route.format_map(dict.fromkeys(named["path"], "1"))).func
    scopes = frozenset(scopes_of(view.cls, method))  # type: ignore[attr-defined]
    return Operation(method, route, named["path"] - {"slug"}, named["query"], body_kind(described), scopes)
