"""Which format a file of judgements has, from its first lines; and the exports of other tools, each with its reader.

What the form of an export says of a column is known; the rest, above all what its labels mean here, a person chooses
on the page.
"""

import csv
import re
from collections.abc import Callable, Sequence

from apps.common.files.anytable import Table, is_packed_table, open_table
from apps.common.files.parquet import is_parquet, parquet_names
from apps.common.files.tabular import TableFile
from apps.judging.formats.judgements import FLAT_KNOWN, HUB_NAMES, RATINGS, RECORD_KNOWN, RECORD_NEEDED, heading_of
from apps.judging.formats.ratings import BLOCK_NAMES
from apps.judging.formats.tools import argilla, doccano, label_studio, quepid
from apps.judging.formats.tools.rows import is_zip, paths_in

TOOLS = {
    "quepid": "Quepid: a book, a case or its ratings, CSV or JSON",
    "label-studio": "Label Studio: tasks with annotations, JSON or JSON-MIN",
    "doccano": "doccano: labels of texts, its zip, JSONL, JSON or CSV",
    "argilla": "Argilla: a saved dataset as a zip, records.json, Parquet or JSON",
}
READERS = {"quepid": quepid, "label-studio": label_studio, "argilla": argilla, "doccano": doccano}
"""The module of each tool. Of JSON, the first whose form a file has: what doccano exports says least."""
TOOL_HEAD_BYTES = 256 * 1024
"""A case of Quepid begins with the code of its scorer."""


def opener_of(format: str) -> Callable[..., Table]:
    """What opens a file of this format as a table: the reader of a tool, or that of any table."""
    reader = READERS.get(format)
    return open_table if reader is None else lambda source, errors, **options: reader.open_export(source, errors)


def tool_of(source: TableFile) -> str:
    """By the fields of JSON, or the paths of a zip. The source is at its beginning, before and after."""
    if is_zip(source):
        return "argilla" if argilla.is_folder(paths_in(source)) else "doccano"
    if not source.head(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"[")):
        return ""
    head = source.head(TOOL_HEAD_BYTES).decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip()
    return next((tool for tool, reader in READERS.items() if reader.is_json(head)), "")


def tool_of_columns(names: Sequence[str]) -> str:
    """By the columns of Parquet."""
    return "argilla" if argilla.is_dataset(list(names)) else ""


def tool_of_headings(headings: Sequence[str]) -> str:
    """By the headings of CSV."""
    return "quepid" if quepid.is_book(headings) else ""


AUTO, TABLE = "auto", "table"
HEAD_BYTES = 16_384
_QRELS = re.compile(r"\S+[ \t]+\S+[ \t]+\S+[ \t]+[+-]?[0-9]{1,4}(?:[.,]0*)?[ \t]*\Z")


def recognise(source: TableFile) -> str:
    """The format: qrels, tables with Karat's own columns, and exports of tools; anything else is a table.

    The source is at its beginning, before and after.
    """
    head = source.head(HEAD_BYTES)
    if is_parquet(head):
        columns = parquet_names(source)
        names = {HUB_NAMES.get(name, name) for name in columns}
        own = "parquet" if set(RECORD_NEEDED) <= names <= set(RECORD_KNOWN) else ""
        return own or tool_of_columns(columns) or TABLE
    if is_packed_table(source):
        return TABLE
    if tool := tool_of(source):
        return tool
    lines = [
        line for line in head.decode("utf-8", errors="replace").removeprefix("\ufeff").splitlines() if line.strip()
    ]
    lines = lines[:-1] if len(head) == HEAD_BYTES else lines
    shown = [line for line in lines if not line.startswith("#")][:50]
    if shown and (all(map(_QRELS.match, shown)) or heading_of(shown[0])):
        return "qrels"
    if lines and lines[0].startswith("{"):
        return "jsonl"
    return _by_headings(lines[0]) if lines else TABLE


def names_in(line: str) -> list[str]:
    return [name.strip() for name in next(csv.reader([line]), [])]


def _by_headings(line: str) -> str:
    names = set(names_in(line))
    has_block = len(names & set(BLOCK_NAMES)) == 1
    if has_block and {"query_id", "annotator", "grade"} <= names:
        return RATINGS
    if has_block and {"query_id", "grade"} <= names <= set(FLAT_KNOWN):
        return "csv"
    return tool_of_headings(names_in(line)) or TABLE
