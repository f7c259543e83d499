"""Entries as plain values, for both formats."""

from __future__ import annotations

from typing import Any

from apps.triples.formats.entry import Entry, EntryBlock, Evidence


def as_values(entry: Entry) -> dict[str, Any]:
    """The entry as plain values in the order of its fields, for both formats.

    The first block is under `expected_block` too. Karat's own fields are left out where they are empty.
    """
    blocks = [_block_values(block) for block in entry.blocks]
    values: dict[str, Any] = {
        "id": entry.id,
        "query_id": entry.query_id or None,
        "question": entry.question,
        "expected_block": {key: blocks[0][key] for key in ("block_id", "document_id", "page_range")},
        "expected_blocks": blocks,
        "match": entry.match,
        "expected_answer": entry.expected_answer,
        "metadata": _metadata_values(entry),
    }
    if not entry.id:
        del values["id"]
    if entry.note:
        values["note"] = entry.note
    if entry.snapshot or entry.corpus:
        values["snapshot"] = {"corpus": entry.corpus, "digest": entry.snapshot}
    return values


def _metadata_values(entry: Entry) -> dict[str, Any]:
    values: dict[str, Any] = {"domain": entry.domain, "difficulty": entry.difficulty}
    if entry.source:
        values["source"] = entry.source
    values |= {
        "added_by": entry.added_by,
        "added_at": entry.added_at,
        "reviewed_by": list(entry.reviewed_by),
        "resolution": entry.resolution,
        "machine_written": _machine_values(entry),
    }
    if entry.split is not None:
        values["split"] = entry.split
    return values


def _machine_values(entry: Entry) -> bool | dict[str, str]:
    if not entry.is_machine_written:
        return False
    named = {"by": entry.machine, "adopted_by": entry.adopted_by}
    return {key: name for key, name in named.items() if name} or True


def _block_values(block: EntryBlock) -> dict[str, Any]:
    return {
        "block_id": block.block_id,
        "document_id": block.document_id or None,
        "page_range": None if block.pages is None else list(block.pages),
        "evidence": [_evidence_value(passage) for passage in block.evidence],
    }


def _evidence_value(passage: Evidence) -> str | dict[str, Any]:
    if passage.start is None:
        return passage.text
    return {"start": passage.start, "end": passage.end, "text": passage.text}
