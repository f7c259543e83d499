"""Parquet: the four tables of a version, with the fields of the JSON lines as columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apps.goldsets.formats.content import Content, FrozenBlock, FrozenQuery, GradeRow, TripleRow, in_order
from apps.goldsets.formats.parquet_files import TEXT, TEXTS, WHOLE, YES_OR_NO, json_text, parquet_file

BLOCKS = {
    "block_id": TEXT,
    "document_id": TEXT,
    "document_title": TEXT,
    "title": TEXT,
    "section": TEXTS,
    "page_start": WHOLE,
    "page_end": WHOLE,
    "text": TEXT,
    "metadata": TEXT,
    "redacted": TEXT,
}
GRADES = {
    "query_id": TEXT,
    "block_id": TEXT,
    "grade": WHOLE,
    "resolution": TEXT,
    "judges": WHOLE,
    "split": TEXT,
}
QUERIES = {
    "query_id": TEXT,
    "text": TEXT,
    "label": TEXT,
    "intent": TEXT,
    "description": TEXT,
    "source": TEXT,
    "difficulty": TEXT,
    "domain": TEXT,
    "query_type": TEXT,
    "group": TEXT,
    "tags": TEXTS,
    "metadata": TEXT,
    "split": TEXT,
}
EXPECTED = {"block_id": TEXT, "document_id": TEXT, "page_start": WHOLE, "page_end": WHOLE, "evidence": TEXTS}
TRIPLES = {
    "triple_id": TEXT,
    "query_id": TEXT,
    "question": TEXT,
    "expected_answer": TEXT,
    "expected_blocks": [EXPECTED],
    "match": TEXT,
    "domain": TEXT,
    "difficulty": TEXT,
    "added_by": TEXT,
    "added_at": TEXT,
    "reviewed_by": TEXTS,
    "resolution": TEXT,
    "machine_written": YES_OR_NO,
    "split": TEXT,
}


def files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    blocks = in_order(content.blocks(), lambda r: (r.block_id,))
    yield "parquet/corpus.parquet", parquet_file(BLOCKS, map(block_values, blocks))
    grades = in_order(content.grades(), lambda r: (r.query_id, r.block_id))
    yield "parquet/judgements.parquet", parquet_file(GRADES, map(grade_values, grades))
    queries = in_order(content.queries(), lambda r: (r.query_id,))
    yield "parquet/queries.parquet", parquet_file(QUERIES, map(query_values, queries))
    triples = in_order(content.triples(), lambda r: (r.triple_id,))
    yield "parquet/triples.parquet", parquet_file(TRIPLES, map(triple_values, triples))


def block_values(row: FrozenBlock) -> dict[str, Any]:
    return {
        **{name: getattr(row, name) for name in BLOCKS},
        "metadata": json_text(row.metadata),
        "redacted": json_text(row.redacted) if row.redacted else None,
    }


def grade_values(row: GradeRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in GRADES}


def query_values(row: FrozenQuery) -> dict[str, Any]:
    return {**{name: getattr(row, name) for name in QUERIES}, "metadata": json_text(row.metadata)}


def triple_values(row: TripleRow) -> dict[str, Any]:
    own = {name: getattr(row, name) for name in TRIPLES if hasattr(row, name)}
    return {
        **own,
        "expected_blocks": [block._asdict() for block in row.blocks],
        "machine_written": row.is_machine_written,
    }
