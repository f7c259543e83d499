"""Error responses that the server sends before a request reaches Karat: plain text, and problem+json for the API."""

import json
from dataclasses import dataclass

from apps.common.web.body_limits import too_large_in_words
from apps.common.web.problem_json import CONTENT_TYPE, facts_of

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@dataclass(frozen=True)
class Refusal:
    status: int
    title: str
    detail: str
    code: str
    retry_after: int | None = None

    def as_answer(self, path: str) -> bytes:
        """The whole answer, after which the connection is closed."""
        if path.startswith("/api/"):
            kind = CONTENT_TYPE
            facts = facts_of(status=self.status, title=self.title, detail=self.detail, code=self.code)
            body = json.dumps(facts).encode()
        else:
            kind = "text/plain; charset=utf-8"
            body = f"{self.title}. {self.detail}\n".encode()
        head = [
            f"HTTP/1.1 {self.status} {self.title}",
            "Connection: close",
            f"Content-Type: {kind}",
            f"Content-Length: {len(body)}",
            "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options: nosniff",
            "Cache-Control: no-store, private",
        ]
        if self.retry_after is not None:
            head.append(f"Retry-After: {self.retry_after}")
        return "\r\n".join([*head, "", ""]).encode() + body


TOO_SLOW = Refusal(408, "Request Timeout", "The request took too long to arrive. Send it again.", "request_timeout")
UNREADABLE = Refusal(400, "Bad Request", "The request could not be read.", "bad_request")
LONG_HEAD = Refusal(431, "Request Header Fields Too Large", "The head of the request is too long.", "head_too_large")
NO_ROOM = Refusal(
    503,
    "Service Unavailable",
    "The server's disk is full, so nothing can be uploaded. Nothing was saved. Whoever runs Karat has to make room; "
    "then send it again.",
    "no_room",
    retry_after=60,
)


def too_large(limit: int) -> Refusal:
    return Refusal(413, "Content Too Large", too_large_in_words(limit), "payload_too_large")


def path_in(head: bytes | bytearray) -> str:
    """The path of a request whose head is incomplete, as far as it was received."""
    words = bytes(head).lstrip().split(b" ", 2)
    return words[1].decode("latin-1") if len(words) > 1 else ""
