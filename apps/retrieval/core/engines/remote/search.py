"""Asking another side for many rankings: several at once, again when it stumbles, and told apart when it fails."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from apps.retrieval.core.engines.base import Hits, Ranked, gathered
from apps.retrieval.core.engines.remote.base import (
    Locate,
    RemoteAnswer,
    RemoteEngine,
    RemoteError,
    RemoteHit,
    RemoteQuery,
    Send,
    texts_as_asked,
)
from apps.retrieval.core.engines.remote.pace import LONGEST_WAIT, Gate, Pace
from apps.retrieval.core.engines.remote.report import RemoteReport
from apps.retrieval.core.ranking import in_order


@dataclass
class RemoteLine:
    """An open line to the other side, the handle of an engine without an index.

    `send` raises RemoteError when no answer comes; `locate` gives the positions of those ids that are blocks.
    """

    send: Send
    locate: Locate
    pace: Pace = field(default_factory=Pace)

    def __post_init__(self) -> None:
        self.gate = Gate(self.pace.per_second)
        self.lock = threading.Lock()
        self.failed_in_a_row = 0


class Failed(NamedTuple):
    query_id: str
    sentence: str


class Answers(NamedTuple):
    """`found` has an entry for each of `answered` (numbers of the queries asked), in that order. `stopped` is why
    the rest was not asked, "" when all were.
    """

    found: Hits
    answered: list[int]
    failed: list[Failed]
    stopped: str
    report: RemoteReport


def search(engine: RemoteEngine, handle: RemoteLine, queries: Sequence[str], k: int) -> Hits:
    """As every engine searches. Raises RemoteError for the first query that was not answered."""
    answers = ask_all(engine, handle, texts_as_asked(queries), k)
    if answers.failed:
        raise RemoteError(answers.failed[0].sentence)
    return answers.found


def ask_all(
    engine: RemoteEngine,
    line: RemoteLine,
    queries: Sequence[RemoteQuery],
    k: int,
    beat: Callable[[], None] = lambda: None,
) -> Answers:
    """The best `k` blocks of each query that was answered. `beat` is called after each; what it raises stops all."""
    turn = _Turn(engine, line, k)
    outcomes: dict[int, _Outcome] = {}
    with ThreadPoolExecutor(line.pace.at_once, thread_name_prefix="ask") as pool:
        waiting: dict[Future[_Outcome | None], int] = {
            pool.submit(turn.ask, query): number for number, query in enumerate(queries)
        }
        try:
            for future in as_completed(waiting):
                outcome = future.result()
                if outcome is not None:
                    outcomes[waiting[future]] = outcome
                beat()
        except BaseException:
            line.gate.stop()
            pool.shutdown(cancel_futures=True)
            raise
    return _collected(queries, outcomes, turn.stopped, line, k)


class _Outcome(NamedTuple):
    reading: RemoteAnswer | None
    seconds: float
    retries: int
    failure: str


class _Turn:
    """One round of questions. Counts failures in a row and stops asking when there are too many."""

    def __init__(self, engine: RemoteEngine, line: RemoteLine, k: int) -> None:
        self._engine = engine
        self._line = line
        self._k = k
        self.stopped = ""

    def ask(self, query: RemoteQuery) -> _Outcome | None:
        """None when the round was stopped before the query had its answer."""
        pace, retries = self._line.pace, 0
        for attempt in range(1, pace.tries + 1):
            wait = pace.wait_before(attempt, query.query_id) if attempt > 1 else 0.0
            if not self._line.gate.sleep(wait) or not self._line.gate.sleep(self._line.gate.take()):
                return None
            retries = attempt - 1
            try:
                return self._answered(query, retries)
            except RemoteError as error:
                if not error.is_passing or attempt == pace.tries or not self._may_wait(error):
                    return self._failed(error, retries)
        raise AssertionError("every try ends in an answer, a failure or another try")

    def _answered(self, query: RemoteQuery, retries: int) -> _Outcome:
        reply = self._line.send(self._engine.request(query, self._k))
        began = time.perf_counter()
        reading = self._engine.read(reply)
        seconds = reply.seconds + time.perf_counter() - began
        with self._line.lock:
            self._line.failed_in_a_row = 0
        return _Outcome(reading, seconds, retries, "")

    def _may_wait(self, error: RemoteError) -> bool:
        """Hold everybody back for as long as the other side asked; False when that is too long."""
        if error.wait is None:
            return True
        if error.wait > LONGEST_WAIT:
            return False
        self._line.gate.hold(error.wait)
        return True

    def _failed(self, error: RemoteError, retries: int) -> _Outcome:
        with self._line.lock:
            self._line.failed_in_a_row += 1
            is_hopeless = error.is_final or self._line.failed_in_a_row >= self._line.pace.stop_after
            if is_hopeless and not self.stopped:
                self.stopped = error.sentence
                self._line.gate.stop()
        return _Outcome(None, 0.0, retries, error.sentence)


def _collected(
    queries: Sequence[RemoteQuery], outcomes: dict[int, _Outcome], stopped: str, line: RemoteLine, k: int
) -> Answers:
    report, failed, answered = RemoteReport(), [], []
    for number, query in enumerate(queries):
        outcome = outcomes.get(number)
        if outcome is None:
            continue
        report.retries += outcome.retries
        if outcome.reading is None:
            failed.append(Failed(query.query_id, outcome.failure))
            continue
        answered.append(number)
        if outcome.reading.incomplete:
            report.add_incomplete(query.query_id, outcome.reading.incomplete)
    readings = {number: outcomes[number].reading for number in answered}
    known = line.locate({hit.id for reading in readings.values() if reading for hit in reading.hits})
    rankings = [
        ranked(queries[number].query_id, reading.hits, known, k, report)
        for number, reading in readings.items()
        if reading is not None
    ]
    seconds = np.array([outcomes[number].seconds for number in answered], dtype=np.float64)
    return Answers(gathered(rankings, seconds), answered, failed, stopped, report)


def ranked(query_id: str, hits: Sequence[RemoteHit], known: Mapping[str, int], k: int, report: RemoteReport) -> Ranked:
    """Positions and scores of the hits that are blocks, at most `k`, in a ranking's order.

    What is no block is left out and the ranks below close up; of a block that comes twice the first counts.
    Without scores the n-th block left gets 1/n.
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
