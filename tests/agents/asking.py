"""An agent of tests: it asks `/mcp` as a client of either revision does."""

import json
from datetime import timedelta
from typing import Any

from django.test import Client

from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Scope
from apps.agents.core.messages import CAPABILITIES_KEY, HANDSHAKE, NAMED_BY, STATELESS, VERSION_KEY
from tests.factories import AT

ALL_SCOPES = tuple(Scope.values)
LASTS = timedelta(days=30)


def secret_of(project, user, *, scopes=ALL_SCOPES, name="planner", at=AT, lasts=timedelta(days=365)) -> str:
    return create_token(project=project, user=user, name=name, scopes=scopes, at=at, lasts=lasts)[1]


class Agent:
    """Asks with the token of a member; `version` is the revision of the protocol that it speaks."""

    def __init__(self, secret: str, version: str = STATELESS) -> None:
        self.client = Client(headers={"Authorization": f"Bearer {secret}"})
        self.version = version

    def post(self, body: Any, **headers: str):
        data = body if isinstance(body, bytes | str) else json.dumps(body)
        return self.client.post("/mcp", data, content_type="application/json", headers=headers)

    def ask(self, method: str, **params: Any):
        headers = {"MCP-Protocol-Version": self.version}
        if self.version == STATELESS:
            params = {"_meta": {VERSION_KEY: STATELESS, CAPABILITIES_KEY: {}}, **params}
            headers |= {"Mcp-Method": method}
            if method in NAMED_BY:
                headers |= {"Mcp-Name": str(params[NAMED_BY[method]])}
        return self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, **headers)

    def result(self, method: str, **params: Any) -> dict[str, Any]:
        answer = self.ask(method, **params)
        assert answer.status_code == 200, answer.content
        return answer.json()["result"]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.result("tools/call", name=tool, arguments=arguments)

    def do(self, tool: str, **arguments: Any) -> Any:
        """What the tool answered, which has to succeed."""
        result = self.call(tool, **arguments)
        assert not result["isError"], result
        return result["structuredContent"]

    def refused(self, tool: str, **arguments: Any) -> str:
        result = self.call(tool, **arguments)
        assert result["isError"], result
        return result["content"][0]["text"]


BOTH = (STATELESS, HANDSHAKE[0])
