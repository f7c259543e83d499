"""Reading run files against a project's queries and a snapshot's blocks, and keeping what was read.

What a file was read to is kept beside it, packed and under its digest, until the file is taken in or thrown away: the
preview and the import share one reading.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from apps.accounts.models import Project
from apps.common.errors import InputErrors
from apps.common.files.extent import Extent, is_within
from apps.common.files.faults import fault
from apps.common.files.linefiles import lines_in, name_of
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshot_in
from apps.jobs.actions.uploads import FOLDER
from apps.jobs.models import Upload
from apps.queries.models import Query
from apps.retrieval import selectors
from apps.retrieval.formats import readings
from apps.retrieval.formats.runs import RunDraft, read_rows, read_run

AT_ONCE_BYTES = 1_000_000
AT_ONCE_LINES = 50_000
AT_ONCE_BLOCKS = 100_000
TELL_EVERY = 10_000
READING = ".reading"
READINGS_KEPT_DAYS = 7

Tell = Callable[[int], object]


def is_read_at_once(path: Path, snapshot: Snapshot) -> bool:
    """Whether a run file is read while a person waits: for what is in it, not for its size, and for the snapshot's."""
    return has_few_blocks(snapshot) and is_within(path, Extent(AT_ONCE_BYTES, AT_ONCE_LINES))


def is_body_read_at_once(size: int, trec: str, snapshot: Snapshot) -> bool:
    """The same for a run that was sent as the body of a request, of `size` bytes."""
    return has_few_blocks(snapshot) and size <= AT_ONCE_BYTES and trec.count("\n") <= AT_ONCE_LINES


def has_few_blocks(snapshot: Snapshot) -> bool:
    """A snapshot of many blocks takes time by itself."""
    return snapshot.block_count <= AT_ONCE_BLOCKS


def reading_of(upload: Upload, tell: Tell = lambda rows: None) -> RunDraft:
    """The run in a file that was handed in or pushed, as it was read and matched.

    The file is read when it was not yet, and again only when what it was matched with has changed since, or when the
    kept reading is lost. `tell` hears now and then how many rows have been read.
    """
    snapshot = snapshot_in(upload.project, upload.options["snapshot"])
    basis = {"file": upload.sha256, "snapshot": snapshot.digest}
    draft = readings.kept(reading_beside(upload), basis)
    if draft is None or not is_matched(draft, upload.project):
        draft = _read(upload, snapshot, tell)
        readings.keep(reading_beside(upload), draft, basis)
    tell(draft.rows)
    return draft


def reading_beside(upload: Upload) -> Path:
    """Where the reading of an uploaded file is kept."""
    return upload.file.with_suffix(READING)


def is_matched(draft: RunDraft, project: Project) -> bool:
    """Whether reading the file now would find the same queries. The blocks of a snapshot never change."""
    queries = _known_queries(project)
    is_same = all(queries.get(found.outside_id) == found.query for found in draft.rankings)
    return is_same and queries.keys().isdisjoint(draft.unknown_queries)


def tidy_readings(at: datetime) -> None:
    """Remove readings that nobody has confirmed in days, and what killed writers left. The files can be read again."""
    oldest = at.timestamp() - READINGS_KEPT_DAYS * 86_400
    for path in (Path(settings.MEDIA_ROOT) / FOLDER).glob(f"*/*{READING}*"):
        with suppress(FileNotFoundError):  # taken in or thrown away just now
            if path.stat().st_mtime < oldest:
                path.unlink()


def _read(upload: Upload, snapshot: Snapshot, tell: Tell) -> RunDraft:
    if upload.options.get("form") == "rows":
        rows = _told(_pushed_rows(upload.file), tell)
        tag = upload.options["tag"]
        return draft_of_rows(rows, tag=tag, project=upload.project, snapshot=snapshot, name="rows")
    return draft_of_file(upload.file, project=upload.project, snapshot=snapshot, name=upload.filename, tell=tell)


def draft_of_file(
    path: Path, *, project: Project, snapshot: Snapshot, name: str = "", tell: Tell = lambda rows: None
) -> RunDraft:
    """The run in a file, plain or gzip, as a draft. `name` is what errors call the file. Raises OSError."""
    with path.open("rb") as stream:
        called = name or name_of(path)
        return read_run(_told(lines_in(stream, called), tell), called, **known_ids(project, snapshot))


def draft_of_text(text: str, *, project: Project, snapshot: Snapshot, name: str) -> RunDraft:
    """The run in a text of TREC's six columns; errors call it `name` and count its lines from 1."""
    lines = text.removeprefix("\ufeff").encode().split(b"\n")
    return read_run(lines, name, **known_ids(project, snapshot))


def draft_of_rows(
    rows: Iterable[tuple[str, str, float]], *, tag: str, project: Project, snapshot: Snapshot, name: str
) -> RunDraft:
    """A draft from (query, block, score) rows; errors count them from 1."""
    return read_rows(rows, tag, name, **known_ids(project, snapshot))


def known_ids(project: Project, snapshot: Snapshot) -> dict[str, dict[str, int]]:
    """Every query's key and every block's position, by outside id. Retired queries still have their runs."""
    return {"queries": _known_queries(project), "blocks": selectors.position_of_blocks(snapshot)}


def _known_queries(project: Project) -> dict[str, int]:
    return dict(Query.objects.filter(project=project).values_list("outside_id", "pk"))


def _told(rows: Iterable[Any], tell: Tell) -> Iterator[Any]:
    for number, row in enumerate(rows, 1):
        if number % TELL_EVERY == 0:
            tell(number)
        yield row


def _pushed_rows(path: Path) -> Iterator[tuple[str, str, float]]:
    """The rows that were pushed, kept as one JSON list. Raises InputErrors at the first that is none."""
    for number, row in enumerate(json.loads(path.read_bytes()), 1):
        try:
            yield str(row["query_id"]).strip(), str(row["block_id"]).strip(), float(row["score"])
        except (TypeError, KeyError, ValueError):
            sentence = "A row is an object with query_id, block_id and score, a number."
            raise InputErrors([fault("rows", number, "", json.dumps(row), sentence)]) from None
