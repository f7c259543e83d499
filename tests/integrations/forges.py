"""Doubles of the comments of GitHub and GitLab: as much of their APIs as a job uses, with what was asked of them."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

OURS = {"github": "github-actions[bot]", "gitlab": "karat-bot"}
AUTHOR = {"github": ("user", "login"), "gitlab": ("author", "username")}
LISTS = {"github": "/repos/team/search/issues/7/comments", "gitlab": "/projects/5/merge_requests/7/notes"}
CHANGES = {"github": ("PATCH", "/repos/team/search/issues/comments"), "gitlab": ("PUT", LISTS["gitlab"])}
SECRETS = {"github": ("Authorization", "Bearer forge-secret"), "gitlab": ("PRIVATE-TOKEN", "forge-secret")}


class Forge:
    """The comments of one pull request. `refuses` has the methods that are answered with 403."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.comments: list[dict[str, Any]] = []
        self.asked: list[tuple[str, str]] = []
        self.refuses: set[str] = set()
        self.url = ""

    def add(self, body: str, by: str = "") -> dict[str, Any]:
        who, field = AUTHOR[self.kind]
        comment = {"id": len(self.comments) + 1, "body": body, who: {field: by or OURS[self.kind]}}
        self.comments.append(comment)
        return comment

    @property
    def bodies(self) -> list[str]:
        return [one["body"] for one in self.comments]

    def answer(self, method: str, path: str, headers: Any, body: Any) -> tuple[int, Any]:
        parts = urlsplit(path)
        self.asked.append((method, parts.path))
        name, secret = SECRETS[self.kind]
        if headers.get(name) != secret:
            return 401, {"message": "Bad credentials"}
        if method in self.refuses:
            return 403, {"message": "Resource not accessible by integration"}
        if (method, parts.path) == ("GET", "/user") and self.kind == "gitlab":
            return 200, {"username": OURS[self.kind]}
        if parts.path == LISTS[self.kind]:
            return self._listed(parts.query) if method == "GET" else (201, self.add(body["body"]))
        change, root = CHANGES[self.kind]
        if method == change and parts.path.startswith(f"{root}/"):
            found = [one for one in self.comments if f"{root}/{one['id']}" == parts.path]
            for one in found:
                one["body"] = body["body"]
            return (200, found[0]) if found else (404, {})
        return 404, {}

    def _listed(self, query: str) -> tuple[int, Any]:
        asked = {key: int(values[0]) for key, values in parse_qs(query).items()}
        first = (asked["page"] - 1) * asked["per_page"]
        return 200, self.comments[first : first + asked["per_page"]]


@contextmanager
def running(kind: str) -> Iterator[Forge]:
    """Such a forge, served for the length of the block."""
    forge = Forge(kind)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def serve(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"null")
            status, value = forge.answer(self.command, self.path, self.headers, body)
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_PUT = serve

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    forge.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()
