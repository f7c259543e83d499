"""One entry of a gold set as files hold it: read from plain values, checked field by field, and written as them.

The fields of a published entry are `question`, `expected_block`, `expected_answer` and `metadata`. What Karat knows
beyond them has fields of its own; each may be left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from apps.common.digests import digest_of
from apps.common.fields import Fields
from apps.common.tabular import Source

ANY, ALL = "any", "all"
MOST_BLOCKS = 20
MOST_EVIDENCE = 40
MOST_REVIEWERS = 20
LONGEST_QUESTION = 2_000
LONGEST_ANSWER = 8_000
LONGEST_EVIDENCE = 20_000
LONGEST_WORD = 200
LONGEST_DOMAIN = 80

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
BLOCK = frozenset({"block_id", "document_id", "page_range", "evidence"})
EVIDENCE = frozenset({"text", "start", "end"})
METADATA = frozenset(
    {
        "domain",
        "difficulty",
        "source",
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
_PAGES = re.compile(r"\s*([0-9]{1,9})\s*(?:[-–]\s*([0-9]{1,9})\s*)?\Z")


class Evidence(NamedTuple):
    """A passage of a block; with `start` and `end`, code points into the block's text, its place in it too."""

    text: str
    start: int | None = None
    end: int | None = None


class EntryBlock(NamedTuple):
    """An expected block. `document_id` is "" and `pages` None where the file says nothing of them."""

    block_id: str
    document_id: str = ""
    pages: tuple[int, int] | None = None
    evidence: tuple[Evidence, ...] = ()


class Entry(NamedTuple):
    """What a file says of one triple. `machine` names what wrote it, where the file says so."""

    question: str
    expected_answer: str
    blocks: tuple[EntryBlock, ...]
    match: str = ANY
    id: str = ""
    query_id: str = ""
    domain: str = ""
    difficulty: str = ""
    source: str = ""
    added_by: str = ""
    added_at: str = ""
    reviewed_by: tuple[str, ...] = ()
    resolution: str = ""
    is_machine_written: bool = False
    machine: str = ""
    adopted_by: str = ""
    split: str | None = None
    note: str = ""
    corpus: str = ""
    snapshot: str = ""


class Record(NamedTuple):
    """An entry's values as a file gives them, with the lines of its fields by path where the form can tell."""

    line: int
    values: dict[str, Any]
    lines: Mapping[str, int] = {}


class Part(Fields):
    """The fields of an entry, or of an object inside of it. Faults name the whole path and the field's own line."""

    def __init__(self, source: Source, record: Record, values: dict[str, Any], prefix: str = "") -> None:
        super().__init__(source, record.line, values)
        self.record = record
        self.prefix = prefix

    def wrong(self, field: str, message: str) -> Exception:
        path = f"{self.prefix}{field}"
        return self.source.error(self.line_of(path), path, self.values.get(field), message)

    def line_of(self, path: str) -> int:
        return self.record.lines.get(path, self.line)

    def only(self, known: frozenset[str]) -> None:
        for field in self.values:
            if field not in known:
                raise self.wrong(field, f"unknown field; known are {', '.join(sorted(known))}")

    def inside(self, field: str, value: object = None, place: str = "") -> Part:
        """The object in `field`, or one of the list in it."""
        value = self.values.get(field) if value is None else value
        if not isinstance(value, dict):
            raise self.wrong(field, "must be an object with fields of its own")
        return Part(self.source, self.record, value, f"{self.prefix}{field}{place}.")

    def several(self, field: str, most: int) -> list[Any]:
        value = self.values.get(field)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(field, "must be a list")
        if len(value) > most:
            raise self.wrong(field, f"holds more than {most}")
        return value


def entry_of(source: Source, record: Record) -> Entry:
    """The entry of a record. Raises InputError for the first field that is not as it should be."""
    part = Part(source, record, record.values)
    part.only(ENTRY)
    metadata = Part(source, record, {}) if part.values.get("metadata") is None else part.inside("metadata")
    metadata.only(METADATA)
    machine = _machine(metadata)
    snapshot = Part(source, record, {}) if part.values.get("snapshot") is None else part.inside("snapshot")
    snapshot.only(SNAPSHOT)
    return Entry(
        question=part.text("question", required=True, limit=LONGEST_QUESTION).strip(),
        expected_answer=part.text("expected_answer", required=True, limit=LONGEST_ANSWER).strip(),
        blocks=_blocks(part),
        match=_match(part),
        id="" if part.values.get("id") is None else part.outside_id("id"),
        query_id="" if part.values.get("query_id") is None else part.outside_id("query_id"),
        domain=metadata.word("domain", limit=LONGEST_DOMAIN),
        difficulty=metadata.word("difficulty"),
        source=metadata.word("source"),
        added_by=metadata.word("added_by"),
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


def _match(part: Part) -> str:
    word = part.word("match") or ANY
    if word not in (ANY, ALL):
        raise part.wrong("match", "is any, when each block alone answers, or all, when every one is needed")
    return word


def _machine(metadata: Part) -> Part | None:
    value = metadata.values.get("machine_written")
    if value is None or value is False:
        return None
    if value is True:
        return Part(metadata.source, metadata.record, {})
    if not isinstance(value, dict):
        raise metadata.wrong("machine_written", "is true, false, or an object with by: what wrote it")
    inside = metadata.inside("machine_written")
    inside.only(MACHINE)
    return inside


def _reviewers(metadata: Part) -> tuple[str, ...]:
    names = metadata.words("reviewed_by")
    if len(names) > MOST_REVIEWERS or any(len(name) > LONGEST_WORD for name in names):
        raise metadata.wrong("reviewed_by", f"holds at most {MOST_REVIEWERS} names of {LONGEST_WORD} characters")
    return tuple(names)


def _blocks(part: Part) -> tuple[EntryBlock, ...]:
    """All expected blocks; `expected_block` alone, or the first of `expected_blocks` and said twice."""
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


def _both(part: Part, alone: EntryBlock, first: EntryBlock) -> EntryBlock:
    """The block that is said twice; neither place may contradict the other."""
    for name in ("document_id", "pages", "evidence"):
        one, other = getattr(alone, name), getattr(first, name)
        if one and other and one != other:
            raise part.wrong("expected_block", f"says another {name} than the first of expected_blocks")
        first = first._replace(**{name: other or one})
    return first


def _block(part: Part) -> EntryBlock:
    part.only(BLOCK)
    return EntryBlock(
        block_id=part.outside_id("block_id"),
        document_id="" if part.values.get("document_id") is None else part.outside_id("document_id"),
        pages=_pages(part),
        evidence=_evidence(part),
    )


def _pages(part: Part) -> tuple[int, int] | None:
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


def _page(part: Part, value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 9:
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 10**9:
        raise part.wrong("page_range", "a page is a whole number from 0 up")
    return value


def _evidence(part: Part) -> tuple[Evidence, ...]:
    """Passages: a text, texts, or objects that also say where in the block's text they lie."""
    if isinstance(part.values.get("evidence"), str):
        return (_quote(part, part.values["evidence"]),)
    return tuple(
        _quote(part, value) if isinstance(value, str) else _place(part.inside("evidence", value, f"[{place}]"))
        for place, value in enumerate(part.several("evidence", MOST_EVIDENCE), start=1)
    )


def _quote(part: Part, text: str) -> Evidence:
    if not text.strip():
        raise part.wrong("evidence", "a passage is empty")
    if len(text) > LONGEST_EVIDENCE:
        raise part.wrong("evidence", f"a passage is longer than {LONGEST_EVIDENCE:,} characters")
    return Evidence(text)


def _place(part: Part) -> Evidence:
    part.only(EVIDENCE)
    text = part.text("text", required=True, limit=LONGEST_EVIDENCE)
    start, end = part.whole("start"), part.whole("end")
    if (start is None) != (end is None):
        raise part.wrong("start" if start is None else "end", "start and end go together")
    if start is not None and end is not None and end - start != len(text):
        raise part.wrong("end", f"start to end are {end - start} characters, the text has {len(text)}")
    return Evidence(text, start, end)


# Writing -----------------------------------------------------------------------------------------------------------


def as_values(entry: Entry) -> dict[str, Any]:
    """The entry as plain values in the order of its fields: what both written forms hold.

    The first block stands under `expected_block` too. What Karat adds is left out where it says nothing.
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


def wording_digest(question: str, answer: str, match: str, blocks: Iterable[tuple[str, Iterable[str]]]) -> str:
    """SHA-256 of what is reviewed: question, answer, and each block by its id with the passages marked in it."""
    return digest_of([question, answer, match, [[block_id, list(passages)] for block_id, passages in blocks]])
