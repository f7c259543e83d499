"""An OpenID provider for tests, on a thread of this process: an honest one, whose every part a test can make lie.

It signs with keys of its own. What it is asked over HTTP it answers as the standard says; `tell` changes its documents
and the next token, and `raw_token` replaces the token.
"""

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import time
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

CLIENT_ID, CLIENT_SECRET = "karat-client", "a secret: with / and ü"
PERSON = {"sub": "subject-1", "email": "mara@example.org", "email_verified": True, "name": "Mara Quill"}
LEAVE_OUT = object()
"""As the value of a claim or a field: it is missing."""
_KEYS: list[RSAKey] = []


def key(number: int) -> RSAKey:
    """One of the keys of all providers, made when it is first asked for."""
    while len(_KEYS) <= number:
        _KEYS.append(RSAKey.generate_key(2048, {"kid": f"key-{len(_KEYS)}", "use": "sig"}, private=True))
    return _KEYS[number]


class FakeProvider(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.issuer = f"http://127.0.0.1:{self.server_port}"
        self.be_honest()

    def be_honest(self) -> None:
        """As after the start: one person, one key, no lie."""
        self.person: dict[str, Any] = dict(PERSON)
        self.claims: dict[str, Any] = {}
        self.metadata: dict[str, Any] = {}
        self.jwks: dict[str, Any] | None = None
        self.raw_token: str | None = None
        self.token_status = 200
        self.asked: list[str] = []
        self.key: RSAKey | ECKey = key(0)
        self.published: list[RSAKey | ECKey] = [key(0)]
        self.algorithm = "RS256"
        self.names_its_key = True
        self._codes: dict[str, dict[str, str]] = {}

    def rotate(self) -> None:
        """Sign with a new key from now on, and publish it beside the old one."""
        self.key = key(1)
        self.published = [key(0), key(1)]

    def discovery(self) -> dict[str, Any]:
        honest = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "end_session_endpoint": f"{self.issuer}/logout",
            "id_token_signing_alg_values_supported": ["RS256", "PS256", "ES256", "HS256", "none"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        }
        return _without_left_out(honest | self.metadata)

    def keys(self) -> dict[str, Any]:
        return self.jwks if self.jwks is not None else {"keys": [one.as_dict(private=False) for one in self.published]}

    def answer(self, leaving: str) -> dict[str, str]:
        """Sign the person in whose browser was led to `leaving`: the parameters with which it comes back."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(leaving).query).items()}
        code = secrets.token_urlsafe(16)
        self._codes[code] = asked
        return {"code": code, "state": asked["state"], "iss": self.issuer}

    def token(self, nonce: str) -> str:
        now = int(time())
        honest = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 300, "nonce": nonce, **self.person}
        return self.signed(_without_left_out(honest | self.claims))

    def signed(self, claims: dict[str, Any]) -> str:
        head = {"alg": self.algorithm, **({"kid": self.key.kid} if self.names_its_key else {})}
        return jwt.encode(head, claims, self.key, algorithms=[self.algorithm])

    def redeem(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        pair = "karat-client:a%20secret%3A%20with%20%2F%20and%20%C3%BC"
        in_header = authorization == f"Basic {base64.b64encode(pair.encode()).decode()}"
        in_form = (form.get("client_id"), form.get("client_secret")) == (CLIENT_ID, CLIENT_SECRET)
        wants_form = self.discovery().get("token_endpoint_auth_methods_supported") == ["client_secret_post"]
        if (in_form, in_header) != (wants_form, not wants_form):
            return 401, {"error": "invalid_client"}
        asked = self._codes.pop(form["code"], None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode()
        is_theirs = asked is not None and (
            (asked["redirect_uri"], asked["code_challenge"]) == (form["redirect_uri"], challenge.rstrip("="))
        )
        if asked is None or not is_theirs:
            return 400, {"error": "invalid_grant"}
        token = self.raw_token if self.raw_token is not None else self.token(asked["nonce"])
        return self.token_status, {"access_token": "unused", "token_type": "Bearer", "id_token": token}


class _Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # the end of an answer waits for nobody
    server: FakeProvider

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.server.asked.append(parts.path)
        if parts.path == "/.well-known/openid-configuration":
            self._json(200, self.server.discovery())
        elif parts.path == "/jwks":
            self._json(200, self.server.keys())
        elif parts.path == "/authorize":
            back = f"{asked['redirect_uri']}?{urlencode(self.server.answer(self.path))}"
            self._page(f"<h1>Test provider</h1><p><a href='{back}'>Continue as Mara Quill</a></p>")
        elif parts.path == "/logout":
            back = asked["post_logout_redirect_uri"]
            self._page(f"<h1>Signed out at the provider</h1><p><a href='{back}'>Back</a></p>")
        else:
            self._json(404, {})

    def do_POST(self) -> None:
        self.server.asked.append(self.path)
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        self._json(*self.server.redeem(form, self.headers.get("Authorization", "")))

    def _page(self, body: str) -> None:
        self._send(200, "text/html", f"<!doctype html><html lang=en><title>Test</title>{body}".encode())

    def _json(self, status: int, document: Any) -> None:
        self._send(status, "application/json", json.dumps(document).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _without_left_out(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if value is not LEAVE_OUT}


@contextmanager
def running() -> Iterator[FakeProvider]:
    """Such a provider, until the block ends."""
    with FakeProvider() as provider:
        thread = threading.Thread(target=provider.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield provider
        provider.shutdown()
        thread.join()
