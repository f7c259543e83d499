"""Sending many queries to a remote system: over HTTP, at a pace, in parallel, with retries, one outcome per query."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any, NamedTuple

import numpy as np

from apps.common.web.addresses import Opening, Target
from apps.common.web.outbound import Blocked, Client, OutboundError, RequestLimits, TimedOut, Unreachable
from apps.metrics.expected.rules import Returned
from apps.metrics.statistics.usage import Usage
from apps.retrieval.core.engines.base import NOTHING, BadParameters, Hits, Ranked, joined
from apps.retrieval.core.engines.remote.base import (
    Locate,
    RemoteAnswer,
    RemoteEngine,
    RemoteError,
    RemoteHit,
    RemoteQuery,
    RemoteReport,
    Reply,
    Request,
    Send,
)
from apps.retrieval.core.engines.remote.own_passages import told_in
from apps.retrieval.core.ranking import in_order

LONGEST_WAIT = 60.0
BOUNDS: dict[str, tuple[float, float]] = {
    "at_once": (1, 32),
    "per_second": (0, 10_000),
    "tries": (1, 8),
    "first_wait": (0.01, 30),
    "connect": (0.1, 60),
    "read": (0.1, 300),
    "whole": (0.1, 600),
    "stop_after": (1, 1_000),
}
MOST_HITS = 10_000
"""As many as search servers return at most, unless they are set up otherwise."""


@dataclass(frozen=True)
class Pace:
    """The request limits of a system elsewhere. They are not part of its identity, since they change no answer.

    `per_second` 0 is no limit. The pause before the second try is `first_wait` seconds and doubles for each further
    try, less a random part of up to a half. `connect`, `read` and `whole` are seconds, as in `RequestLimits`.
    After `stop_after` failed queries in a row the other queries are not sent.
    """

    at_once: int = 4
    per_second: float = 0.0
    tries: int = 4
    first_wait: float = 0.5
    connect: float = 5.0
    read: float = 10.0
    whole: float = 30.0
    stop_after: int = 10

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Pace":
        """A pace from plain values; the others have their defaults. Raises BadParameters."""
        known = asdict(cls())
        if unknown := sorted(set(values) - set(known)):
            raise BadParameters(f"“{unknown[0]}” is not a request limit.")
        for name, value in values.items():
            low, high = BOUNDS[name]
            if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
                raise BadParameters(f"{name} must be a number from {low:g} to {high:g}, not {value!r}.")
        converted: dict[str, Any] = {name: type(known[name])(value) for name, value in values.items()}
        return cls(**converted)

    def values(self) -> dict[str, float]:
        return asdict(self)

    def wait_before(self, attempt: int, query_id: str) -> float:
        """Seconds to wait before try `attempt`, from 2. The random part depends only on query and attempt, so it is the
        same in every run.
        """
        longest = min(self.first_wait * 2 ** (attempt - 2), LONGEST_WAIT)
        return longest * (1 - Random(f"{query_id}/{attempt}").random() / 2)


class RateLimiter:
    """Spaces requests evenly, at most `per_second` (0 for no limit), and can pause or stop them all."""

    def __init__(self, per_second: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._gap = 1 / per_second if per_second else 0.0
        self._clock = clock
        self._next = 0.0
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def reserve(self) -> float:
        """Reserve the time of one request; returns the seconds until then."""
        with self._lock:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + self._gap
            return start - now

    def pause(self, seconds: float) -> None:
        """Start no request for that long, except those with a reserved time."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)

    def stop(self) -> None:
        self._stopped.set()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    def sleep(self, seconds: float) -> bool:
        """Wait that long; False as soon as the limiter is stopped."""
        return not self._stopped.wait(seconds) if seconds > 0 else not self.is_stopped


@dataclass
class RemoteConnection:
    """An open connection to a remote system, the handle of an engine without an index.

    `send` raises RemoteError when no answer comes; `locate` returns the positions of the ids that are blocks.
    """

    send: Send
    locate: Locate
    pace: Pace = field(default_factory=Pace)

    def __post_init__(self) -> None:
        self.limiter = RateLimiter(self.pace.per_second)
        self.lock = threading.Lock()
        self.reading = threading.Lock()  # one answer at a time, since a large one takes much memory while it is read
        self.failed_in_a_row = 0


class FailedQuery(NamedTuple):
    query_id: str
    sentence: str


class Answers(NamedTuple):
    """`hits` has an entry for each of `answered` (indices of the queries), in that order. `stopped` is why the other
    queries were not sent, "" when all were. `usage` counts the requests, and of these errors and timeouts. Of an engine
    that returns passages of its own, `passages` has them, in the same order; the hits are empty but for their times.
    Of one that returns blocks, `told` has the answers that tell more than ids, by their place, with empty hits too.
    """

    hits: Hits
    answered: list[int]
    failed: list[FailedQuery]
    stopped: str
    report: RemoteReport
    usage: Usage
    passages: list[list[Returned]] | None = None
    told: Mapping[int, list[Returned]] = {}


def search_all(
    engine: RemoteEngine,
    connection: RemoteConnection,
    queries: Sequence[RemoteQuery],
    k: int,
    after_each: Callable[[], None] = lambda: None,
) -> Answers:
    """The best `k` blocks of each query that was answered.

    `after_each` is called after each query, answered or not; an exception in it stops the whole batch.
    """
    batch = _Batch(engine, connection, k)
    outcomes: dict[int, _Outcome] = {}
    with ThreadPoolExecutor(connection.pace.at_once, thread_name_prefix="search") as pool:
        waiting: dict[Future[_Outcome | None], int] = {
            pool.submit(batch.send, query): number for number, query in enumerate(queries)
        }
        try:
            for future in as_completed(waiting):
                outcome = future.result()
                if outcome is not None:
                    outcomes[waiting[future]] = outcome
                after_each()
        except BaseException:
            connection.limiter.stop()
            pool.shutdown(cancel_futures=True)
            raise
    return _answers_of(queries, outcomes, batch, connection, k, engine.returns_passages)


class _Outcome(NamedTuple):
    reading: RemoteAnswer | None
    seconds: float
    retries: int
    failure: str


class _Batch:
    """Sends the queries of one call. Stops after too many failures in a row."""

    def __init__(self, engine: RemoteEngine, connection: RemoteConnection, k: int) -> None:
        self._engine = engine
        self._connection = connection
        self._k = k
        self.stopped = ""
        self.usage: Usage = {"requests": 0, "errors": 0, "timeouts": 0}

    def _count(self, outcome: str) -> None:
        with self._connection.lock:
            self.usage[outcome] += 1

    def send(self, query: RemoteQuery) -> _Outcome | None:
        """Send a query, with retries; None when the batch was stopped before the query was answered."""
        pace, retries = self._connection.pace, 0
        for attempt in range(1, pace.tries + 1):
            wait = pace.wait_before(attempt, query.query_id) if attempt > 1 else 0.0
            if not self._connection.limiter.sleep(wait) or not self._connection.limiter.sleep(
                self._connection.limiter.reserve()
            ):
                return None
            retries = attempt - 1
            self._count("requests")
            try:
                return self._answered(query, retries)
            except RemoteError as error:
                self._count("timeouts" if error.is_timeout else "errors")
                if not error.is_passing or attempt == pace.tries or not self._may_wait(error):
                    return self._failed(error, retries)
        raise AssertionError("the last attempt always returns")

    def _answered(self, query: RemoteQuery, retries: int) -> _Outcome:
        reply = self._connection.send(self._engine.request(query, self._k))
        with self._connection.reading:
            started = time.perf_counter()
            reading = self._engine.read(reply)
            seconds = reply.seconds + time.perf_counter() - started
        if len(reading.hits) > MOST_HITS:
            raise RemoteError(f"The answer has {len(reading.hits):,} results; at most {MOST_HITS:,} are read.")
        with self._connection.lock:
            self._connection.failed_in_a_row = 0
        return _Outcome(reading, seconds, retries, "")

    def _may_wait(self, error: RemoteError) -> bool:
        """Pause all requests for as long as the server wants; False when that is too long."""
        if error.wait is None:
            return True
        if error.wait > LONGEST_WAIT:
            return False
        self._connection.limiter.pause(error.wait)
        return True

    def _failed(self, error: RemoteError, retries: int) -> _Outcome:
        with self._connection.lock:
            self._connection.failed_in_a_row += 1
            has_to_stop = error.is_final or self._connection.failed_in_a_row >= self._connection.pace.stop_after
            if has_to_stop and not self.stopped:
                self.stopped = error.sentence
                self._connection.limiter.stop()
        return _Outcome(None, 0.0, retries, error.sentence)


def _answers_of(
    queries: Sequence[RemoteQuery],
    outcomes: dict[int, _Outcome],
    batch: _Batch,
    connection: RemoteConnection,
    k: int,
    returns_passages: bool,
) -> Answers:
    report, failed, answered = RemoteReport(), [], []
    for number, query in enumerate(queries):
        outcome = outcomes.get(number)
        if outcome is None:
            continue
        report.retries += outcome.retries
        if outcome.reading is None:
            failed.append(FailedQuery(query.query_id, outcome.failure))
            continue
        answered.append(number)
        if outcome.reading.incomplete:
            report.add_incomplete(query.query_id, outcome.reading.incomplete)
    readings = {number: reading for number in answered if (reading := outcomes[number].reading) is not None}
    seconds = np.array([outcomes[number].seconds for number in answered], dtype=np.float64)
    if returns_passages:
        passages = [_own_ranked(reading.hits, k, report) for reading in readings.values()]
        hits = joined([NOTHING] * len(passages), seconds)
        return Answers(hits, answered, failed, batch.stopped, report, batch.usage, passages)
    told = {place: own for place, reading in enumerate(readings.values()) if (own := told_in(reading.hits))}
    report.cut += sum(max(0, len(own) - k) for own in told.values())
    of_ids = {number: reading.hits for place, (number, reading) in enumerate(readings.items()) if place not in told}
    known = connection.locate({hit.id for hits in of_ids.values() for hit in hits})
    rankings = [
        ranked(queries[number].query_id, of_ids[number], known, k, report) if number in of_ids else NOTHING
        for number in readings
    ]
    own_of = {place: own[:k] for place, own in told.items()}
    return Answers(joined(rankings, seconds), answered, failed, batch.stopped, report, batch.usage, told=own_of)


def _own_ranked(hits: Sequence[RemoteHit], k: int, report: RemoteReport) -> list[Returned]:
    """The passages of an answer, at most `k`: by score, those of equal score and all without scores as they came."""
    ordered = sorted(hits, key=lambda hit: 0.0 if hit.score is None else -hit.score)
    report.cut += max(0, len(ordered) - k)
    return [hit.own for hit in ordered[:k] if hit.own is not None]


def ranked(query_id: str, hits: Sequence[RemoteHit], known: Mapping[str, int], k: int, report: RemoteReport) -> Ranked:
    """Positions and scores of the hits that are blocks, at most `k`, in the order of a ranking.

    Unknown ids are left out and lower hits move up; of a block that comes twice the first hit counts. Without scores
    the n-th remaining block gets 1/n.
    """
    positions: list[int] = []
    scores: list[float] = []
    seen: set[str] = set()
    for hit in hits:
        position = known.get(hit.id)
        if hit.id in seen:
            report.repeated += 1
        elif position is None:
            report.add_unknown(query_id, hit.id)
        else:
            positions.append(position)
            scores.append(1 / len(positions) if hit.score is None else hit.score)
        seen.add(hit.id)
    order = in_order(positions, scores)
    report.cut += max(0, len(order) - k)
    return np.array(positions, dtype=np.int64)[order[:k]], np.array(scores, dtype=np.float64)[order[:k]]


@contextmanager
def http_connection(
    target: Target,
    locate: Locate,
    pace: Pace,
    *,
    headers: Mapping[str, str],
    openings: Sequence[Opening],
    limits: RequestLimits | None = None,
) -> Iterator[RemoteConnection]:
    """A connection that sends `headers` with every request; time limits are those of the pace, or `limits`."""
    limits = limits or RequestLimits(connect=pace.connect, read=pace.read, whole=pace.whole)
    client = Client(target, openings=openings, limits=limits)

    def send(request: Request) -> Reply:
        sent = {**request.headers, **headers}
        try:
            return Reply(*client.ask(request.method, request.path, headers=sent, body=request.body))
        except OutboundError as error:
            raise RemoteError(
                str(error),
                is_passing=isinstance(error, Unreachable),
                is_final=isinstance(error, Blocked),
                is_timeout=isinstance(error, TimedOut),
            ) from None

    try:
        yield RemoteConnection(send, locate, pace)
    finally:
        client.close()
