"""Which form a file of entries has, its records in JSON Lines and Parquet, and entries parsed field by field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from apps.common.files.anytable import is_packed_table
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import read_objects
from apps.common.files.json_tables import first_object, is_json
from apps.common.files.parquet import is_parquet, parquet_names, parquet_records
from apps.common.files.tabular import TableFile
from apps.triples.formats.entry import ALL, ANY, Entry, EntryBlock, EntryFields, Evidence, TripleRecord
from apps.triples.formats.rag import is_rag, is_rag_table

AUTO, TABLE = "auto", "table"
HEAD_BYTES = 4_096
NEEDED = frozenset({"question", "expected_answer", "expected_blocks"})
OWN = frozenset({"expected_block", "expected_blocks", "expected_answer"})
"""Fields of Karat's own entries, by one of which they are known."""


def recognise(source: TableFile) -> str:
    """JSON lines and YAML begin in their own way; anything else is a table. The source stays at its beginning."""
    head = source.head(HEAD_BYTES)
    if is_parquet(head):
        return "parquet" if set(parquet_names(source)) >= NEEDED else TABLE
    if is_packed_table(source):
        return "rag" if is_rag_table(source) else TABLE
    text = head.decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip()
    if is_json(source):
        first = first_object(source)
        if is_rag(first):
            return "rag"
        if first and (first.keys() & OWN or first.keys() <= ENTRY):
            return "jsonl"
        if not first and text.startswith("["):
            return "yaml"
    elif text.startswith(("- ", "-\n", "---", "#")):
        return "yaml"
    return "rag" if is_rag_table(source) else TABLE


def read_lines(source: TableFile, errors: ErrorList) -> Iterator[TripleRecord]:
    """The entries of JSON Lines; a line that is no object is added to `errors`, and reading continues."""
    for line, values in read_objects(source, errors):
        yield TripleRecord(line, values)


IN_METADATA = ("domain", "difficulty", "added_by", "added_at", "reviewed_by", "resolution", "machine_written", "split")


def read_rows(source: TableFile, errors: ErrorList) -> Iterator[TripleRecord]:
    """The entries of Parquet, as a version has it: a row for each, its blocks as a list; `line` is the row."""
    for row, values in parquet_records(source):
        yield TripleRecord(row, _row_values(values))


def _row_values(values: dict[str, Any]) -> dict[str, Any]:
    """The row with the fields of an entry. Columns that no entry has stay, and are refused by name."""
    metadata = {name: values.pop(name) for name in IN_METADATA if name in values}
    if "triple_id" in values:
        values["id"] = values.pop("triple_id")
    if values.get("query_id") == "":
        del values["query_id"]
    blocks = values.get("expected_blocks")
    if isinstance(blocks, list):
        values["expected_blocks"] = [_row_block(block) if isinstance(block, dict) else block for block in blocks]
    return {**values, "metadata": metadata}


def _row_block(block: dict[str, Any]) -> dict[str, Any]:
    first, last = block.pop("page_start", None), block.pop("page_end", None)
    pages = {} if first is None else {"page_range": [first, first if last is None else last]}
    return {**{name: value for name, value in block.items() if value is not None}, **pages}


MOST_BLOCKS = 20
MOST_EVIDENCE = 40
LONGEST_EVIDENCE = 20_000
BLOCK = frozenset({"block_id", "document_id", "page_range", "evidence"})
EVIDENCE = frozenset({"text", "start", "end"})
_PAGES = re.compile(r"\s*([0-9]{1,9})\s*(?:[-–]\s*([0-9]{1,9})\s*)?\Z")


def blocks_of(part: EntryFields) -> tuple[EntryBlock, ...]:
    """All expected blocks; `expected_block` alone, or also given as the first of `expected_blocks`."""
    alone = None if part.values.get("expected_block") is None else _block(part.inside("expected_block"))
    listed = part.several("expected_blocks", MOST_BLOCKS)
    if not listed:
        if alone is None:
            raise part.wrong("expected_block", "is missing")
        return (alone,)
    blocks = tuple(
        _block(part.inside("expected_blocks", value, f"[{place}]")) for place, value in enumerate(listed, start=1)
    )
    ids = [block.block_id for block in blocks]
    if len(set(ids)) != len(ids):
        raise part.wrong("expected_blocks", "names a block twice")
    if alone is None:
        return blocks
    if alone.block_id != ids[0]:
        raise part.wrong("expected_block", f"is not the first of expected_blocks, {ids[0]}")
    return (_both(part, alone, blocks[0]), *blocks[1:])


def _both(part: EntryFields, alone: EntryBlock, first: EntryBlock) -> EntryBlock:
    """The block that is given twice; raises when the two differ."""
    for name in ("document_id", "pages", "evidence"):
        one, other = getattr(alone, name), getattr(first, name)
        if one and other and one != other:
            raise part.wrong("expected_block", f"has another {name} than the first of expected_blocks")
        first = first._replace(**{name: other or one})
    return first


def _block(part: EntryFields) -> EntryBlock:
    part.only(BLOCK)
    return EntryBlock(
        block_id=part.outside_id("block_id"),
        document_id="" if part.values.get("document_id") is None else part.outside_id("document_id"),
        pages=_pages(part),
        evidence=_evidence(part),
    )


def _pages(part: EntryFields) -> tuple[int, int] | None:
    value = part.values.get("page_range")
    if value is None or value == [None, None]:
        return None
    if isinstance(value, str) and (match := _PAGES.match(value)):
        value = [int(match[1]), int(match[2] or match[1])]
    if isinstance(value, int) and not isinstance(value, bool):
        value = [value, value]
    if not isinstance(value, list) or len(value) != 2:
        raise part.wrong("page_range", "must be two pages, the first and the last: [12, 13]")
    first, last = (_page(part, page) for page in value)
    if last < first:
        raise part.wrong("page_range", f"the last page, {last}, comes before the first, {first}")
    return first, last


def _page(part: EntryFields, value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 9:
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 10**9:
        raise part.wrong("page_range", "a page is a whole number from 0 up")
    return value


def _evidence(part: EntryFields) -> tuple[Evidence, ...]:
    """Passages: a text, texts, or objects that also give their place in the block's text."""
    if isinstance(part.values.get("evidence"), str):
        return (_quote(part, part.values["evidence"]),)
    return tuple(
        _quote(part, value) if isinstance(value, str) else _place(part.inside("evidence", value, f"[{place}]"))
        for place, value in enumerate(part.several("evidence", MOST_EVIDENCE), start=1)
    )


def _quote(part: EntryFields, text: str) -> Evidence:
    if not text.strip():
        raise part.wrong("evidence", "a passage is empty")
    if len(text) > LONGEST_EVIDENCE:
        raise part.wrong("evidence", f"a passage is longer than {LONGEST_EVIDENCE:,} characters")
    return Evidence(text)


def _place(part: EntryFields) -> Evidence:
    part.only(EVIDENCE)
    text = part.text("text", required=True, limit=LONGEST_EVIDENCE)
    start, end = part.whole("start"), part.whole("end")
    if (start is None) != (end is None):
        raise part.wrong("start" if start is None else "end", "start and end go together")
    if start is not None and end is not None and end - start != len(text):
        raise part.wrong("end", f"start to end are {end - start} characters, the text has {len(text)}")
    return Evidence(text, start, end)


LONGEST_QUESTION = 2_000
LONGEST_ANSWER = 8_000
LONGEST_WORD = 200
LONGEST_DOMAIN = 80
MOST_REVIEWERS = 20
ENTRY = frozenset(
    {
        "id",
        "query_id",
        "question",
        "expected_block",
        "expected_blocks",
        "match",
        "expected_answer",
        "metadata",
        "note",
        "snapshot",
    }
)
METADATA = frozenset(
    {
        "domain",
        "difficulty",
        "source",
        "author",
        "added_by",
        "added_at",
        "reviewed_by",
        "resolution",
        "machine_written",
        "split",
    }
)
MACHINE = frozenset({"by", "adopted_by"})
SNAPSHOT = frozenset({"corpus", "digest"})


def entry_of(source: TableFile, record: TripleRecord) -> Entry:
    """The entry of a record. Raises InputError for the first invalid field."""
    part = EntryFields(source, record, record.values)
    part.only(ENTRY)
    metadata = part.inside_or_empty("metadata")
    metadata.only(METADATA)
    machine = _machine(metadata)
    snapshot = part.inside_or_empty("snapshot")
    snapshot.only(SNAPSHOT)
    return Entry(
        question=part.text("question", required=True, limit=LONGEST_QUESTION).strip(),
        expected_answer=part.text("expected_answer", required=True, limit=LONGEST_ANSWER).strip(),
        blocks=blocks_of(part),
        match=_match(part),
        id="" if part.values.get("id") is None else part.outside_id("id"),
        query_id="" if part.values.get("query_id") is None else part.outside_id("query_id"),
        domain=metadata.word("domain", limit=LONGEST_DOMAIN),
        difficulty=metadata.word("difficulty"),
        source=metadata.word("source"),
        added_by=_author(metadata),
        added_at=metadata.word("added_at"),
        reviewed_by=_reviewers(metadata),
        resolution=metadata.word("resolution"),
        is_machine_written=machine is not None,
        machine=machine.word("by") if machine else "",
        adopted_by=machine.word("adopted_by") if machine else "",
        split=None if metadata.values.get("split") is None else metadata.word("split"),
        note=part.text("note", limit=LONGEST_ANSWER),
        corpus=snapshot.word("corpus"),
        snapshot=snapshot.word("digest"),
    )


def _author(metadata: EntryFields) -> str:
    """Who wrote it; our own files say `added_by`, others `author`."""
    own, other = metadata.word("added_by"), metadata.word("author")
    if own and other and own != other:
        raise metadata.wrong("author", f"is another than added_by, {own}; leave one of them out")
    return own or other


def _match(part: EntryFields) -> str:
    word = part.word("match") or ANY
    if word not in (ANY, ALL):
        raise part.wrong("match", "is any, when each block alone answers, or all, when every one is needed")
    return word


def _machine(metadata: EntryFields) -> EntryFields | None:
    value = metadata.values.get("machine_written")
    if value is None or value is False:
        return None
    if value is True:
        return EntryFields(metadata.source, metadata.record, {})
    if not isinstance(value, dict):
        raise metadata.wrong("machine_written", "is true, false, or an object with by: what wrote it")
    inside = metadata.inside("machine_written")
    inside.only(MACHINE)
    return inside


def _reviewers(metadata: EntryFields) -> tuple[str, ...]:
    names = metadata.words("reviewed_by")
    if len(names) > MOST_REVIEWERS or any(len(name) > LONGEST_WORD for name in names):
        raise metadata.wrong("reviewed_by", f"has at most {MOST_REVIEWERS} names of {LONGEST_WORD} characters")
    return tuple(names)
