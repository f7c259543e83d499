"""One entry of a gold set: a triple of a file, in plain values.

The fields of a published entry are `question`, `expected_block`, `expected_answer` and `metadata`. Karat adds fields of
its own; each may be left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from apps.common.digests import digest_of

ANY, ALL = "any", "all"


class Evidence(NamedTuple):
    """A passage of a block; with `start` and `end`, code points into the block's text, its place in it too."""

    text: str
    start: int | None = None
    end: int | None = None


class EntryBlock(NamedTuple):
    """An expected block. `document_id` is "" and `pages` None where the file does not give them."""

    block_id: str
    document_id: str = ""
    pages: tuple[int, int] | None = None
    evidence: tuple[Evidence, ...] = ()


class Entry(NamedTuple):
    """The values of one triple in a file. `machine` names what wrote it, where the file names it."""

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


class TripleRecord(NamedTuple):
    """An entry's raw values, with the lines of its fields by path where the format has them."""

    line: int
    values: dict[str, Any]
    lines: Mapping[str, int] = {}


def wording_digest(question: str, answer: str, match: str, blocks: Iterable[tuple[str, Iterable[str]]]) -> str:
    """SHA-256 of what is reviewed: question, answer, and each block by its id with the passages marked in it."""
    return digest_of([question, answer, match, [[block_id, list(passages)] for block_id, passages in blocks]])
