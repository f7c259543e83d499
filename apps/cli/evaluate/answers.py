"""A file with a system's answers, written as they arrive, so that a stopped run can continue."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from apps.common.errors import InputError
from apps.metrics.expected.rules import Returned
from apps.retrieval.core.ranking import as_results, as_stored, from_stored


class SystemAnswer(NamedTuple):
    """The answer to a query: (block id, score) pairs, best first, and its latency in seconds.

    `told` has the passage of each pair where the system tells more than ids, else nothing. A passage without an id has
    one of ours among the pairs.
    """

    query_id: str
    hits: tuple[tuple[str, float], ...]
    seconds: float
    told: tuple[Returned, ...] = ()

    @property
    def passages(self) -> tuple[Returned, ...]:
        """What was returned, best first."""
        return self.told or tuple(Returned(block) for block, _ in self.hits)


def answer_of(query_id: str, passages: Sequence[Returned], seconds: float) -> SystemAnswer:
    """Passages as an answer: an id counts where it stands first, and the order counts as scores."""
    names = [told.id or f"passage {place}" for place, told in enumerate(passages, 1)]
    first = {name: place for place, name in reversed(list(enumerate(names, 1)))}
    hits = tuple((name, 1 / place) for name, place in sorted(first.items(), key=lambda pair: pair[1]))
    return SystemAnswer(query_id, hits, seconds, tuple(passages))


class OtherRun(Exception):
    """The file contains answers of another system, release or depth; the message is a sentence."""


class AnswerFile:
    """Answers as JSON lines after a heading with system, release and depth.

    A last line cut off by a killed process is dropped when the file is read again.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self.path = path
        self.identity = dict(identity)

    def read(self) -> dict[str, SystemAnswer]:
        """The answers so far by query id; empty without a file. Raises OtherRun and InputError."""
        if not self.path.exists():
            return {}
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            with self.path.open("r+b") as stream:
                stream.truncate(len(whole))
        lines = whole.decode(errors="replace").split("\n")[:-1]
        if not lines:
            return {}
        if self._values(lines[0], 1) != self.identity:
            raise OtherRun(
                f"{self.path} contains answers to another release, system or depth. Name another file with --answers, "
                "or delete it."
            )
        answers = [self._answer(line, number) for number, line in enumerate(lines[1:], 2)]
        return {answer.query_id: answer for answer in answers}

    def add(self, answers: Iterable[SystemAnswer]) -> None:
        """Append answers; they are on disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self.path.exists() or self.path.stat().st_size == 0
        with self.path.open("a", encoding="utf-8") as stream:
            if is_new:
                stream.write(_line(self.identity))
            for answer in answers:
                told = {"passages": as_stored(answer.told)} if answer.told else {}
                stream.write(
                    _line({"query_id": answer.query_id, "hits": answer.hits, "seconds": answer.seconds, **told})
                )

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        with suppress(OSError):
            self.path.parent.rmdir()

    def _answer(self, line: str, number: int) -> SystemAnswer:
        values = self._values(line, number)
        try:
            hits = tuple((str(block), float(score)) for block, score in values["hits"])
            told = tuple(from_stored(values.get("passages", [])))
            return SystemAnswer(str(values["query_id"]), hits, float(values["seconds"]), told)
        except (KeyError, TypeError, ValueError):
            raise InputError(str(self.path), number, "", "", "is not an answer of karat eval.") from None

    def _values(self, line: str, number: int) -> dict[str, Any]:
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            raise InputError(str(self.path), number, "", "", "is not a JSON object.")
        return values


def _line(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, sort_keys=True) + "\n"


def write_results(path: Path, answers: Iterable[SystemAnswer]) -> None:
    """Write a JSON line for each returned passage, as `karat score --results` reads it.

    One that says nothing has an id of its place, so that it keeps its rank when the file is read.
    """
    rows = (
        {"qid": answer.query_id, "rank": rank, **(stored or {"id": f"empty-{rank}"})}
        for answer in answers
        for rank, stored in enumerate(as_results(answer.passages), 1)
    )
    path.write_text("".join(map(_line, rows)), encoding="utf-8")


SPACE = re.compile(r"\s")


def write_run(path: Path, tag: str, answers: Sequence[SystemAnswer]) -> None:
    """Write `query Q0 block rank score tag` lines, best first.

    Raises InputError for an id with white space, and where a passage has none.
    """
    lines = []
    for answer in answers:
        if not all(passage.id for passage in answer.passages):
            message = "a returned passage has no id, and a TREC run has nothing but ids. Use --save-results."
            raise InputError(str(path), None, "query", answer.query_id, message)
        for rank, (block, score) in enumerate(answer.hits, 1):
            for field, value in (("query", answer.query_id), ("block", block)):
                if SPACE.search(value) or not value:
                    raise InputError(str(path), None, field, value, f"'{value}' is not a valid id in a TREC run.")
            lines.append(f"{answer.query_id} Q0 {block} {rank} {score!r} {SPACE.sub('-', tag)}\n")
    path.write_text("".join(lines), encoding="utf-8")
