"""Loading passages into an index of OpenSearch or Elasticsearch, checking them, and dropping the index."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from apps.retrieval.core.engines.remote.base import (
    PASSING,
    RemoteError,
    Reply,
    Request,
    Send,
    check_status,
    parsed,
)
from apps.retrieval.core.engines.remote.opensearch import error_type
from apps.retrieval.core.engines.remote.search import Pace
from apps.retrieval.core.engines.remote.servers import Server, mapping_of, mapping_refusal, mark_of, server_of

MOST_PASSAGES = 500
MOST_BYTES = 5_000_000
LONGEST_PAUSE = 600.0
"""A server that asks for a longer pause, in seconds, is not waited for."""

JSON, LINES = "application/json", "application/x-ndjson"


class WrongIndex(RemoteError):
    """The index there is not the one it should be. The sentence says what to do."""


class PushedPassage(NamedTuple):
    """One passage of a snapshot; `vector` is empty when the index has none, or the passage no words."""

    place: int
    block: str
    title: str
    section: str
    text: str
    digest: str
    vector: Sequence[float] = ()

    def lines(self) -> bytes:
        """Its two lines of a bulk request. The place is its id, so that sending it again changes nothing."""
        source: dict[str, Any] = {
            "block": self.block,
            "title": self.title,
            "section": self.section,
            "text": self.text,
            "digest": self.digest,
        }
        if len(self.vector):
            source["vector"] = list(self.vector)
        action = json.dumps({"index": {"_id": str(self.place)}})
        return f"{action}\n{json.dumps(source, ensure_ascii=False)}\n".encode()


def first_piece(passages: Sequence[PushedPassage]) -> list[PushedPassage]:
    """As many of the first passages as one request may carry, and at least one."""
    size, piece = 0, list[PushedPassage]()
    for passage in passages[:MOST_PASSAGES]:
        size += len(passage.lines())
        if piece and size > MOST_BYTES:
            break
        piece.append(passage)
    return piece


@dataclass
class Loader:
    """Requests to one index. `path` is what comes before it in the address; `wait` waits that many seconds.

    A request is sent again when no answer comes, and after 408, 425, 429, 500 and 502 to 504, as often as the pace
    says. Raises RemoteError for everything else.
    """

    send: Send
    path: str
    index: str
    pace: Pace
    wait: Callable[[float], None]

    def server(self) -> Server:
        return server_of(self._ask("GET", "/"))

    def prepare(self, body: Mapping[str, Any]) -> bool:
        """Create the index; False when it is there already, as `body` describes it."""
        if self._is_there(body):
            return False
        reply = self._ask("PUT", f"/{self.index}", _json(body), allowed={400})
        if reply.status == 400:
            # An earlier try may have succeeded although its answer was lost.
            if error_type(reply).startswith("resource_already_exists") and self._is_there(body):
                return True
            check_status(reply, error_type(reply))
        return True

    def _is_there(self, body: Mapping[str, Any]) -> bool:
        mapping = self._mapping()
        if mapping is None:
            return False
        if reason := mapping_refusal(mapping, body):
            raise WrongIndex(f"{reason} Drop {self.index} there, if nobody needs it, then retry.")
        return True

    def _mapping(self) -> Mapping[str, Any] | None:
        reply = self._ask("GET", f"/{self.index}/_mapping", allowed={404})
        if reply.status == 404:
            return None
        return mapping_of(parsed(reply), self.index)

    def load(self, piece: Sequence[PushedPassage]) -> None:
        """Send the passages; those that the server had no room for are sent again, alone."""
        left, attempt = list(piece), 1
        while left:
            body = b"".join(passage.lines() for passage in left)
            reply = self._ask("POST", f"/{self.index}/_bulk", body, content=LINES)
            busy = _not_taken(left, reply)
            attempt = attempt + 1 if len(busy) == len(left) else 2
            left = busy
            if left and attempt > self.pace.tries:
                raise RemoteError(f"The server had no room for {_named(left[0])} after {self.pace.tries} tries.")
            if left:
                self.wait(self.pace.wait_before(attempt, f"{self.index}/{left[0].place}"))

    def check(self, count: int, digests: Mapping[int, str]) -> None:
        """Raise RemoteError unless the index has `count` passages, and at these places passages with these digests."""
        self._ask("POST", f"/{self.index}/_refresh")
        counted = parsed(self._ask("GET", f"/{self.index}/_count"))
        there = counted.get("count") if isinstance(counted, dict) else None
        if there != count:
            raise WrongIndex(
                f"The index has {there if isinstance(there, int) else 'an unknown number of'} passages instead of "
                f"{count}. Drop it and load the snapshot again."
            )
        ids = _json({"ids": [str(place) for place in digests]})
        answer = parsed(self._ask("POST", f"/{self.index}/_mget?_source=digest", ids))
        found = _digests_in(answer)
        for place, digest in digests.items():
            if found.get(str(place)) != digest:
                raise WrongIndex(
                    f"Passage {place + 1} in the index is not that of the snapshot. Drop the index and load it again."
                )

    def drop(self, mark: str) -> None:
        """Delete the index if it is there. Raises RemoteError when it is not the one with this mark."""
        mapping = self._mapping()
        if mapping is None:
            return
        if mark_of(mapping) != mark:
            raise WrongIndex(f"{self.index} is not the index that was loaded here, so it stays.")
        self._ask("DELETE", f"/{self.index}", allowed={404})

    def _ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        content: str = JSON,
        allowed: Collection[int] = (),
    ) -> Reply:
        headers = {"Accept": JSON, **({"Content-Type": content} if body is not None else {})}
        request = Request(method, f"{self.path}{path}", headers, body)
        return asked(self.send, request, self.pace, self.wait, allowed=allowed, reason=error_type)


def asked(
    send: Send,
    request: Request,
    pace: Pace,
    wait: Callable[[float], None],
    *,
    allowed: Collection[int] = (),
    reason: Callable[[Reply], str] = lambda reply: "",
) -> Reply:
    """The reply of success, or with an allowed status, sent again where that may help, as often as the pace says.

    `wait` waits that many seconds. `reason` is what an error of the server says, as far as it is safe to show. Raises
    RemoteError.
    """
    for attempt in range(1, pace.tries + 1):
        try:
            reply = send(request)
            if reply.status not in allowed:
                check_status(reply, reason(reply))
            return reply
        except RemoteError as error:
            pause = pace.wait_before(attempt + 1, request.path) if error.wait is None else error.wait
            if not error.is_passing or attempt == pace.tries or pause > LONGEST_PAUSE:
                raise
            wait(pause)
    raise AssertionError("the last try returns or raises")


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _named(passage: PushedPassage) -> str:
    return f"passage {passage.place + 1:,} ({passage.block[:120]})"


def _not_taken(sent: Sequence[PushedPassage], reply: Reply) -> list[PushedPassage]:
    """The passages to send again. Raises RemoteError for the first one that the server refused for good."""
    answer = parsed(reply)
    items = answer.get("items") if isinstance(answer, dict) else None
    if not isinstance(items, list) or len(items) != len(sent):
        raise RemoteError("The answer does not say of every passage whether it was taken.")
    busy = []
    for passage, item in zip(sent, items, strict=True):
        outcome = item.get("index") if isinstance(item, dict) else None
        status = outcome.get("status") if isinstance(outcome, dict) else None
        if outcome is None or outcome.get("_id") != str(passage.place) or not isinstance(status, int):
            raise RemoteError("The answer does not say of every passage whether it was taken.")
        if status in PASSING:
            busy.append(passage)
        elif not 200 <= status < 300:
            kind = error_type(Reply(status, {}, _json({"error": outcome.get("error")}), 0.0))
            raise RemoteError(f"The server refused {_named(passage)} ({status}{f', {kind}' if kind else ''}).")
    return busy


def _digests_in(answer: Any) -> dict[str, Any]:
    """The digest of each passage that was found, by id."""
    documents = answer.get("docs") if isinstance(answer, dict) else None
    found = {}
    for document in documents if isinstance(documents, list) else []:
        source = document.get("_source") if isinstance(document, dict) else None
        if isinstance(source, dict):
            found[str(document.get("_id"))] = source.get("digest")
    return found
