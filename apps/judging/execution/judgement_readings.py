"""What was read of a large upload of judgements, stored beside it for the import, so that it is not read a second time.

Only of a file without mistakes. The file is a line of JSON, with the SHA-256 of what follows, and a database.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from django.conf import settings

from apps.common.database.scratch import Scratch
from apps.common.files.faults import ErrorList
from apps.common.files.private import whole_file
from apps.common.files.tabular import TableFile
from apps.corpus.execution.document_reading import reading_path
from apps.jobs.actions.uploads import FOLDER
from apps.judging.execution.graded_rows import GradedRows
from apps.judging.execution.judgement_import import JudgementDraft

FORMAT = 2
"""Goes up when readers change what they make of a file, so that older readings are not used."""
WORTH_STORING_ROWS = 2_000
PIECE = 1024 * 1024
FIELDS = ("skipped", "digest", "rulings", "unsettled")


def store(source: TableFile, draft: JudgementDraft, basis: Mapping[str, Any]) -> None:
    """Store what was read of an upload, whole or not at all. `basis`: what it was read by and matched with."""
    path = _path(source)
    if path is None or len(draft.rows) < WORTH_STORING_ROWS or draft.errors or draft.is_spoilt:
        return
    with _scratch_file() as copy, whole_file(path) as out:
        draft.rows.store(copy)
        with copy.open("rb") as rows:
            digest = hashlib.sha256()
            for piece in _pieces(rows):
                digest.update(piece)
            head = {**_head(basis), "sha256": digest.hexdigest(), **{name: getattr(draft, name) for name in FIELDS}}
            out.write(json.dumps(head).encode() + b"\n")
            rows.seek(0)
            for piece in _pieces(rows):
                out.write(piece)


def load(source: TableFile, basis: Mapping[str, Any]) -> JudgementDraft | None:
    """What was stored; None when there is nothing on this basis, or the file is damaged."""
    path = _path(source)
    if path is None or not path.exists():
        return None
    with path.open("rb") as stored, _scratch_file() as copy:
        head = _head_of(stored.readline())
        if {name: head.get(name) for name in _head(basis)} != _head(basis):
            return None
        digest = hashlib.sha256()
        with copy.open("wb") as out:
            for piece in _pieces(stored):
                digest.update(piece)
                out.write(piece)
        if digest.hexdigest() != head["sha256"]:
            return None
        rows = GradedRows(Scratch.at(copy))
        known = {name: head[name] for name in FIELDS}
        return JudgementDraft(rows=rows, unknown=0, errors=ErrorList(), is_spoilt=False, **known)


def _head(basis: Mapping[str, Any]) -> dict[str, Any]:
    return {"format": FORMAT, "basis": dict(basis)}


def _head_of(line: bytes) -> dict[str, Any]:
    """The first line; nothing of a damaged one."""
    try:
        return dict(json.loads(line))
    except ValueError:
        return {}


def _path(source: TableFile) -> Path | None:
    """Where the reading of an upload is; None for a file elsewhere."""
    if source.path is None or not source.path.is_relative_to(Path(settings.MEDIA_ROOT) / FOLDER):
        return None
    return reading_path(source.path)


@contextmanager
def _scratch_file() -> Iterator[Path]:
    """The name of a file, which is removed. Who has it open by then keeps it."""
    with TemporaryDirectory(prefix="karat-") as folder:
        yield Path(folder) / "rows"


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    return iter(lambda: file.read(PIECE), b"")
