"""Fetches what Langfuse or Phoenix has traced into a file, which goes the way of any trace file.

Of a span that is no search only what joins it to its trace is written. After each page the file beside it says how far
it is, so that the next attempt goes on from there. Both are on the host that fetches, in no backup, and gone with the
job.
"""

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from apps.accounts.actions.secrets import NoSecret
from apps.accounts.models import Project
from apps.common.files import store
from apps.common.web.addresses import BadAddress
from apps.common.web.outbound import RequestLimits
from apps.corpus.actions.imports import start_import
from apps.corpus.enums import ImportState
from apps.corpus.models import Import
from apps.jobs.execution.context import JobContext, JobFailed
from apps.jobs.models import Job
from apps.jobs.selectors.job_kinds import job_kind
from apps.querylogs import rules
from apps.querylogs.core.trace_servers import (
    OLD_OBSERVATIONS,
    SERVERS,
    Place,
    Wanted,
    allowed_at,
    auth_of,
    first_place,
    page_of,
    request_for,
)
from apps.querylogs.execution.drawing import KIND
from apps.querylogs.formats.spans import RERANKER, RETRIEVER, as_record, spans_of_record
from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.remote.base import RemoteError, Reply, Request
from apps.retrieval.core.engines.remote.loading import asked
from apps.retrieval.core.engines.remote.search import Pace
from apps.retrieval.core.engines.remote.templates import split_address
from apps.retrieval.execution.loading import connection_at, wait_in

FETCH = "querylogs.fetch"
FETCHED = "fetched"
"""The option of an import that says from where its file was fetched: server, address and what was wanted."""
PACE = Pace(at_once=1, tries=6, first_wait=1.0, connect=10.0, read=60.0, whole=120.0)
LIMITS = RequestLimits(connect=PACE.connect, read=PACE.read, whole=PACE.whole, size=64_000_000)
MOST_PAGES = 100_000


def folder() -> Path:
    return Path(settings.DATA_DIR) / "fetched"


class FetchedFile:
    """The file of a job, which is as long as its note says: what a killed process wrote after that is cut off."""

    def __init__(self, job_id: int, first: Place) -> None:
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path, self._note = _files_of(job_id)
        self.place: Place | None = first
        self.spans = self.searches = self.pages = self.size = 0
        if self.path.exists() and self._note.exists():
            note = json.loads(self._note.read_text())
            self.place = Place(*note["place"]) if note["place"] else None
            self.spans, self.searches, self.pages, self.size = (note[key] for key in _COUNTS)
        with self.path.open("ab") as out:
            self.path.chmod(0o600)
            out.truncate(self.size)

    @cached_property
    def traces(self) -> set[str]:
        """The ids of the traces that were listed, once all are, for observations that tell nothing of their traces."""
        with self.path.open("rb") as lines:
            records = (json.loads(line) for line in lines)
            return {one["context"]["trace_id"] for one in records if one["span_kind"] == "TRACE"}

    def add(self, records: Sequence[Mapping[str, Any]], following: Place | None) -> None:
        self.spans += len(records)
        self.searches += sum(one["span_kind"] in {RETRIEVER, RERANKER} for one in records)
        self.pages += 1
        content = "".join(f"{json.dumps(one)}\n" for one in records).encode()
        with self.path.open("ab") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        self.size += len(content)
        self.place = following
        note = {"place": following, **{key: getattr(self, key) for key in _COUNTS}}
        whole = self._note.with_suffix(".new")
        whole.write_text(json.dumps(note))
        whole.replace(self._note)


_COUNTS = ("spans", "searches", "pages", "size")


def _files_of(job_id: int) -> tuple[Path, Path]:
    return folder() / f"{job_id}.jsonl", folder() / f"{job_id}.json"


def _remove(job_id: int) -> None:
    for path in _files_of(job_id):
        path.unlink(missing_ok=True)


def follow_fetch(job: Job, at: datetime) -> None:
    """The file goes with its job."""
    if job.is_ended:
        transaction.on_commit(partial(_remove, job.pk), robust=True)


def forget_ended() -> None:
    """Delete files of jobs that have ended on another host."""
    ids = {int(path.stem) for path in folder().glob("*.json*")}
    for job_id in ids - set(Job.objects.open().filter(pk__in=ids).values_list("pk", flat=True)):
        _remove(job_id)


Ask = Callable[[Request, Collection[int]], Reply]
"""Sends a request to a server and returns its reply of success, or with one of these statuses."""


@contextmanager
def asking(ctx: JobContext, server: str, address: str) -> Iterator[tuple[Ask, str]]:
    """A way to ask the server with the key that the job names, and the path of its address. Raises JobFailed."""
    assert ctx.project is not None

    def ask(request: Request, allowed: Collection[int]) -> Reply:
        return asked(connection.send, request, PACE, partial(wait_in, ctx), allowed=allowed)

    try:
        auth = auth_of(server, user=ctx.params["user"], secret=ctx.params["secret"])
        with connection_at(address, auth, ctx.project, PACE, LIMITS) as connection:
            yield ask, split_address(address)[1]
    except RemoteError as error:
        raise JobFailed(f"{SERVERS[server]}: {error.sentence}") from None
    except (BadParameters, BadAddress, NoSecret) as error:
        raise JobFailed(str(error)) from None


@job_kind(FETCH, title="Fetch traces", follower=follow_fetch, page=("corpus:import", "import_id"))
def fetch(ctx: JobContext) -> dict[str, Any] | None:
    """Fetch what the job's `origin` says, and make an import of it that waits to be looked at."""
    origin, wanted = ctx.params["origin"], Wanted(**ctx.params["origin"]["wanted"])
    file = FetchedFile(ctx.job_id, first_place(origin["server"]))
    with asking(ctx, origin["server"], origin["address"]) as (ask, path):
        while file.place is not None:
            reply = ask(request_for(path, wanted, file.place), allowed_at(file.place))
            _take(file, wanted, *page_of(wanted, file.place, reply))
            ctx.progress(file.spans, text=f"{file.spans:,} spans fetched")
    if not file.searches:
        raise JobFailed(
            f"None of {file.spans:,} spans is a search: none is a retriever or a reranker. Choose another time or"
            " filter, or see which spans count as a search under “Start from traces”."
        )
    _finish(ctx, file, origin)
    return None


def _finish(ctx: JobContext, file: FetchedFile, origin: Mapping[str, Any]) -> None:
    """Make the import and end the job in one commit; without it the copy of the file goes too."""
    assert ctx.project is not None
    assert ctx.actor is not None  # a lead asks for it
    item = None
    try:
        with ctx.finish() as result, file.path.open("rb") as stream:
            Project.objects.select_for_update().get(pk=ctx.project.pk)
            if reason := rules.fetch_refusal(origin, fetched_in(ctx.project)):
                raise JobFailed(reason)
            options = ctx.params["options"] | {FETCHED: origin}
            upload = UploadedFile(stream, name=f"{options['name']}.jsonl", size=file.size)
            item = start_import(
                project=ctx.project, kind=KIND, file=upload, options=options, actor=ctx.actor, at=ctx.at
            )
            result.update(import_id=item.pk, spans=file.spans, searches=file.searches)
    except BaseException:
        if item is not None:
            store.remove(item.upload.path)
        raise


def _take(file: FetchedFile, wanted: Wanted, records: Sequence[Mapping[str, Any]], following: Place | None) -> None:
    """Write a page. Whether the trace of an older Langfuse's observation is wanted, the list of traces has told."""
    assert file.place is not None
    found = [as_record(span) for one in records for span in spans_of_record(one)]
    if file.place.part == OLD_OBSERVATIONS and wanted.chooses_traces:
        found = [one for one in found if one["context"]["trace_id"] in file.traces]
    if file.pages >= MOST_PAGES or file.size > settings.UPLOAD_MAX_BYTES:
        raise RemoteError("There is more than one file can have. Choose a shorter time.")
    file.add(found, following)


def being_fetched(project: Project) -> list[Mapping[str, Any]]:
    """From where jobs of the project that have not ended fetch."""
    jobs = Job.objects.open().filter(project=project, kind=FETCH)
    return [params["origin"] for params in jobs.values_list("params", flat=True)]


def fetched_in(project: Project) -> list[Mapping[str, Any]]:
    """From where the search logs of a project were fetched that are there: what was discarded or undone is not."""
    gone = [ImportState.DISCARDED, ImportState.FAILED]
    items = Import.objects.filter(project=project, kind=KIND, upload__options__has_key=FETCHED, undone_at=None)
    options = items.exclude(state__in=gone).order_by("pk").values_list("upload__options", flat=True)
    return [one[FETCHED] for one in options]


def last_server(project: Project) -> dict[str, str]:
    """The server and the address from which a search log of the project was fetched last; empty where none was."""
    return {name: fetched[-1][name] for name in ("server", "address")} if (fetched := fetched_in(project)) else {}
