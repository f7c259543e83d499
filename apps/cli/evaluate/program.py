"""A local program as a system: it is run once for each query and prints block ids."""

from __future__ import annotations

import re
import shlex
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, ClassVar

from apps.common.digests import digest_of
from apps.metrics.expected.rules import Returned
from apps.retrieval.core.engines.base import BadParameters, Parameters
from apps.retrieval.core.engines.remote.base import (
    Auth,
    RemoteAnswer,
    RemoteError,
    RemoteHit,
    RemoteQuery,
    Reply,
    Request,
    checked_id,
    checked_score,
    parsed,
)
from apps.retrieval.core.engines.remote.own_passages import passage_of

NAME_LENGTH = 16
TOLD = {"document_id": "documents", "text": "texts"}


def hit_of(row: Any, number: int) -> RemoteHit:
    """A result from the columns of a line, an id, or an object; rows are numbered from 1. Raises RemoteError."""
    if isinstance(row, dict):
        return _of_object(row, number)
    if isinstance(row, list):
        return RemoteHit(checked_id(row[0] if row else None, number), _score(row[1], number) if len(row) > 1 else None)
    return RemoteHit(checked_id(row, number), None)


def _of_object(row: Mapping[str, Any], number: int) -> RemoteHit:
    """With document_id, pages or text it is a passage of the program's own; without an id a digest names it."""
    score = None if row.get("score") is None else checked_score(row["score"], number)
    if all(row.get(key) is None for key in ("document_id", "pages", "text")):
        return RemoteHit(checked_id(row.get("id"), number), score)
    if _is_empty(row):
        return RemoteHit(f"empty-{number}", score, Returned())
    first, last = _pages(row.get("pages"), number)
    values = {TOLD[key]: row.get(key) for key in TOLD} | {"first_pages": first, "last_pages": last}
    own = passage_of(values, "" if row.get("id") is None else checked_id(row["id"], number), number)
    return RemoteHit(own.id or f"passage-{digest_of(own)[:NAME_LENGTH]}", score, own)


def _is_empty(row: Mapping[str, Any]) -> bool:
    """Whether a row is a passage without words, which keeps its place and earns nothing."""
    text = row.get("text")
    return isinstance(text, str) and not text.strip() and row.get("id") is None and row.get("document_id") is None


def _pages(value: Any, number: int) -> tuple[Any, Any]:
    """First and last page, from both in a list or from the only one."""
    ends = value if isinstance(value, list) else [value]
    if not 1 <= len(ends) <= 2:
        raise RemoteError(f"The pages of item {number} are not a first and a last page, such as [3, 4].")
    return ends[0], ends[-1]


def _score(text: Any, number: int) -> float:
    try:
        return checked_score(float(text), number)
    except (TypeError, ValueError):
        raise RemoteError(f"The score of item {number} is not a number.") from None


PLACES = ("query", "query_id", "k")
LONGEST_WORD = 200
INTERPRETER = re.compile(r"(python|pypy|node|ruby|perl|php|bash|sh|zsh|Rscript)[0-9.]*\Z")
CODE_OPTIONS = ("-c", "-e", "-ic", "-lc")
DONE = 0


@dataclass(frozen=True)
class CommandEngine:
    """`line` is a command line with the placeholders `{query}`, `{query_id}` and `{k}`; it is not run by a shell.

    Without `{query}` the text of the query is sent on standard input. The program prints one block id a line, best
    first, or id and score separated by a tab; or one JSON list of ids or of objects with `id` and `score`. An object
    may tell of a passage of the program's own with `document_id`, `pages` and `text`, and then needs no `id`.
    """

    line: str
    auth: Auth = field(default_factory=Auth)

    name: ClassVar[str] = "command"

    def __post_init__(self) -> None:
        """Raises BadParameters."""
        if not self.words:
            raise BadParameters("The command is empty.")

    @property
    def words(self) -> list[str]:
        try:
            return shlex.split(self.line)
        except ValueError as fault:
            raise BadParameters(f"The command cannot be split into words: {fault}.") from None

    @property
    def returns_passages(self) -> bool:
        return False

    @property
    def address(self) -> str:
        return self.words[0]

    @property
    def called(self) -> str:
        """The program without its folders; of an interpreter the script or the module that it runs."""
        program, *rest = [PurePath(word).name for word in self.words]
        if not INTERPRETER.match(program):
            return program
        script = next((place for place, word in enumerate(rest) if word and not word.startswith("-")), None)
        before = rest[:script]
        if script is None or any(word in CODE_OPTIONS for word in before):
            return program
        return rest[script] if before[-1:] == ["-m"] else PurePath(rest[script]).stem

    def identity(self) -> Parameters:
        return {"engine": self.name, "line": self.line}

    def request(self, query: RemoteQuery, k: int) -> Request:
        """A request whose path is the words of the command, separated by NUL, which no word can contain."""
        if "\0" in query.text:
            raise RemoteError("The query contains a NUL character, which no command line can contain.")
        values = {"query": query.text, "query_id": query.query_id, "k": str(k)}
        words = [_filled(word, values) for word in self.words]
        takes_words = any("{query}" in word for word in self.words)
        return Request("RUN", "\0".join(words), {}, None if takes_words else f"{query.text}\n".encode())

    def read(self, reply: Reply) -> RemoteAnswer:
        if reply.status != DONE:
            stderr = reply.headers.get("stderr", "")
            raise RemoteError(f"The command ended with code {reply.status}{f': {stderr}' if stderr else ''}.")
        try:
            text = reply.body.decode()
        except UnicodeDecodeError:
            raise RemoteError("The command printed something that is not UTF-8 text.") from None
        rows = parsed(reply) if text.lstrip().startswith("[") else _columns(text)
        return RemoteAnswer([hit_of(row, number) for number, row in enumerate(rows, 1)])


def _filled(word: str, values: dict[str, str]) -> str:
    """The word with its placeholders filled, in one pass: `{k}` in a query stays."""
    pieces, rest = "", word
    while rest:
        name = next((name for name in PLACES if rest.startswith(f"{{{name}}}")), None)
        pieces += values[name] if name else rest[0]
        rest = rest[len(name) + 2 :] if name else rest[1:]
    return pieces


def _columns(text: str) -> list[list[str]]:
    """The columns of each line that is not blank. Only LF and CR LF end a line: ids may contain other separators."""
    rows = [line.removesuffix("\r").split("\t") for line in text.split("\n") if line.removesuffix("\r")]
    for number, row in enumerate(rows, 1):
        if len(row) > 2:
            fault = f"Line {number} of the answer has {len(row)} columns, separated by tabs"
            raise RemoteError(f"{fault}: there must be an id, or an id and a score.")
    return rows


def run_command(request: Request, *, seconds: float) -> Reply:
    """Run the program of a request; the status is its exit code. Raises RemoteError when it does not exist or is too
    slow.
    """
    words = request.path.split("\0")
    began = time.perf_counter()
    try:
        ended = subprocess.run(words, input=request.body or b"", capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise RemoteError(f"The command had not ended after {seconds:g} seconds.", is_timeout=True) from None
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise RemoteError(f"The command {words[0]} cannot be run: {reason}.", is_final=True) from None
    stderr = ended.stderr.decode(errors="replace").strip().splitlines()
    headers = {"stderr": stderr[-1][:LONGEST_WORD]} if stderr else {}
    return Reply(ended.returncode, headers, ended.stdout, time.perf_counter() - began)
