"""Parquet, as an export of a version has its triples: a row for each, its blocks as a list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apps.common.files.faults import ErrorList
from apps.common.files.parquet import parquet_records
from apps.common.files.tabular import TableFile
from apps.triples.formats.entry import TripleRecord

NEEDED = frozenset({"question", "expected_answer", "expected_blocks"})
IN_METADATA = ("domain", "difficulty", "added_by", "added_at", "reviewed_by", "resolution", "machine_written", "split")


def read(source: TableFile, errors: ErrorList) -> Iterator[TripleRecord]:
    """The entries of a file; `line` is the number of the row."""
    for row, values in parquet_records(source):
        yield TripleRecord(row, _entry(values))


def _entry(values: dict[str, Any]) -> dict[str, Any]:
    """The row with the fields of an entry. Columns that no entry has stay, and are refused by name."""
    metadata = {name: values.pop(name) for name in IN_METADATA if name in values}
    if "triple_id" in values:
        values["id"] = values.pop("triple_id")
    if values.get("query_id") == "":
        del values["query_id"]
    blocks = values.get("expected_blocks")
    if isinstance(blocks, list):
        values["expected_blocks"] = [_block(block) if isinstance(block, dict) else block for block in blocks]
    return {**values, "metadata": metadata}


def _block(block: dict[str, Any]) -> dict[str, Any]:
    first, last = block.pop("page_start", None), block.pop("page_end", None)
    pages = {} if first is None else {"page_range": [first, first if last is None else last]}
    return {**{name: value for name, value in block.items() if value is not None}, **pages}
