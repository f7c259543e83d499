"""Triples as files: entries of a gold set in JSON Lines and YAML. No Django in here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.triples.formats import rag, yaml
from apps.triples.formats.entry import Entry, TripleRecord, as_line, as_values
from apps.triples.formats.rag import Contexts
from apps.triples.formats.reading import entry_of, read_lines, read_rows

FORMATS = {
    "jsonl": "JSONL, one entry a line",
    "yaml": "YAML, a list of entries",
    "parquet": "Parquet, as a version has it",
    "rag": "RAG evaluation: ragas, DeepEval, LlamaIndex, SQuAD; JSON, JSONL or a table, contexts by id or text",
}
RAG = "rag"
_READERS: dict[str, Callable[[TableFile, ErrorList], Iterator[TripleRecord]]] = {
    "jsonl": read_lines,
    "yaml": yaml.read,
    "parquet": read_rows,
}
_WRITERS: dict[str, Callable[[Iterable[dict[str, Any]]], Iterator[bytes]]] = {
    "jsonl": lambda entries: map(as_line, entries),
    "yaml": yaml.write,
}
WRITTEN = tuple(_WRITERS)
"""The formats that entries are written in here; the others are forms of a whole version."""


class EntryRecord(NamedTuple):
    """An entry and the record it was read from, which has the lines."""

    record: TripleRecord
    entry: Entry


def read_entries(
    source: TableFile, errors: ErrorList, *, format: str, contexts: Contexts | None = None
) -> Iterator[EntryRecord]:
    """The entries of a file in its order, streamed; faults are added to `errors`, and reading continues.

    `contexts` has the passages of texts, for RAG evaluation files.
    """
    records = rag.read(source, errors, contexts) if format == RAG else _READERS[format](source, errors)
    for record in records:
        try:
            entry = entry_of(source, record)
        except InputError as error:
            errors.add(error)
            continue
        yield EntryRecord(record, entry)


def write_entries(entries: Iterable[Entry], *, format: str) -> Iterator[bytes]:
    """The bytes of a file, in chunks; the same entries give the same bytes."""
    return _WRITERS[format](as_values(entry) for entry in entries)
