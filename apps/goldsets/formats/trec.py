"""TREC: qrels of four columns and topics with tags. Only judged pairs are written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import IO

from apps.goldsets.formats.content import Content, FrozenQuery, GradeRow, Unwritable, in_order

PIECE_BYTES = 1 << 16
SPACE = re.compile(r"\s")
TAG = re.compile(r"</?(top|num|title|desc|narr)\b", re.IGNORECASE)


def files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The qrels of each split are taken from those of all as these are written: grades are read once."""
    splits = sorted({row.split for row in content.queries() if row.split})
    with ExitStack() as stack:
        apart: dict[str, IO[bytes]] = {split: stack.enter_context(TemporaryFile()) for split in splits}
        yield "trec/qrels.txt", _qrels(content, apart)
        for split, lines in apart.items():
            yield f"trec/qrels.{split}.txt", _pieces(lines)
    yield "trec/topics.txt", (_topic(row) for row in in_order(content.queries(), lambda r: (r.query_id,)))


def _qrels(content: Content, apart: Mapping[str, IO[bytes]]) -> Iterator[bytes]:
    for row in in_order(content.grades(), lambda r: (r.query_id, r.block_id)):
        line = _qrel(row)
        if row.split in apart:
            apart[row.split].write(line)
        yield line


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while piece := file.read(PIECE_BYTES):
        yield piece


def _qrel(row: GradeRow) -> bytes:
    return f"{_plain(row.query_id, 'query')} 0 {_plain(row.block_id, 'block')} {row.grade}\n".encode()


def _topic(row: FrozenQuery) -> bytes:
    parts = [f"<num> Number: {_plain(row.query_id, 'query')}", f"<title> {_one_line(row, row.text)}"]
    if row.description:
        parts += ["<desc> Description:", _one_line(row, row.description)]
    if row.intent:
        parts += ["<narr> Narrative:", _one_line(row, row.intent)]
    return ("<top>\n\n" + "\n\n".join(parts) + "\n\n</top>\n\n").encode()


def _plain(outside_id: str, what: str) -> str:
    """The id, if readers return it unchanged: white space separates columns, `#` begins a comment."""
    if SPACE.search(outside_id):
        raise Unwritable(
            f"The {what} id {outside_id!r} contains white space, which separates the columns of a TREC file. "
            "Export JSONL, CSV or BEIR, or import with ids without it."
        )
    if not outside_id or outside_id.startswith("#"):
        raise Unwritable(
            f"The {what} id {outside_id!r} would be read as a comment in a TREC file. "
            "Export JSONL, CSV or BEIR, or import with other ids."
        )
    return outside_id


def _one_line(row: FrozenQuery, text: str) -> str:
    if tag := TAG.search(text):
        raise Unwritable(
            f"Query {row.query_id!r} contains {tag.group()!r}, which TREC readers parse as a tag. "
            "Export JSONL, CSV or BEIR."
        )
    return " ".join(text.split())
