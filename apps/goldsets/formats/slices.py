"""The slices of a version as one JSON file: which questions each has, by id of the query and labels of the triples.

It goes along with an export when it is asked for. It is no part of the version, which was fixed before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from apps.goldsets.formats.content import Content, SliceRow

SLICES = "slices.json"
ROTATING = "rotating"


class BadSlices(ValueError):
    """The file is not what is written here; the message is a sentence."""


def files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The file, where there are slices."""
    rows = list(content.slices())
    if rows:
        yield SLICES, iter([_bytes(rows)])


def _bytes(rows: list[SliceRow]) -> bytes:
    values = [
        {
            "name": row.name,
            "kind": row.kind,
            "as_of": row.as_of,
            "questions": [{"query_id": query or None, "triples": list(triples)} for query, triples in row.questions],
        }
        for row in rows
    ]
    return json.dumps({"slices": values}, ensure_ascii=False, indent=1).encode() + b"\n"


def read_slices(text: str) -> list[SliceRow]:
    """The slices of a file. Raises BadSlices."""
    try:
        return [_row(one) for one in json.loads(text)["slices"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadSlices(f"{SLICES} is not a list of slices as Karat writes it.") from None


def _row(values: dict[str, Any]) -> SliceRow:
    questions = tuple((str(one["query_id"] or ""), tuple(map(str, one["triples"]))) for one in values["questions"])
    return SliceRow(str(values["name"]), str(values["kind"]), questions, str(values.get("as_of") or ""))


def slice_called(rows: list[SliceRow], name: str) -> SliceRow | None:
    """A slice by its name or kind; of the rotating ones the newest."""
    named = [row for row in rows if name in (row.name, row.kind)]
    return max(named, key=lambda row: row.name, default=None)
