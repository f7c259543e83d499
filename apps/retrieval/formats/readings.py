"""A run file as read and matched, stored in a file of its own, so that it is not read a second time."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from apps.common.digests import canonical_json
from apps.common.errors import InputError
from apps.common.files.faults import ErrorList, as_row
from apps.common.files.whole import whole_file
from apps.retrieval.enums import Returns
from apps.retrieval.formats.runs import MOST_ERRORS, MOST_ERRORS_STORED, QueryRanking, RunDraft

FORMAT = 4
PIECE = 1024 * 1024
DIGEST_BYTES = hashlib.sha256().digest_size
PLAIN = ("tags", "rows", "unknown_queries", "unknown_blocks", "ties", "reordered", "is_spoilt", "by_text", "returns")
"""The fields of a draft that go into JSON as they are."""


def store(path: Path, draft: RunDraft, basis: Mapping[str, str]) -> None:
    """Write a draft, whole or not at all. `basis`: digests of the file that was read and of what it was matched with.

    The file is one line of JSON, the rankings in its order, packed or as JSON, and the SHA-256 of all.
    """
    with whole_file(path) as out:
        _write(out, draft, basis)


def load(path: Path, basis: Mapping[str, str]) -> RunDraft | None:
    """The stored draft, with its first mistakes; None when there is none on this basis, or the file is damaged."""
    try:
        with path.open("rb") as file:
            if not _is_whole(file):
                return None
            head = json.loads(file.readline())
            if (head.get("format"), head["basis"]) != (FORMAT, dict(basis)):
                return None
            return _draft(head, file)
    except FileNotFoundError:
        return None


def _write(out: BinaryIO, draft: RunDraft, basis: Mapping[str, str]) -> None:
    head = {
        "format": FORMAT,
        "basis": dict(basis),
        **{name: getattr(draft, name) for name in PLAIN},
        "errors": [as_row(error) for error in list(draft.errors)[:MOST_ERRORS_STORED]],
        "errors_total": draft.errors.total,
        "rankings": [(one.query, one.outside_id, len(_content(one))) for one in draft.rankings],
    }
    digest = hashlib.sha256()
    line = json.dumps(head).encode() + b"\n"
    for part in (line, *map(_content, draft.rankings)):
        digest.update(part)
        out.write(part)
    out.write(digest.digest())


def _content(one: QueryRanking) -> bytes:
    return one.packed if one.passages is None else canonical_json(one.passages)


def _ranking(query: int, name: str, content: bytes, returns: str) -> QueryRanking:
    if returns == Returns.PASSAGES:
        return QueryRanking(query, name, passages=json.loads(content))
    return QueryRanking(query, name, content)


def _draft(head: dict[str, Any], file: BinaryIO) -> RunDraft:
    errors = ErrorList(MOST_ERRORS)
    errors.listed = [InputError(**row) for row in head["errors"]]
    errors.total = head["errors_total"]
    rankings = [_ranking(query, name, file.read(size), head["returns"]) for query, name, size in head["rankings"]]
    return RunDraft(rankings=rankings, errors=errors, **{name: head[name] for name in PLAIN})


def _is_whole(file: BinaryIO) -> bool:
    """Whether the file ends in the digest of all bytes before it; afterwards it is at its beginning again."""
    left = os.fstat(file.fileno()).st_size - DIGEST_BYTES
    digest = hashlib.sha256()
    while left > 0 and (piece := file.read(min(left, PIECE))):
        digest.update(piece)
        left -= len(piece)
    is_whole = left == 0 and file.read() == digest.digest()
    file.seek(0)
    return is_whole
