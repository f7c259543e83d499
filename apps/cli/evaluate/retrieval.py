"""Retrieval from an outside system for every query of a release; answers are stored as they arrive."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from apps.cli.evaluate.answers import AnswerFile, SystemAnswer, answer_of
from apps.cli.evaluate.program import CommandEngine, run_command
from apps.cli.evaluate.released import ReleasedQuery
from apps.common.web.addresses import parse_openings, parse_url
from apps.metrics.expected.rules import Returned
from apps.retrieval.core.engines.remote import (
    Answers,
    Pace,
    RemoteConnection,
    RemoteEngine,
    RemoteQuery,
    search_all,
)
from apps.retrieval.core.engines.remote.connection import http_connection

PARTS_PER_LANE = 5
EVERYWHERE = parse_openings(["0.0.0.0/0", "::/0"])
"""Any address is allowed: on the command line, whoever types it sends the request from their own machine."""


class RetrievalOutcome(NamedTuple):
    """`failed` maps the queries without an answer to the reason; `stopped` is why the others were not sent."""

    answers: dict[str, SystemAnswer]
    failed: dict[str, str]
    stopped: str


class _Ids:
    """Numbers for the ids of one part, in bytewise order, so that ties are always cut the same way."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def locate(self, ids: Collection[str]) -> Mapping[str, int]:
        self.names = sorted(ids, key=str.encode)
        return {name: number for number, name in enumerate(self.names)}


def retrieve(
    engine: RemoteEngine,
    queries: Sequence[ReleasedQuery],
    file: AnswerFile,
    *,
    k: int,
    pace: Pace,
    headers: Mapping[str, str] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> RetrievalOutcome:
    """Retrieve results for the queries without an answer in the file. `progress` gets the counts of answered and of
    all queries.

    The answers of each part are in the file before the next part is sent. Raises OtherRun, InputError and BadAddress.
    """
    answers = {key: one for key, one in file.read().items() if key in {query.query_id for query in queries}}
    open_queries = [query for query in queries if query.query_id not in answers]
    progress(len(answers), len(queries))
    failed: dict[str, str] = {}
    with _line_to(engine, pace, headers or {}) as (line, ids):
        step = max(1, pace.at_once) * PARTS_PER_LANE
        for first in range(0, len(open_queries), step):
            part = [RemoteQuery(query.query_id, query.text) for query in open_queries[first : first + step]]
            results = search_all(engine, line, part, k)
            told = engine.told if isinstance(engine, CommandEngine) else {}
            fresh = _answers(part, results, ids.names, told)
            told.clear()
            if fresh:
                file.add(fresh)
            answers |= {answer.query_id: answer for answer in fresh}
            failed |= {one.query_id: one.sentence for one in results.failed}
            progress(len(answers), len(queries))
            if results.stopped:
                return RetrievalOutcome(answers, failed, results.stopped)
    return RetrievalOutcome(answers, failed, "")


def _answers(
    part: Sequence[RemoteQuery], results: Answers, names: Sequence[str], told: Mapping[str, Returned]
) -> list[SystemAnswer]:
    """The answers of one part; `told` is what the system tells of passages of its own, by the ids of hits."""
    answers = []
    for place, number in enumerate(results.answered):
        query, seconds = part[number].query_id, float(results.hits.seconds[place])
        if results.passages is not None:
            answers.append(answer_of(query, results.passages[place], seconds))
            continue
        positions, scores = results.hits.of(place)
        hits = tuple((names[position], score) for position, score in zip(positions, scores.tolist(), strict=True))
        is_told = any(name in told for name, _ in hits)
        passages = tuple(told.get(name, Returned(name)) for name, _ in hits) if is_told else ()
        answers.append(SystemAnswer(query, hits, seconds, passages))
    return answers


@contextmanager
def _line_to(engine: RemoteEngine, pace: Pace, headers: Mapping[str, str]) -> Iterator[tuple[RemoteConnection, _Ids]]:
    ids = _Ids()
    if isinstance(engine, CommandEngine):
        yield RemoteConnection(lambda request: run_command(request, seconds=pace.whole), ids.locate, pace), ids
        return
    with http_connection(parse_url(engine.address), ids.locate, pace, headers=headers, openings=EVERYWHERE) as line:
        yield line, ids
