"""Requests to a server, repeated where that is safe, with growing waits."""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from urllib3 import PoolManager, Timeout
from urllib3.exceptions import HTTPError, LocationValueError
from urllib3.response import BaseHTTPResponse

from apps.cli.client.errors import KaratError, NoAnswer, problem_of
from apps.cli.client.forms import FileForm

PASSING = frozenset({429, 503})
"""Answers by which a server says that it has not begun: any request may be sent again."""
LOST = frozenset({500, 502, 504})
"""Answers that leave open whether something was done: only what may be done twice is sent again."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0


class Transport:
    """The connection to one server. `tries` counts the first attempt; `wait` sleeps between two of them."""

    def __init__(
        self, url: str, token: str, *, timeout: float, tries: int, wait: Callable[[float], None] = time.sleep
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise KaratError(f"The address of the server begins with neither https:// nor http://: {url!r}.")
        self.url = url.rstrip("/")
        self._headers = {"Accept": "application/json", "User-Agent": "karat-client"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._pool = PoolManager(retries=False, timeout=Timeout(connect=10, read=timeout))
        self._tries, self._wait = max(1, tries), wait

    def close(self) -> None:
        self._pool.clear()

    def ask(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        form: FileForm | None = None,
        repeatable: bool,
        stream: bool = False,
    ) -> BaseHTTPResponse:
        """The answer, 2xx. Raises Problem for any other, NoAnswer for none.

        A write has an Idempotency-Key, the same in every attempt, and a body as JSON or a form. `repeatable` says that
        a second one has no effect, so that it is sent again even if the first may have arrived.
        """
        query = {name: value for name, value in (params or {}).items() if value is not None}
        url = f"{self.url}{path}" + (f"?{urlencode(query)}" if query else "")
        headers, data = dict(self._headers), None
        if method != "GET":
            headers |= {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())}
            data = None if form else json.dumps({} if body is None else body).encode()
        if form:
            headers |= form.headers
        for attempt in range(1, self._tries + 1):
            is_last = attempt == self._tries
            try:
                answer = self._pool.request(
                    method,
                    url,
                    headers=headers,
                    body=form.pieces() if form else data,
                    redirect=False,
                    preload_content=not stream,
                )
            except (HTTPError, LocationValueError) as fault:
                if is_last or not repeatable:
                    raise NoAnswer(f"No answer from {self.url}: {fault}") from fault
                self._wait(wait_after(attempt, ""))
                continue
            if 200 <= answer.status < 300:
                return answer
            may_again = answer.status in PASSING or (repeatable and answer.status in LOST)
            if is_last or not may_again:
                raise problem_of(answer.status, answer.data, answer.headers.get("X-Request-Id", ""))
            answer.drain_conn()
            self._wait(wait_after(attempt, answer.headers.get("Retry-After", "")))
        raise AssertionError("the last attempt returns or raises")


def wait_after(attempt: int, retry_after: str) -> float:
    """Seconds until the next attempt: what the server asks for, else doubled each time, spread so that many clients
    do not come back at once. At most half a minute."""
    if retry_after.isdecimal():
        return min(float(retry_after), LONGEST_WAIT)
    return min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT) * random.uniform(0.5, 1.0)
