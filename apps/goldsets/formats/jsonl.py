"""JSON Lines: one object a line, keys in a fixed order, texts unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apps.goldsets.formats.content import (
    Content,
    ExpectedBlock,
    FrozenBlock,
    FrozenQuery,
    GradeRow,
    TripleRow,
    in_order,
)
from apps.queries.core.strata import CONTEXT
from apps.triples.formats.entry import Entry, EntryBlock, Evidence, as_line, as_values

CORPUS = "jsonl/corpus.jsonl"
GRADE = ("query_id", "block_id", "grade", "resolution", "judges", "split")


def files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    yield (
        CORPUS,
        (as_line(_block(row)) for row in in_order(content.blocks(), lambda r: (r.block_id,))),
    )
    yield (
        "jsonl/judgements.jsonl",
        (as_line(_grade(row)) for row in in_order(content.grades(), lambda r: (r.query_id, r.block_id))),
    )
    yield (
        "jsonl/queries.jsonl",
        (as_line(query_entry(row)) for row in in_order(content.queries(), lambda r: (r.query_id,))),
    )
    yield (
        "jsonl/triples.jsonl",
        (as_line(triple_entry(row)) for row in in_order(content.triples(), lambda r: (r.triple_id,))),
    )


def _block(row: FrozenBlock) -> dict[str, Any]:
    tombstone = {"redacted": row.redacted} if row.redacted else {}
    return {
        "block_id": row.block_id,
        "document_id": row.document_id,
        "document_title": row.document_title,
        "title": row.title,
        "section": list(row.section),
        "page_start": row.page_start,
        "page_end": row.page_end,
        "text": row.text,
        "metadata": dict(sorted(row.metadata.items())),
        **tombstone,
    }


def query_entry(row: FrozenQuery) -> dict[str, Any]:
    """The fields that query imports read, those of subtopics and context where there are some, and how far people
    looked for an answer to an unanswerable one; the split is in the metadata.
    """
    rare = (*CONTEXT, "facets", "unanswerable")
    values = {name: value for name, value in row._asdict().items() if value or name not in rare}
    metadata = {**row.metadata, "split": values.pop("split")}
    return {**values, "tags": list(row.tags), "metadata": dict(sorted(metadata.items()))}


def _grade(row: GradeRow) -> dict[str, Any]:
    facets = {} if row.facets is None else {"facets": list(row.facets)}
    return {name: getattr(row, name) for name in GRADE} | facets


def triple_entry(row: TripleRow) -> dict[str, Any]:
    """A published entry: `expected_block` is the first of the blocks, `expected_blocks` are all of them."""
    return as_values(
        Entry(
            question=row.question,
            expected_answer=row.expected_answer,
            blocks=tuple(_expected(block) for block in row.blocks),
            match=row.match,
            id=row.triple_id,
            query_id=row.query_id,
            domain=row.domain,
            difficulty=row.difficulty,
            added_by=row.added_by,
            added_at=row.added_at,
            reviewed_by=row.reviewed_by,
            resolution=row.resolution,
            is_machine_written=row.is_machine_written,
            split=row.split,
        )
    )


def _expected(block: ExpectedBlock) -> EntryBlock:
    pages = None if block.page_start is None else (block.page_start, block.page_end or block.page_start)
    return EntryBlock(block.block_id, block.document_id, pages, tuple(Evidence(text) for text in block.evidence))
