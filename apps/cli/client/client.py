"""One project on one server, as a token sees it, over a connection that tries again, with the errors of the server."""

from __future__ import annotations

import json
import os
import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal
from urllib.parse import quote, urlencode

from urllib3 import PoolManager, Timeout
from urllib3.exceptions import HTTPError, LocationValueError
from urllib3.response import BaseHTTPResponse

from apps.cli.client import tables
from apps.cli.client.tables import Comparison, Table


class KaratError(Exception):
    """Every error of the client. The text is a sentence to show."""


class NoAnswer(KaratError):
    """No server answered, or what answered is no Karat. Whether a request had an effect is not known."""


class FaultyFile(KaratError):
    """A file that cannot be imported as it is. `errors` has the first mistakes, each with file, line, field, value and
    message; `plan` is the preview of all of it."""

    def __init__(self, name: str, plan: Mapping[str, Any]) -> None:
        self.plan = plan
        self.errors: list[dict[str, Any]] = plan.get("errors", [])
        questions = len(plan.get("questions", []))
        total = plan.get("errors_total", len(self.errors)) - questions
        first = f" The first: {_in_words(self.errors[0])}" if self.errors else ""
        mistakes = "has 1 mistake" if total == 1 else f"has {total:,} mistakes"
        what = mistakes if total or not questions else "needs a decision"
        super().__init__(f"{name} {what}. Nothing was imported.{first}")


def _in_words(error: Mapping[str, Any]) -> str:
    line = f", line {error['line']}" if error["line"] else ""
    field = f", {error['field']}" if error["field"] else ""
    return f"{error['file']}{line}{field}: {error['message']}"


class Problem(KaratError):
    """An error that the server answered with (RFC 9457). Branch on `code`, which is stable, and not on `detail`."""

    def __init__(self, status: int, facts: Mapping[str, Any], request_id: str = "") -> None:
        self.status = status
        self.code = str(facts.get("code") or "")
        self.title = str(facts.get("title") or "")
        self.detail = str(facts.get("detail") or self.title or f"The server answered {status}.")
        self.errors: Any = facts.get("errors") or []
        self.request_id = request_id
        super().__init__(self.detail)


class BadInput(Problem):
    """400, 413, 415: something in the request cannot be used. `errors` lists every mistake, where there are several."""


class Denied(Problem):
    """401, 403: the token is unknown or has ended, or may not do this."""


class NotThere(Problem):
    """404: not there, or not in the project of the token."""


class Rejected(Problem):
    """409: a rule is against it; `code` is its name."""


class NotReady(Problem):
    """429, 503: too early, too often or too much at once, and still so after every attempt."""


KINDS: dict[int, type[Problem]] = {
    400: BadInput,
    401: Denied,
    403: Denied,
    404: NotThere,
    409: Rejected,
    413: BadInput,
    415: BadInput,
    429: NotReady,
    503: NotReady,
}


def problem_of(status: int, body: bytes, request_id: str = "") -> Problem:
    """The error for an answer, also for one that some proxy gave in between, which is no problem+json."""
    try:
        facts = json.loads(body)
    except ValueError:
        facts = {}
    return KINDS.get(status, Problem)(status, facts if isinstance(facts, dict) else {}, request_id)


class FileForm:
    """The file at `path` in the field `file`, after other fields. Raises OSError where it cannot be read."""

    def __init__(self, path: Path, fields: Mapping[str, str]) -> None:
        if path.is_dir():
            raise KaratError(f"{path} is a folder. Pack it as a zip, and send that.")
        self._path = path
        self._boundary = uuid.uuid4().hex
        parts = [
            f'--{self._boundary}\r\nContent-Disposition: form-data; name="{_quoted(name)}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()
        ]
        about = f'Content-Disposition: form-data; name="file"; filename="{_quoted(path.name)}"'
        parts.append(f"--{self._boundary}\r\n{about}\r\nContent-Type: application/octet-stream\r\n\r\n")
        self._head = "".join(parts).encode()
        self._tail = f"\r\n--{self._boundary}--\r\n".encode()
        self._size = path.stat().st_size

    @property
    def headers(self) -> dict[str, str]:
        length = len(self._head) + self._size + len(self._tail)
        return {"Content-Type": f"multipart/form-data; boundary={self._boundary}", "Content-Length": str(length)}

    def pieces(self) -> Iterator[bytes]:
        """The body from its beginning. A file that has grown is sent as far as it was announced."""
        yield self._head
        left = self._size
        with self._path.open("rb") as stream:
            while left and (piece := stream.read(min(PIECE, left))):
                left -= len(piece)
                yield piece
        if left:
            raise KaratError(f"{self._path} became shorter while it was sent.")
        yield self._tail


def _quoted(name: str) -> str:
    """A name between quotation marks, as browsers write it."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


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
        url = f"{self.url}{path}" + (f"?{urlencode(query, doseq=True)}" if query else "")
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


Facts = dict[str, Any]
"""An object as the API describes it at `/api/v1/schema/`."""
ENDED = frozenset({"done", "failed", "cancelled"})
ImportKind = Literal["corpus", "queries", "judgements", "triples", "collection"]
"""What a file holds. A corpus is documents or passages, a collection is a zip of a folder of BEIR or MTEB."""
IMPORTS: dict[str, str] = {
    "corpus": "corpus/imports/",
    "queries": "queries/imports/",
    "judgements": "judging/imports/",
    "triples": "triples/imports/",
    "collection": "collections/imports/",
}
VERSION_COLUMNS = ("gold_set", "version", "state", "released_at")
DROP_COLUMNS = ("query", "text", "baseline", "candidate", "change", "note.decision")
MISS_COLUMNS = ("triple", "question", "expected_answer", "expected_blocks", "finding", "first.id", "first.text")
"""What a notebook shows of the rows; a frame has all."""
AT_WORK = frozenset({"reading", "applying"})
FIRST_LOOK, LONGEST_LOOK = 0.2, 5.0
PIECE = 1 << 20


class Client:
    """The API of one project. Without `token`, the environment variable KARAT_TOKEN.

    Every method raises a `KaratError`: a `Problem` that the server answered with, or `NoAnswer`. What can be repeated
    safely is repeated after lost connections and passing faults, `tries` times in all.
    """

    def __init__(
        self, url: str, project: str, *, token: str | None = None, timeout: float = 60.0, tries: int = 5
    ) -> None:
        key = os.environ.get("KARAT_TOKEN", "") if token is None else token
        self.project = project
        self._root = f"/api/v1/projects/{quote(project, safe='')}/"
        self._transport = Transport(url, key.strip(), timeout=timeout, tries=tries)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._transport.close()

    # Any endpoint ------------------------------------------------------------------------------------------------

    def get(self, path: str, **params: Any) -> Any:
        """The answer of `path`, which is below the project, such as `runs/`."""
        return self._read("GET", path, params=params, repeatable=True)

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, repeatable: bool = False) -> Any:
        """The answer to a write. Say `repeatable` when a second one has no effect: then it survives a lost answer."""
        return self._read("POST", path, body=body, repeatable=repeatable)

    def pages(self, path: str, *, cursor: str = "after", results: str = "results", **params: Any) -> Iterator[Facts]:
        """Every row of a list that comes in pages, which are fetched when they are needed."""
        while True:
            page = self.get(path, **params)
            yield from page[results]
            if page["next"] is None:
                return
            params[cursor] = page["next"]

    def download(self, path: str, to: Path | str, **params: Any) -> Path:
        """Write a file that the server sends to `to`: whole, or not at all."""
        target = Path(to)
        unfinished = target.with_name(f"{target.name}.unfinished")
        answer = self._transport.ask("GET", self._root + path, params=params, repeatable=True, stream=True)
        try:
            with unfinished.open("wb") as stream:
                for piece in answer.stream(PIECE):
                    stream.write(piece)
            unfinished.replace(target)
        except Exception as fault:
            unfinished.unlink(missing_ok=True)
            if isinstance(fault, OSError):
                raise
            raise NoAnswer(f"The answer ended before it was whole: {fault}") from fault
        finally:
            answer.release_conn()
        return target

    def _read(self, method: str, path: str, **asked: Any) -> Any:
        answer = self._transport.ask(method, self._root + path, **asked)
        if not answer.data:
            return None
        try:
            return json.loads(answer.data)
        except ValueError:
            raise NoAnswer(f"What answers at {self._transport.url} is no Karat.") from None

    # Gold versions -----------------------------------------------------------------------------------------------

    def versions(self) -> Table:
        """Every version of every gold set, newest first; unreleased ones for leads only."""
        return Table(self.get("versions/"), columns=VERSION_COLUMNS)

    def version(self, name: str) -> Facts:
        """One version, by a name such as `doors/v2`, with its manifest."""
        found: Facts = self.get(f"versions/{_path(name)}/")
        return found

    def pull(
        self, version: str, to: Path | str, *, form: str = "all", split: str | None = None, runs: Iterable[str] = ()
    ) -> Path:
        """Download a version as a zip in one of its forms: `jsonl`, `trec`, `beir` and so on.

        `runs` are tags of the runs whose scores are features in `letor`.
        """
        return self.download(f"versions/{_path(version)}/export/", to, format=form, split=split, run=list(runs))

    # Runs and scores ---------------------------------------------------------------------------------------------

    def runs(self) -> Iterator[Facts]:
        """Every run, newest first."""
        return self.pages("runs/", cursor="before")

    def push(
        self,
        *,
        snapshot: str,
        system: str,
        tag: str,
        rows: Sequence[Mapping[str, Any]] | None = None,
        trec: str | None = None,
        results: Sequence[Mapping[str, Any]] | None = None,
        commit: str = "",
        note: str = "",
        as_role: str = "",
        usage: Mapping[str, float] | None = None,
        abstains_below: float | None = None,
        skip_unknown: bool = False,
        wait: float = 600.0,
    ) -> Facts:
        """Push a run as `rows`, the text of a TREC run file, or `results`, and return it, once it is stored.

        The same run pushed again is the run that is there. `as_role` is the role for whom the system searched. With
        `abstains_below`, a query whose best score is lower gets no answer.
        """
        given = {name: value for name, value in {"rows": rows, "trec": trec, "results": results}.items() if value}
        if len(given) != 1:
            raise KaratError("Give one of rows, trec and results, and not empty.")
        body: Facts = {"snapshot": snapshot, "system": system, "tag": tag, "commit": commit, "note": note}
        body |= ({"usage": dict(usage)} if usage else {}) | ({"as_role": as_role} if as_role else {})
        body |= {} if abstains_below is None else {"abstains_below": abstains_below}
        answer = self.post("runs/", {**body, "skip_unknown": skip_unknown, **given}, repeatable=True)
        if "job" in answer:
            number = answer["job"]["id"]
            answer = self._until(f"runs/pushes/{number}/", lambda found: found["job"]["state"] in ENDED, wait)
            _must_be_done(answer["job"])
        run: Facts = answer["run"]
        return run

    def score(
        self,
        run: int,
        version: str,
        *,
        split: str = "dev",
        measures: str | None = None,
        hit: str = "",
        wait: float = 600.0,
    ) -> Facts:
        """Have a run scored on a version, and return the scores once they are there, after `wait` seconds at most.

        With `hit`, a hit rule such as `block`, it is scored on the Q&As of the version, else by grades.
        """
        body = {"run": run, "version": self.version(version)["id"], "split": split, "hit": hit}
        body |= {"measures": measures} if measures else {}
        asked = self.post("evaluation/", body, repeatable=split == "dev")  # each look at test is counted
        path = f"evaluation/{asked['id']}/"
        if asked["scored_at"] is None and asked["job"] is not None:
            with suppress(Denied):  # without jobs:read a failure is only known by the time that passes
                self.wait_for(asked["job"], wait=wait)
        return self._until(path, lambda found: found["scored_at"] is not None, wait)

    def leaderboard(self, version: str, *, split: str = "dev", measure: str = "", hit: str = "") -> Table:
        """The runs scored on a split of a version, best first by `measure`, or by the first of the newest evaluation.

        Of each run and measure the newest score counts; `low` and `high` are the interval of the first measure, `n` its
        queries.
        """
        from apps.metrics.comparison import is_lower_better

        number = self.version(version)["id"]
        found = [
            one
            for one in self.pages("evaluation/", cursor="before")
            if (one["version"], one["split"], one["hit"], one["slice"]) == (number, split, hit, None)
        ]
        if measure and not any(score["measure"] == measure for one in found for score in one["scores"]):
            raise KaratError(f"No run has a score of {measure} on {version}, {split or 'both splits'}.")
        title = f"{version}, {split or 'both splits'}, {hit or 'by grades'}"
        return tables.leaderboard(found, measure, title=title, lowest_first=is_lower_better)

    def compare(
        self, baseline: int, candidate: int, *, measure: str | None = None, correction: str | None = None
    ) -> Comparison:
        """Two evaluations compared measure by measure, candidate minus baseline, with the verdict by `measure`."""
        path = f"evaluation/compare/{baseline}/{candidate}/"
        return Comparison(self.get(path, measure=measure, correction=correction))

    def drops(self, baseline: int, candidate: int, *, measure: str | None = None) -> Table:
        """The queries, or Q&As, whose score fell by more than the bar from baseline to candidate, worst first."""
        path = f"evaluation/compare/{baseline}/{candidate}/drops/"
        rows = self.pages(path, results="drops", measure=measure)
        return Table(rows, title=f"Drops from evaluation {baseline} to {candidate}", columns=DROP_COLUMNS)

    def misses(self, evaluation: int, *, measure: str | None = None) -> Table:
        """The Q&As that an evaluation by a hit rule missed, with what was expected and what came first instead."""
        rows = self.pages(f"evaluation/{evaluation}/misses/", results="misses", measure=measure)
        return Table(rows, title=f"Misses of evaluation {evaluation}", columns=MISS_COLUMNS)

    # Imports -----------------------------------------------------------------------------------------------------

    def import_file(
        self, kind: ImportKind, file: Path | str, *, wait: float = 600.0, **options: str | int | bool
    ) -> Facts:
        """Import a file, all of it or nothing, and return the import once it is applied.

        `options` are the fields of the upload. Raises FaultyFile where the preview has mistakes; it is then discarded.
        """
        found = self.preview_import(kind, file, wait=wait, **options)
        if found["state"] != "ready":
            with suppress(KaratError):  # what is told is why it was not imported
                self.discard_import(found)
            raise FaultyFile(found["file"], found["plan"])
        return self.confirm_import(found, wait=wait)

    def preview_import(
        self, kind: ImportKind, file: Path | str, *, wait: float = 600.0, **options: str | int | bool
    ) -> Facts:
        """Upload a file, and return what importing it would do, in `plan`. Its `state` is ready, or faulty.

        Nothing changes before `confirm_import`. An upload whose answer was lost is not sent again.
        """
        if kind not in IMPORTS:
            raise KaratError(f"{kind!r} is no kind of import. There are: {', '.join(IMPORTS)}.")
        fields = {
            name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in options.items()
        }
        found = self._read("POST", IMPORTS[kind], form=FileForm(Path(file), fields), repeatable=False)
        return self._settled(found, wait)

    def confirm_import(self, found: Facts, *, wait: float = 600.0) -> Facts:
        """Import what was previewed, and return the import once it is applied. It is not sent again when the answer
        was lost. Raises FaultyFile where the project has changed so that the file has mistakes now."""
        found = self._settled(self.post(f"{_import_path(found)}confirm/"), wait)
        if found["state"] != "applied":
            raise FaultyFile(found["file"], found["plan"])
        return found

    def discard_import(self, found: Facts) -> Facts:
        """Discard what was previewed, and delete its file on the server."""
        discarded: Facts = self.post(f"{_import_path(found)}discard/")
        return discarded

    def take_elsewhere(self, found: Facts, reason: str, *, wait: float = 600.0) -> Facts:
        """Take what an import of Q&As brought as accepted, where its file names their reviewers, and return how many.

        `reason` says where and how they were reviewed. It is not sent again when the answer was lost.
        """
        return self._decided(f"review/elsewhere/{found['id']}/", "take/", {"reason": reason}, wait)

    def draw_elsewhere(self, found: Facts, size: int, *, wait: float = 600.0) -> Facts:
        """Have so many of them in all, drawn at random, reviewed blind, and return how that stands."""
        return self._decided(f"review/elsewhere/{found['id']}/", "draw/", {"size": size}, wait)

    def _decided(self, path: str, step: str, body: Mapping[str, Any], wait: float) -> Facts:
        now: Facts = self.post(path + step, body)
        if now["job"] is None:
            return now
        self.wait_for(now["job"], wait=wait)
        done: Facts = self.get(path)
        return done

    def _settled(self, found: Facts, wait: float) -> Facts:
        """The import once no job reads or applies it."""
        if found["state"] in AT_WORK:
            found = self._until(_import_path(found), lambda seen: seen["state"] not in AT_WORK, wait)
        if found["state"] == "failed":
            raise KaratError(f"{found['file']}: {found['failure']}")
        return found

    # Jobs --------------------------------------------------------------------------------------------------------

    def job(self, number: int) -> Facts:
        found: Facts = self.get(f"jobs/{number}/")
        return found

    def wait_for(self, number: int, *, wait: float = 600.0) -> Facts:
        """The job once it is done. Raises KaratError with its reason when it failed or was cancelled."""
        job = self._until(f"jobs/{number}/", lambda found: found["state"] in ENDED, wait)
        _must_be_done(job)
        return job

    def _until(self, path: str, is_ready: Callable[[Facts], bool], wait: float) -> Facts:
        until, pause = time.monotonic() + wait, FIRST_LOOK
        while True:
            found: Facts = self.get(path)
            if is_ready(found):
                return found
            if time.monotonic() + pause > until:
                raise KaratError(f"Still not ready after {wait:,.0f} s: {path}")
            time.sleep(pause)
            pause = min(pause * 1.5, LONGEST_LOOK)


def _must_be_done(job: Facts) -> None:
    if job["state"] != "done":
        raise KaratError(f"{job['title']}: {job['state']}. {job['error']}".strip())


def _import_path(found: Facts) -> str:
    return f"{IMPORTS[found['kind']]}{found['id']}/"


def _path(version: str) -> str:
    """`doors/v2` as a part of a path."""
    gold_set, _, number = version.partition("/")
    if not gold_set or not number.startswith("v") or not number[1:].isdecimal():
        raise KaratError(f"{version!r} is no name of a version. Write GOLDSET/vN, such as doors/v2.")
    return f"{quote(gold_set, safe='')}/{number}"
