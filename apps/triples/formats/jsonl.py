"""JSON Lines: one entry a line, fields in their order, texts exactly as they are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from apps.common.inputs import ErrorList
from apps.common.tabular import Source, read_jsonl
from apps.triples.formats.entry import Record


def read(source: Source, errors: ErrorList) -> Iterator[Record]:
    for line, values in read_jsonl(source, errors):
        yield Record(line, values)


def line(values: dict[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(", ", ": ")).encode() + b"\n"


def write(entries: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    for values in entries:
        yield line(values)
