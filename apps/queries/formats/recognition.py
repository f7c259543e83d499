"""Which format a file of queries has, from its first lines."""

import csv
import json
import re

from apps.common.files.anytable import ONE_COLUMN, is_packed_table, separator_of
from apps.common.files.parquet import is_parquet, parquet_names
from apps.common.files.tabular import TableFile
from apps.corpus.core.import_plans import plain_heading
from apps.queries.core.table_roles import ID_HEADINGS, TEXT_HEADINGS
from apps.queries.formats.records import HUB_ID, KNOWN, METADATA, SPLIT

AUTO, TABLE, LINES, PARQUET = "auto", "table", "lines", "parquet"
HEAD_BYTES = 16_384


def recognise(source: TableFile, *, is_pasted: bool = False) -> str:
    """The format: JSON lines, topics, SMART, CSV with Karat's own columns, a list of lines, else a table.

    The source is at its beginning, before and after.
    """
    head = source.head(HEAD_BYTES)
    if is_parquet(head):
        names = {"query_id" if name == HUB_ID else name for name in parquet_names(source)}
        return PARQUET if {"query_id", "text"} <= names <= {*KNOWN, SPLIT} else TABLE
    if is_packed_table(source):
        return TABLE
    text = head.decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip()
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return LINES if is_pasted else TABLE
    if text.startswith("{"):
        return _json_format(lines[0])
    if re.match(r"<top>", text, re.IGNORECASE):
        return "trec"
    if re.match(r"\.I\s", text):
        return "smart"
    names = {name.strip() for name in next(csv.reader([lines[0]]), [])}
    if {"query_id", "text"} <= names and all(name in KNOWN or name.startswith(METADATA) for name in names):
        return "csv"
    return LINES if _is_list(lines, is_pasted=is_pasted) else TABLE


def _is_list(lines: list[str], *, is_pasted: bool) -> bool:
    """Whether each line is a query: pasted lines with at most an id before it, or one column without a heading."""
    first = [plain_heading(cell) for cell in lines[0].split("\t")]
    if set(first) & {*TEXT_HEADINGS, *ID_HEADINGS}:
        return False
    if is_pasted and all(map(_is_query, lines)):
        return True
    separator, _ = separator_of("\n".join(lines))
    return separator == ONE_COLUMN


def _is_query(line: str) -> bool:
    """Whether a line is a query, or an id, a tab and a query."""
    query_id, tab, rest = line.strip().partition("\t")
    return not tab or not ("\t" in rest or " " in query_id.strip())


def _json_format(line: str) -> str:
    try:
        return "beir" if "_id" in json.loads(line) else "jsonl"
    except ValueError:
        return "jsonl"
