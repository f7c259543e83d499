"""The protocol: what is answered to messages of either revision, and to what is no message."""

import json

import pytest

from apps.agents.core.messages import (
    CAPABILITIES_KEY,
    HANDSHAKE,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    SERVER_KEY,
    STATELESS,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    VERSIONS,
)
from tests.agents.asking import BOTH, Agent, secret_of
from tests.factories import lead_of, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def secret():
    project = make_project()
    return secret_of(project, lead_of(project))


def test_a_client_of_2026_asks_what_the_server_can_and_gets_no_session(secret):
    answer = Agent(secret).ask("server/discover")
    result = answer.json()["result"]

    assert result["supportedVersions"] == list(VERSIONS)
    assert result["capabilities"] == {"tools": {}, "resources": {}}
    assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == ("complete", 0, "private")
    assert result["_meta"][SERVER_KEY]["name"] == "karat"
    assert "Mcp-Session-Id" not in answer


@pytest.mark.parametrize("asked", [*HANDSHAKE, "2024-11-05"])
def test_a_client_of_2025_shakes_hands_and_gets_its_revision_or_the_newest_of_these(secret, asked):
    agent = Agent(secret)
    body = {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {"protocolVersion": asked}}

    answer = agent.post(body)

    assert answer.json()["id"] == "a"
    assert answer.json()["result"]["protocolVersion"] == (asked if asked in HANDSHAKE else HANDSHAKE[0])
    noted = agent.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, **{"MCP-Protocol-Version": asked})
    assert noted.status_code == (202 if asked in HANDSHAKE else 400)


@pytest.mark.parametrize("version", BOTH)
def test_tools_and_resources_are_listed_in_either_revision(secret, version):
    agent = Agent(secret, version)

    tools = agent.result("tools/list")["tools"]

    assert {"build_pool", "plan_round", "compare"} <= {tool["name"] for tool in tools}
    assert all(tool["description"] and tool["inputSchema"]["type"] == "object" for tool in tools)
    assert [one["uri"] for one in agent.result("resources/list")["resources"]] == ["karat://guideline"]
    assert len(agent.result("resources/templates/list")["resourceTemplates"]) == 3
    assert agent.result("ping") == ({"resultType": "complete"} if version == STATELESS else {})


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_no_stream_is_opened_and_no_session_is_ended(secret, method):
    assert getattr(Agent(secret).client, method)("/mcp").status_code == 405


CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/list",
    "params": {"_meta": {VERSION_KEY: STATELESS, CAPABILITIES_KEY: {}}},
}
NEW = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "tools/list"}
OLD = {"MCP-Protocol-Version": HANDSHAKE[0]}


@pytest.mark.parametrize(
    ("body", "headers", "code", "status"),
    [
        ("{", NEW, PARSE_ERROR, 400),
        ("[" * 100_000, OLD, PARSE_ERROR, 400),
        ([CALL], NEW, INVALID_REQUEST, 400),
        ([CALL], OLD, INVALID_REQUEST, 400),
        (CALL | {"jsonrpc": "1.0"}, NEW, INVALID_REQUEST, 400),
        (CALL | {"method": 7}, OLD, INVALID_REQUEST, 400),
        (CALL | {"id": None}, NEW, INVALID_REQUEST, 400),
        (CALL | {"id": True}, OLD, INVALID_REQUEST, 400),
        (CALL | {"params": []}, NEW, INVALID_PARAMS, 400),
        (CALL | {"params": {}}, NEW, INVALID_PARAMS, 400),
        (CALL | {"params": {"_meta": {VERSION_KEY: STATELESS}}}, NEW, INVALID_PARAMS, 400),
        (CALL, {"MCP-Protocol-Version": STATELESS}, HEADER_MISMATCH, 400),
        (CALL, NEW | {"Mcp-Method": "tools/call"}, HEADER_MISMATCH, 400),
        (CALL, {"MCP-Protocol-Version": "2099-01-01"}, UNSUPPORTED_VERSION, 400),
        (CALL | {"method": "roots/list"}, NEW | {"Mcp-Method": "roots/list"}, METHOD_NOT_FOUND, 404),
        (CALL | {"method": "roots/list"}, OLD, METHOD_NOT_FOUND, 200),
        (CALL | {"method": "tools/call", "params": {"name": "grade"}}, OLD, INVALID_PARAMS, 200),
        (CALL | {"method": "resources/read", "params": {"uri": "karat://sealed"}}, OLD, INVALID_PARAMS, 200),
    ],
)  # fmt: skip
def test_what_is_no_message_is_refused_with_the_code_of_the_protocol(secret, body, headers, code, status):
    answer = Agent(secret).post(body, **headers)

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    if code == UNSUPPORTED_VERSION:
        assert answer.json()["error"]["data"] == {"supported": list(VERSIONS), "requested": "2099-01-01"}


def test_the_name_of_a_tool_stands_in_a_header_too(secret):
    body = CALL | {"method": "tools/call", "params": CALL["params"] | {"name": "list_runs"}}

    wrong = Agent(secret).post(body, **NEW | {"Mcp-Method": "tools/call", "Mcp-Name": "list_pools"})

    assert wrong.json()["error"]["code"] == HEADER_MISMATCH
    assert "Mcp-Name" in wrong.json()["error"]["message"]


def test_a_page_of_another_site_cannot_ask(secret):
    agent = Agent(secret, HANDSHAKE[0])

    assert agent.post(CALL, **OLD, Origin="https://elsewhere.example").status_code == 403
    assert agent.post(CALL, **OLD, Origin="http://testserver").status_code == 200


def test_the_schemas_are_json_schemas_without_references(secret):
    for tool in Agent(secret).result("tools/list")["tools"]:
        written = json.dumps(tool["inputSchema"])
        assert "$ref" not in written
        assert "nullable" not in written
        assert "slug" not in tool["inputSchema"]["properties"]
        assert set(tool["inputSchema"]["required"]) <= set(tool["inputSchema"]["properties"])
