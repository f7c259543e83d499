"""One project on one server, as a token sees it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal
from urllib.parse import quote

from apps.cli.client.errors import Denied, FaultyFile, KaratError, NoAnswer
from apps.cli.client.forms import FileForm
from apps.cli.client.transport import Transport

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
        """Close the connections."""
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

    def versions(self) -> list[Facts]:
        """Every version of every gold set, newest first; unreleased ones for leads only."""
        found: list[Facts] = self.get("versions/")
        return found

    def version(self, name: str) -> Facts:
        """One version, by a name such as `doors/v2`, with its manifest."""
        found: Facts = self.get(f"versions/{_path(name)}/")
        return found

    def pull(self, version: str, to: Path | str, *, form: str = "all", split: str | None = None) -> Path:
        """Download a version as a zip in one of its forms: `jsonl`, `trec`, `beir` and so on."""
        return self.download(f"versions/{_path(version)}/export/", to, format=form, split=split)

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
        skip_unknown: bool = False,
        wait: float = 600.0,
    ) -> Facts:
        """Push a run as `rows`, the text of a TREC run file, or `results`, and return it, once it is stored.

        The same run pushed again is the run that is there.
        """
        given = {name: value for name, value in {"rows": rows, "trec": trec, "results": results}.items() if value}
        if len(given) != 1:
            raise KaratError("Give one of rows, trec and results, and not empty.")
        body = {"snapshot": snapshot, "system": system, "tag": tag, "commit": commit, "note": note}
        answer = self.post("runs/", {**body, "skip_unknown": skip_unknown, **given}, repeatable=True)
        if "job" in answer:
            number = answer["job"]["id"]
            answer = self._until(f"runs/pushes/{number}/", lambda found: found["job"]["state"] in ENDED, wait)
            _must_be_done(answer["job"])
        run: Facts = answer["run"]
        return run

    def score(
        self, run: int, version: str, *, split: str = "dev", measures: str | None = None, wait: float = 600.0
    ) -> Facts:
        """Have a run scored on a version, and return the scores once they are there, after `wait` seconds at most."""
        body = {"run": run, "version": self.version(version)["id"], "split": split}
        body |= {"measures": measures} if measures else {}
        asked = self.post("evaluation/", body, repeatable=split == "dev")  # each look at test is counted
        path = f"evaluation/{asked['id']}/"
        if asked["scored_at"] is None and asked["job"] is not None:
            with suppress(Denied):  # without jobs:read a failure is only known by the time that passes
                self.wait_for(asked["job"], wait=wait)
        return self._until(path, lambda found: found["scored_at"] is not None, wait)

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


def _as_field(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _import_path(found: Facts) -> str:
    return f"{IMPORTS[found['kind']]}{found['id']}/"


def _path(version: str) -> str:
    """`doors/v2` as a part of a path."""
    gold_set, _, number = version.partition("/")
    if not gold_set or not number.startswith("v") or not number[1:].isdecimal():
        raise KaratError(f"{version!r} is no name of a version. Write GOLDSET/vN, such as doors/v2.")
    return f"{quote(gold_set, safe='')}/{number}"
