"""A receiver of webhooks as strict as Standard Webhooks asks, written from the specification and nothing of ours.

It answers 401 to what is not signed under its secret or is older than five minutes, and 200 to a message whose id it
has had, which it does not take again.
"""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

TOLERANCE_SECONDS = 300


class Receiver:
    def __init__(self, secret: str) -> None:
        self.secret = secret
        self.taken: dict[str, Any] = {}
        self.arrivals: list[int] = []
        self.signatures: list[str] = []
        self.answers: list[int] = []  # what to answer next, whatever comes
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def judge(self, headers: Any, body: bytes) -> int:
        """The status to answer with."""
        message_id, sent_at = headers["webhook-id"], headers["webhook-timestamp"]
        self.signatures.append(headers["webhook-signature"])
        if self.answers:
            return self.answers.pop(0)
        if abs(time.time() - int(sent_at)) > TOLERANCE_SECONDS or not self.is_ours(message_id, sent_at, headers, body):
            return 401
        message = json.loads(body)
        assert set(message) == {"type", "timestamp", "data"}
        self.taken.setdefault(message_id, message)
        return 200

    def is_ours(self, message_id: str, sent_at: str, headers: Any, body: bytes) -> bool:
        key = base64.b64decode(self.secret.split("_", 1)[1])
        signed = b".".join([message_id.encode(), sent_at.encode(), body])
        ours = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        given = [each.split(",", 1) for each in headers["webhook-signature"].split(" ")]
        return any(version == "v1" and hmac.compare_digest(value, ours) for version, value in given)


@contextmanager
def receiving(secret: str) -> Iterator[Receiver]:
    receiver = Receiver(secret)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = receiver.judge(self.headers, body)
            receiver.arrivals.append(status)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()
