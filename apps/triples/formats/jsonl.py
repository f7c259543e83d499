"""JSON Lines: one entry per line, fields in their order, texts exactly as they are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile, read_jsonl
from apps.triples.formats.entry import TripleRecord

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
"""Made once: an export writes a million lines."""


def read(source: TableFile, errors: ErrorList) -> Iterator[TripleRecord]:
    """The entries of a file in its order; a line that is no object is added to `errors`, and reading continues."""
    for line, values in read_jsonl(source, errors):
        yield TripleRecord(line, values)


def line(values: dict[str, Any]) -> bytes:
    """One entry as a line with its end, in UTF-8. Raises ValueError for NaN and infinity, which are not JSON."""
    return _ENCODER.encode(values).encode() + b"\n"


def write(entries: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    for values in entries:
        yield line(values)
