"""Messages of the Model Context Protocol, of its revisions 2026-07-28 and 2025-11-25.

Each message stands alone: there is no session in either. In 2026-07-28 every request says in `params._meta` which
revision it follows, and repeats method and name in headers; before, `initialize` asked for it once and a header repeats
it. https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

STATELESS = "2026-07-28"
HANDSHAKE = ("2025-11-25", "2025-06-18")
VERSIONS = (STATELESS, *HANDSHAKE)
UNNAMED = HANDSHAKE[-1]
"""The revision that a client is taken to speak which names none."""

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022

_OF = "io.modelcontextprotocol/"
VERSION_KEY, CAPABILITIES_KEY, SERVER_KEY = f"{_OF}protocolVersion", f"{_OF}clientCapabilities", f"{_OF}serverInfo"
NAMED_BY = {"tools/call": "name", "resources/read": "uri"}
"""The parameter that the header `Mcp-Name` repeats."""
CACHEABLE = frozenset({"server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read"})


class Message(NamedTuple):
    """A request, or a notification, which has no `id` and gets no answer."""

    method: str
    params: dict[str, Any]
    id: str | int | None
    version: str

    @property
    def is_stateless(self) -> bool:
        return self.version == STATELESS


class ProtocolError(Exception):
    """What a message is refused with: `code` of JSON-RPC, a sentence, and `data` where the protocol has some."""

    def __init__(self, code: int, sentence: str, data: Any = None) -> None:
        super().__init__(sentence)
        self.code, self.sentence, self.data = code, sentence, data


def read_message(body: bytes, headers: Mapping[str, str]) -> Message:
    """The message in the body of a POST. `headers` are found whatever their capitals. Raises ProtocolError."""
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        raise ProtocolError(PARSE_ERROR, "The body is not JSON.") from None
    if not isinstance(sent, dict) or sent.get("jsonrpc") != "2.0" or not isinstance(sent.get("method"), str):
        raise ProtocolError(INVALID_REQUEST, "The body is one JSON-RPC 2.0 request or notification, and no list.")
    params, number = sent.get("params", {}), sent.get("id")
    if not isinstance(params, dict):
        raise ProtocolError(INVALID_PARAMS, "params is a JSON object.")
    if "id" in sent and (isinstance(number, bool) or not isinstance(number, str | int)):
        raise ProtocolError(INVALID_REQUEST, "id is a text or a whole number.")
    version = headers.get("MCP-Protocol-Version")
    message = Message(sent["method"], params, number, version or UNNAMED)
    if message.is_stateless or message.method == "server/discover":
        _check_envelope(message, headers)
    if message.version not in VERSIONS:
        raise ProtocolError(
            UNSUPPORTED_VERSION,
            f"This server speaks {' and '.join(VERSIONS)}.",
            {"supported": list(VERSIONS), "requested": message.version},
        )
    return message


def _check_envelope(message: Message, headers: Mapping[str, str]) -> None:
    """A request of 2026-07-28 says its revision, what the client can do, and the same again in its headers."""
    if message.id is None:
        return
    meta = message.params.get("_meta")
    if not isinstance(meta, dict) or VERSION_KEY not in meta or CAPABILITIES_KEY not in meta:
        raise ProtocolError(INVALID_PARAMS, f"params._meta needs {VERSION_KEY} and {CAPABILITIES_KEY}.")
    name = NAMED_BY.get(message.method, "")
    expected = {"MCP-Protocol-Version": meta[VERSION_KEY], "Mcp-Method": message.method}
    if isinstance(message.params.get(name), str):
        expected["Mcp-Name"] = message.params[name]
    for header, value in expected.items():
        if headers.get(header) != value:
            raise ProtocolError(HEADER_MISMATCH, f"The header {header} is not what the body says: {value}.")


def answer(message: Message, result: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request, with what its revision adds to a result."""
    if message.is_stateless:
        result = {"resultType": "complete", **result}
        if message.method in CACHEABLE:
            result |= {"ttlMs": 0, "cacheScope": "private"}
    return {"jsonrpc": "2.0", "id": message.id, "result": result}


def refusal(error: ProtocolError, message: Message | None = None) -> tuple[dict[str, Any], int]:
    """The answer to a message that is refused, and its HTTP status.

    A client of the older revisions takes 404 for the end of a session, so it is told of its requests' faults under 200.
    """
    facts: dict[str, Any] = {"code": error.code, "message": error.sentence}
    if error.data is not None:
        facts["data"] = error.data
    status = 400
    if message is not None and not message.is_stateless:
        status = 200
    elif error.code == METHOD_NOT_FOUND:
        status = 404
    return {"jsonrpc": "2.0", "id": message.id if message else None, "error": facts}, status
