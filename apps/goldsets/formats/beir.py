"""The BEIR folder: corpus.jsonl, queries.jsonl and for each split a qrels file with a heading line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apps.goldsets.formats.content import Content, FrozenBlock, FrozenQuery, GradeRow, Unwritable, in_order
from apps.goldsets.formats.jsonl import line

HEADING = b"query-id\tcorpus-id\tscore\n"


def files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    yield (
        "beir/corpus.jsonl",
        (line(_document(r)) for r in in_order(content.blocks(), lambda r: (r.block_id,))),
    )
    for split in sorted({row.split for row in content.queries()}):
        yield f"beir/qrels/{split or 'all'}.tsv", _qrels(content, split)
    yield (
        "beir/queries.jsonl",
        (line(_query(r)) for r in in_order(content.queries(), lambda r: (r.query_id,))),
    )


def _document(row: FrozenBlock) -> dict[str, Any]:
    metadata = {
        "document_id": row.document_id,
        "section": list(row.section),
        "page_start": row.page_start,
        "page_end": row.page_end,
    }
    return {"_id": row.block_id, "title": row.title, "text": row.text, "metadata": metadata}


def _query(row: FrozenQuery) -> dict[str, Any]:
    return {"_id": row.query_id, "text": row.text, "metadata": {"split": row.split, "source": row.source}}


def _qrels(content: Content, split: str) -> Iterator[bytes]:
    yield HEADING
    yield from map(_qrel, in_order(content.grades(split), lambda r: (r.query_id, r.block_id)))


def _qrel(row: GradeRow) -> bytes:
    for what, outside_id in (("query", row.query_id), ("block", row.block_id)):
        if any(mark in outside_id for mark in "\t\n\r"):
            raise Unwritable(
                f"The {what} id {outside_id!r} contains a tab or a line end, which separates a BEIR qrels file. "
                "Export JSONL or CSV."
            )
    return f"{row.query_id}\t{row.block_id}\t{row.grade}\n".encode()
