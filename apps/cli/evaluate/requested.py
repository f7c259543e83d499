"""Answers requested from a system: every question of a release is asked, and the answers are saved where wanted."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TextIO

from apps.cli.evaluate import options
from apps.cli.evaluate.answers import AnswerFile, SystemAnswer, answer_of, write_results, write_run
from apps.cli.evaluate.program import CommandEngine, run_command
from apps.cli.evaluate.released import ReleasedQuery, ReleaseSplit
from apps.cli.evaluate.scoring import Answered, fit_answers, from_answers
from apps.common.digests import digest_of
from apps.common.text.wording import plural
from apps.common.web.addresses import parse_openings, parse_url
from apps.metrics.columns import Judged
from apps.metrics.files.run_warnings import remarks_on_blocks
from apps.metrics.vocabulary import Vocabulary
from apps.retrieval.core.engines.remote.base import RemoteEngine, RemoteQuery
from apps.retrieval.core.engines.remote.search import Answers, Pace, RemoteConnection, http_connection, search_all

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
            fresh = _answers(part, results, ids.names)
            if fresh:
                file.add(fresh)
            answers |= {answer.query_id: answer for answer in fresh}
            failed |= {one.query_id: one.sentence for one in results.failed}
            progress(len(answers), len(queries))
            if results.stopped:
                return RetrievalOutcome(answers, failed, results.stopped)
    return RetrievalOutcome(answers, failed, "")


def _answers(part: Sequence[RemoteQuery], results: Answers, names: Sequence[str]) -> list[SystemAnswer]:
    """The answers of one part."""
    answers = []
    for place, number in enumerate(results.answered):
        query, seconds = part[number].query_id, float(results.hits.seconds[place])
        passages = results.told.get(place) if results.passages is None else results.passages[place]
        if passages is not None:
            answers.append(answer_of(query, passages, seconds))
            continue
        positions, scores = results.hits.of(place)
        hits = tuple((names[position], score) for position, score in zip(positions, scores.tolist(), strict=True))
        answers.append(SystemAnswer(query, hits, seconds))
    return answers


@contextmanager
def _line_to(engine: RemoteEngine, pace: Pace, headers: Mapping[str, str]) -> Iterator[tuple[RemoteConnection, _Ids]]:
    ids = _Ids()
    if isinstance(engine, CommandEngine):
        yield RemoteConnection(lambda request: run_command(request, seconds=pace.whole), ids.locate, pace), ids
        return
    with http_connection(parse_url(engine.address), ids.locate, pace, headers=headers, openings=EVERYWHERE) as line:
        yield line, ids


WIDTH = 24
STEP = 0.1


class Progress:
    """A bar on a terminal, else a line for every tenth, so that the log of a pipeline stays short."""

    def __init__(self, out: TextIO, *, is_quiet: bool = False) -> None:
        self._out = out
        self._is_quiet = is_quiet
        self._is_bar = out.isatty()
        self._began = time.monotonic()
        self._had: int | None = None
        self._shown = 0.0

    def __call__(self, done: int, total: int) -> None:
        self._had = done if self._had is None else self._had
        share = done / total if total else 1.0
        if self._is_quiet:
            return
        if self._is_bar:
            filled = round(share * WIDTH)
            bar = "█" * filled + "░" * (WIDTH - filled)
            self._out.write(f"\r{bar} {self._words(done, total)}\x1b[K" + ("\n" if done == total else ""))
        elif done == total or share >= self._shown + STEP:
            self._shown = share
            self._out.write(f"{self._words(done, total)}\n")
        self._out.flush()

    def _words(self, done: int, total: int) -> str:
        fresh, seconds = done - (self._had or 0), time.monotonic() - self._began
        if not fresh or done == total:
            return f"{done:,} of {total:,} queries answered"
        return f"{done:,} of {total:,} queries answered, {(total - done) * seconds / fresh:,.0f} s to go"


ANSWERS_FOLDER = Path(".karat-eval")
NAMED = 3


class NotAnswered(Exception):
    """A system left queries without an answer; the message is a sentence."""


def from_system(
    args: argparse.Namespace,
    engine: options.RemoteEngine,
    pace: options.Pace,
    headers: dict[str, str],
    release: ReleaseSplit,
    judged: Judged | None,
    blocks: Vocabulary,
) -> Answered:
    """The answers to every question. Raises NotAnswered when some are missing; the others are stored for next time."""
    identity = {
        "release": release.digest or release.name,
        "split": release.split,
        "system": {key: value for key, value in engine.identity().items() if key != "auth"},
        "depth": args.depth,
    }
    file = AnswerFile(args.answers or ANSWERS_FOLDER / f"{digest_of(identity)[:16]}.jsonl", identity)
    progress = Progress(sys.stderr, is_quiet=args.quiet)
    asked = release.asked
    outcome = retrieve(engine, asked, file, k=args.depth, pace=pace, headers=headers, progress=progress)
    if len(outcome.answers) < len(asked):
        raise NotAnswered(_unanswered(outcome, len(asked), file))
    answers = [outcome.answers[query.query_id] for query in asked]
    name = args.name or (engine.called if isinstance(engine, CommandEngine) else engine.address)
    if args.save_run:
        write_run(args.save_run, name, answers)
    if args.save_results:
        write_results(args.save_results, answers)
    if not args.answers:
        file.remove()
    words = ""
    if args.fit_ids:
        answers, words = fit_answers(answers, judged, release, blocks)
    answered = from_answers(name, answers, release, judged, blocks)
    remarks = [words] if words else []
    if not words and judged is not None and answered.ranked is not None:
        remarks = list(remarks_on_blocks(answered.ranked, answered.ids, judged))
    for remark in remarks:
        print(f"{name}: {remark}", file=sys.stderr)
    return answered


def _unanswered(outcome: RetrievalOutcome, total: int, file: AnswerFile) -> str:
    """Which queries have no answer, why, and what to do."""
    left = total - len(outcome.answers)
    by_reason: dict[str, list[str]] = {}
    for query, reason in outcome.failed.items():
        by_reason.setdefault(reason, []).append(query)
    sentences = [f"{left:,} of {total:,} queries have no answer, so nothing was scored{_unsent(outcome, left)}."]
    sentences += [f"{some(queries)}: {reason}" for reason, queries in list(by_reason.items())[:NAMED]]
    if others := sum(map(len, list(by_reason.values())[NAMED:])):
        sentences.append(f"{others:,} more for other reasons.")
    if outcome.answers:
        sentences.append(f"The answers so far are saved in {file.path}. Run the same command again to continue.")
    return " ".join(sentences)


def _unsent(outcome: RetrievalOutcome, left: int) -> str:
    """How many queries failed and how many were not sent, where some were not."""
    unsent = left - len(outcome.failed)
    if not unsent:
        return ""
    return f": {len(outcome.failed):,} failed, {plural(unsent, 'was', 'were')} not sent"


def some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")
