"""Entries parsed from the values of a file, field by field."""

from __future__ import annotations

from apps.common.files.tabular import TableFile
from apps.triples.formats.blocks import blocks_of
from apps.triples.formats.entry import ALL, ANY, Entry, TripleRecord
from apps.triples.formats.part import EntryFields

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
