"""A file of entries as a test reads it."""

import io
import json

from apps.common.files.faults import ErrorList, as_row
from apps.common.files.tabular import Caps, TableFile
from apps.triples.formats import read_entries
from tests.triples.formats.entries import PUBLISHED


def read(data: bytes | str, format: str = "jsonl", **caps):
    """The entries of a file, and its mistakes as (line, field, message)."""
    data = data.encode() if isinstance(data, str) else data
    errors = ErrorList()
    rows = list(read_entries(TableFile("file", io.BytesIO(data), Caps(**caps)), errors, format=format))
    rows_of = [as_row(error) for error in errors]
    return [row.entry for row in rows], [(row["line"], row["field"], row["message"]) for row in rows_of]


def one(**fields) -> str:
    return json.dumps(PUBLISHED | fields)
