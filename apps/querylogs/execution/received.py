"""Traces that a system sends wait in a file of their project, until somebody takes them as a search log.

Of a span that is no search only what joins it to its trace is written. The file is on the host that received it, and in
no backup. One more beside it has when it began and how much came in this minute; both are changed under its lock.
"""

import fcntl
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings

from apps.accounts.models import Project
from apps.querylogs.formats.spans import Span, as_record

WAITS_FOR = timedelta(days=14)
"""How long received traces wait for somebody, from the first of them on."""
MOST_BYTES = 500_000_000
MOST_A_MINUTE = 600
"""Requests of one project."""
FULL = "The file of received traces is full. Take them as a search log on the page of search logs."


class Received(NamedTuple):
    """What became of the spans of a request. `retry_after` are seconds where none was taken for now, else 0."""

    taken: int
    rejected: int = 0
    reason: str = ""
    retry_after: int = 0


class Waiting(NamedTuple):
    """What waits in a project: spans, bytes, and when it is deleted."""

    spans: int
    size: int
    until: datetime


def folder() -> Path:
    return Path(settings.DATA_DIR) / "received"


def _file(project_id: int) -> Path:
    return folder() / f"{project_id}.jsonl"


@contextmanager
def _locked(project_id: int) -> Iterator[dict[str, Any]]:
    """What is told of the file, to be changed; alone."""
    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder() / f"{project_id}.json").open("a+") as about:
        fcntl.flock(about, fcntl.LOCK_EX)
        about.seek(0)
        text = about.read()
        told = json.loads(text) if text else {}
        yield told
        about.seek(0)
        about.truncate()
        about.write(json.dumps(told))


def receive(project: Project, spans: Iterable[Span], at: datetime) -> Received:
    """Write spans to the file of the project."""
    lines = [json.dumps(as_record(span)) for span in spans]
    content = "".join(f"{line}\n" for line in lines).encode()
    with _locked(project.pk) as told:
        minute = f"{at:%Y-%m-%dT%H:%M}"
        number = told.get("requests", 0) + 1 if told.get("minute") == minute else 1
        if number > MOST_A_MINUTE:
            return Received(0, reason=f"More than {MOST_A_MINUTE} requests a minute.", retry_after=60 - at.second)
        told.update(minute=minute, requests=number)
        path = _file(project.pk)
        size = path.stat().st_size if path.exists() else 0
        if size + len(content) > MOST_BYTES:
            return Received(0, len(lines), FULL)
        if not size or "since" not in told:
            told.update(since=at.isoformat(), spans=0)
        with path.open("ab") as out:
            path.chmod(0o600)
            out.write(content)
        told["spans"] += len(lines)
    return Received(len(lines))


def waiting_in(project: Project) -> Waiting | None:
    """What waits on this host; None where nothing does."""
    path = _file(project.pk)
    if not path.exists():
        return None
    with _locked(project.pk) as told:
        return Waiting(told.get("spans", 0), path.stat().st_size, _since(path, told) + WAITS_FOR)


def _since(path: Path, told: dict[str, Any]) -> datetime:
    """When the file began; where a crash lost what is told of it, when it was last written."""
    return (
        datetime.fromisoformat(told["since"]) if "since" in told else datetime.fromtimestamp(path.stat().st_mtime, UTC)
    )


def taken(project: Project) -> Path | None:
    """The file, set aside so that later spans go into a new one; the caller removes it. None where there is none."""
    aside = _file(project.pk).with_suffix(".taken")
    with _locked(project.pk):
        if not aside.exists() and _file(project.pk).exists():
            _file(project.pk).rename(aside)
    return aside if aside.exists() else None


def forget(at: datetime) -> None:
    """Delete what nobody took in time, and what belongs to a project that is gone."""
    known = set(Project.objects.values_list("pk", flat=True))
    for about in folder().glob("*.json"):
        project_id = int(about.stem)
        with _locked(project_id) as told:
            path = _file(project_id)
            is_old = ("since" in told or path.exists()) and _since(path, told) + WAITS_FOR <= at
            if is_old or project_id not in known:
                path.unlink(missing_ok=True)
                path.with_suffix(".taken").unlink(missing_ok=True)
        if project_id not in known:
            about.unlink(missing_ok=True)
