"""A double of Langfuse's and Phoenix's API in a thread of the test: `running_traces(searched)`.

It answers as their published schemas say: Langfuse 4 by cursors, Langfuse 3 by numbered pages, Phoenix by cursors. What
it saw is in `seen`; `failures` are answered first, one a request.
"""

import base64
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from django.test import override_settings

from apps.common.web.addresses import parse_openings
from tests.querylogs.factories import Searched, langfuse_records, phoenix_records

PUBLIC, SECRET, KEY = "pk-lf-1", "sk-lf-sesame-open-9", "phoenix-sesame-open-9"
TOLD = "a word that only the other side knows"


class TraceServer:
    """What the server has, and what happened to it. `version` is that of Langfuse, `page` how long its pages are."""

    def __init__(self, searched: Sequence[Searched], *, version: int = 4, page: int = 7) -> None:
        self.version, self.page = version, page
        self.traces = langfuse_records(searched)
        self.spans = _phoenix_spans(searched)
        self.seen: list[str] = []
        self.failures: list[tuple[int, dict[str, str]]] = []
        self.scores: dict[str, dict[str, Any]] = {}
        self.unwanted: set[str] = set()
        self.annotations: dict[tuple[str, int, str], dict[str, Any]] = {}
        self.url = ""
        self.held_at, self.go_on = 0, threading.Event()
        """The request of this number is answered when somebody lets it go on."""

    # Langfuse

    def langfuse(self, path: str, asked: dict[str, list[str]]) -> tuple[int, Any]:
        if path == "/api/public/v2/observations" and self.version >= 4:
            return 200, self._observations(asked)
        if path == "/api/public/traces" and self.version < 4:
            return 200, self._numbered([_trace(one) for one in self._chosen(asked, "Timestamp")], asked)
        if path == "/api/public/observations" and self.version < 4:
            within = (asked["fromStartTime"][0], asked["toStartTime"][0])
            rows = [_old(one) for trace in self.traces for one in trace["observations"]]
            return 200, self._numbered([one for one in rows if within[0] <= one["startTime"] < within[1]], asked)
        return 404, {"message": TOLD, "error": "LangfuseNotFoundError"}

    def _chosen(self, asked: dict[str, list[str]], unit: str) -> list[dict[str, Any]]:
        since, until = asked[f"from{unit}"][0], asked[f"to{unit}"][0]
        found = [one for one in self.traces if since <= _utc(one["timestamp"]) < until]
        if user := asked.get("userId"):
            found = [one for one in found if one["userId"] == user[0]]
        wanted = set(asked.get("tags", ()))
        return [one for one in found if wanted <= set(one.get("tags", ()))]

    def _observations(self, asked: dict[str, list[str]]) -> dict[str, Any]:
        chosen = json.loads(asked["filter"][0])
        users = [one["value"] for one in chosen if one["column"] == "userId"]
        tags = {tag for one in chosen if one["column"] == "traceTags" for tag in one["value"]}
        since = next(one["value"] for one in chosen if (one["column"], one["operator"]) == ("startTime", ">="))
        until = next(one["value"] for one in chosen if (one["column"], one["operator"]) == ("startTime", "<"))
        rows = [
            _new(one, trace)
            for trace in self.traces
            for one in trace["observations"]
            if (not users or trace["userId"] in users) and tags <= set(trace.get("tags", ()))
        ]
        rows = [one for one in rows if since <= one["startTime"] < until]
        first = json.loads(base64.b64decode(asked["cursor"][0]))["lastId"] if "cursor" in asked else 0
        part, rest = rows[first : first + self.page], rows[first + self.page :]
        cursor = base64.b64encode(json.dumps({"lastId": first + self.page}).encode()).decode()
        return {"data": part, "meta": {"cursor": cursor} if rest else {}}

    def _numbered(self, rows: list[dict[str, Any]], asked: dict[str, list[str]]) -> dict[str, Any]:
        number = int(asked.get("page", ["1"])[0])
        first = (number - 1) * self.page
        pages = -(-len(rows) // self.page)
        meta = {"page": number, "limit": self.page, "totalItems": len(rows), "totalPages": pages}
        return {"data": rows[first : first + self.page], "meta": meta}

    def score(self, body: Any) -> tuple[int, Any]:
        """A score by its id: alone, or in a list of the newest servers."""
        if isinstance(body, list) != (self.version > 4):
            return 400, {"message": TOLD}
        for one in body if isinstance(body, list) else [body]:
            if one["name"] in self.unwanted:
                return 207, {"accepted": 0, "rejected": 1, "errors": [{"message": TOLD}]}
            self.scores[one["id"]] = one
        return (202, {"message": "Accepted"}) if isinstance(body, list) else (200, {"id": body["id"]})

    # Phoenix

    def phoenix(self, path: str, asked: dict[str, list[str]]) -> tuple[int, Any]:
        if unquote(path) != "/v1/projects/my assistant/spans":
            return 404, {"detail": TOLD}
        since, until = asked["start_time"][0], asked["end_time"][0]
        rows = [one for one in self.spans if since <= _utc(one["start_time"]) < until]
        if names := asked.get("name"):
            rows = [one for one in rows if one["name"] in names]
        first = int(asked["cursor"][0]) if "cursor" in asked else 0
        following = str(first + self.page) if rows[first + self.page :] else None
        return 200, {"data": rows[first : first + self.page], "next_cursor": following}

    def annotate(self, body: dict[str, Any]) -> tuple[int, Any]:
        known = {one["context"]["span_id"]: one for one in self.spans}
        for one in body["data"]:
            if one["span_id"] not in known:
                return 404, {"detail": f"Spans with IDs {one['span_id']} do not exist."}
            if one.get("identifier"):
                return 422, {"detail": TOLD}
        for one in body["data"]:
            self.annotations[one["span_id"], one["document_position"], one["name"]] = one
        return 200, {"data": [{"id": str(number)} for number, _ in enumerate(body["data"])]}


def _utc(text: str) -> str:
    return text.replace("+00:00", "Z")


def _new(one: dict[str, Any], trace: dict[str, Any]) -> dict[str, Any]:
    """An observation as version 4 has it: what was sent and answered as texts, and what its trace tells."""
    output = one["output"] if one["output"] is None else json.dumps(one["output"])
    return {
        **_plain(one), "input": json.dumps(one["input"]), "output": output, "userId": trace["userId"],
        "sessionId": trace["sessionId"], "isRootObservation": False, "bookmarked": False, "public": False,
        "modelId": None, "inputPrice": None, "outputPrice": None, "totalPrice": None,
    }  # fmt: skip


def _old(one: dict[str, Any]) -> dict[str, Any]:
    """The same as version 3 has it: it tells nothing of its trace."""
    usage = {"input": 0, "output": 0, "total": 0, "unit": "TOKENS"}
    return {
        **_plain(one), "input": one["input"], "output": one["output"], "completionStartTime": None, "model": None,
        "modelParameters": None, "usage": usage, "usageDetails": {}, "costDetails": {}, "promptId": None,
        "createdAt": _utc(one["startTime"]), "updatedAt": _utc(one["startTime"]),
    }  # fmt: skip


def _plain(one: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": one["id"], "traceId": one["traceId"], "type": one["type"], "name": one["name"],
        "startTime": _utc(one["startTime"]), "endTime": _utc(one["endTime"]), "projectId": "p1",
        "parentObservationId": None, "level": "DEFAULT", "statusMessage": None, "version": None,
        "environment": "production", "metadata": {},
    }  # fmt: skip


def _trace(one: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": one["id"], "timestamp": _utc(one["timestamp"]), "name": "ask", "userId": one["userId"],
        "sessionId": one["sessionId"], "release": None, "version": None, "public": False, "environment": "production",
        "tags": one.get("tags", []), "input": None, "output": None, "metadata": None, "htmlPath": "/trace",
        "latency": -1, "totalCost": -1, "observations": [], "scores": [],
    }  # fmt: skip


def _phoenix_spans(searched: Sequence[Searched]) -> list[dict[str, Any]]:
    """As GET /v1/projects/…/spans has them: the newest first, attributes by dotted names."""
    found = []
    for number, one in enumerate(phoenix_records(searched)):
        attributes = {name.removeprefix("attributes."): value for name, value in one.items() if "attributes." in name}
        documents = attributes.pop("retrieval.documents", [])
        for place, document in enumerate(documents):
            attributes |= {f"retrieval.documents.{place}.{name}": value for name, value in document.items()}
        documents = attributes.pop("reranker.output_documents", [])
        for place, document in enumerate(documents):
            attributes |= {f"reranker.output_documents.{place}.{name}": value for name, value in document.items()}
        found.append(
            {
                "id": base64.b64encode(f"Span:{number}".encode()).decode(),
                "name": one["name"],
                "context": {"trace_id": one["context.trace_id"], "span_id": f"{number:016x}"},
                "span_kind": one["span_kind"],
                "parent_id": None,
                "start_time": one["start_time"],
                "end_time": one["end_time"],
                "status_code": one["status_code"],
                "status_message": "",
                "attributes": attributes,
                "events": [],
            }
        )
    return found[::-1]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    state: TraceServer

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = parse_qs(parts.query)
        of = self.state.langfuse if parts.path.startswith("/api/public/") else self.state.phoenix
        self._answer(parts.path, lambda: of(parts.path, asked))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        parts = urlsplit(self.path)
        of = self.state.score if parts.path == "/api/public/scores" else self.state.annotate
        self._answer(parts.path, lambda: of(body))

    def _answer(self, path: str, made: Any) -> None:
        self.state.seen.append(self.path)
        if len(self.state.seen) == self.state.held_at:
            self.state.go_on.wait(60)
        if self.state.failures:
            status, headers = self.state.failures.pop(0)
            return self._send(status, {"message": TOLD}, headers)
        pair = base64.b64encode(f"{PUBLIC}:{SECRET}".encode()).decode()
        expected = f"Basic {pair}" if path.startswith("/api/public/") else f"Bearer {KEY}"
        if self.headers.get("Authorization") != expected:
            return self._send(401, {"message": f"{TOLD}: {self.headers.get('Authorization')}"}, {})
        self._send(*made(), {})

    def _send(self, status: int, value: Any, headers: dict[str, str]) -> None:
        content = json.dumps(value).encode()
        with suppress(OSError):  # whoever was killed does not read it
            self._write(status, content, headers)

    def _write(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, one in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, one)
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def running_traces(searched: Sequence[Searched], **options: Any) -> Iterator[TraceServer]:
    """A server that Karat may ask, until the block ends."""
    state = TraceServer(searched, **options)
    handler = type("Bound", (Handler,), {"state": state})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        state.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            with override_settings(OUTBOUND_ALLOW=parse_openings([f"127.0.0.1:{server.server_port}"])):
                yield state
        finally:
            server.shutdown()
            thread.join()
